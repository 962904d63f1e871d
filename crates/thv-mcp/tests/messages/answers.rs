//! Reading what a server answers to `initialize`.

use proptest::prelude::*;
use thv_mcp::headers::Media;
use thv_mcp::initialize::{ANSWER_LIMIT, Answer, AnswerReader, INITIALIZED, Unusable, requested_version};
use thv_mcp::{Message, Method, decode};

const JSON: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;

fn read(media: Media, pieces: &[&[u8]]) -> Result<Answer, Unusable> {
    let mut reader = AnswerReader::new(media)?;
    for piece in pieces {
        if let Some(answer) = reader.feed(piece)? {
            return Ok(answer);
        }
    }
    reader.finish()
}

fn version(answer: Result<Answer, Unusable>) -> Result<String, Unusable> {
    answer.map(|answer| answer.protocol_version.to_string())
}

#[test]
fn an_answer_is_read_from_json() {
    assert_eq!(version(read(Media::Json, &[JSON.as_bytes()])).unwrap(), "2025-06-18");
    let refusal = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    assert_eq!(read(Media::Json, &[refusal]), Err(Unusable::Refused));
    for body in
        ["", "{", "{}", r#"{"result":{}}"#, r#"{"method":"ping"}"#, r#"{"result":{"protocolVersion":5}}"#]
    {
        assert_eq!(read(Media::Json, &[body.as_bytes()]), Err(Unusable::NotAnAnswer), "{body}");
    }
    assert_eq!(read(Media::Other, &[]), Err(Unusable::Media));
}

#[test]
fn an_answer_is_read_from_a_stream_cut_anywhere_and_with_other_events_before_it() {
    for end in ["\n", "\r\n", "\r"] {
        let (first, second) = JSON.split_at(JSON.find(r#""result""#).unwrap());
        let stream = format!(
            "\u{feff}id: 0\ndata:\n\n: hi\n\nevent: message\ndata: {{\"method\":\"notifications/message\"}}\n\n\
             event: message\nid: 1\ndata: {first}\ndata: {second}\n\n"
        );
        let stream = stream.replace('\n', end);
        for cut in 0..=stream.len() {
            let (one, two) = stream.as_bytes().split_at(cut);
            assert_eq!(
                version(read(Media::EventStream, &[one, two])).unwrap(),
                "2025-06-18",
                "{end:?} {cut}"
            );
        }
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(version(read(Media::EventStream, &pieces)).unwrap(), "2025-06-18");
        let unfinished = stream.strip_suffix(&format!("{end}{end}")).unwrap();
        assert_eq!(read(Media::EventStream, &[unfinished.as_bytes()]), Err(Unusable::NotAnAnswer));
    }
}

#[test]
fn an_endless_answer_is_given_up() {
    for media in [Media::Json, Media::EventStream] {
        let mut reader = AnswerReader::new(media).unwrap();
        let line = [b'x'; 1024];
        let given_up = (0..=ANSWER_LIMIT / 1024).find_map(|_| reader.feed(&line).err());
        assert_eq!(given_up, Some(Unusable::TooLong));
    }
}

#[test]
fn the_version_that_a_client_asked_for_is_found_again() {
    let body = br#"{"params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    assert_eq!(requested_version(body).unwrap().as_str(), "2025-11-25");
    assert_eq!(requested_version(b"{}"), None);
    assert_eq!(requested_version(b"nonsense"), None);
    let initialized = decode(INITIALIZED).unwrap();
    assert!(matches!(initialized, Message::Notification(call) if call.method == Method::Initialized));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_fall_over(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..8)) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        for media in [Media::Json, Media::EventStream] {
            let _ = read(media, &pieces);
        }
        let _ = requested_version(&pieces.concat());
        let _ = thv_mcp::error_code(&pieces.concat());
    }
}
