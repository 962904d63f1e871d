//! Streams of the old transport on their way through.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use proptest::sample::select;
use thv_mcp::sse::{BadEndpoint, Endpoint, EndpointRewriter, Forwarded, session_of};

const FORWARDED: [(&str, &str); 3] = [
    ("x-forwarded-host", "mcp.example:8443"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-prefix", "/tools"),
];

fn forwarded(pairs: &[(&'static str, &'static str)]) -> Forwarded {
    let headers =
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    Forwarded::trusted(&headers.collect::<HeaderMap>())
}

/// All that comes out for pieces of a stream.
fn through(
    mut rewriter: EndpointRewriter,
    pieces: &[&[u8]],
) -> Result<(Vec<u8>, Option<Endpoint>), BadEndpoint> {
    let (mut out, mut found) = (Vec::new(), None);
    for piece in pieces {
        let rewritten = rewriter.feed(Bytes::copy_from_slice(piece))?;
        out.extend_from_slice(&rewritten.head);
        out.extend_from_slice(&rewritten.tail);
        assert!(found.is_none() || rewritten.endpoint.is_none());
        found = found.or(rewritten.endpoint);
    }
    out.extend_from_slice(&rewriter.finish());
    Ok((out, found))
}

fn plain() -> EndpointRewriter {
    EndpointRewriter::new("/sse", "", Forwarded::default())
}

fn url(endpoint: &str, prefix: &str, forwarded: Forwarded) -> String {
    let stream = format!("event: endpoint\ndata: {endpoint}\n\n");
    let (out, found) =
        through(EndpointRewriter::new("/sse", prefix, forwarded), &[stream.as_bytes()]).unwrap();
    let found = found.unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), format!("event: endpoint\ndata: {}\n\n", found.url));
    found.url.into()
}

#[test]
fn the_endpoint_is_where_clients_can_reach_it() {
    let none = Forwarded::default;
    assert_eq!(url("/messages?sessionId=1", "", none()), "/messages?sessionId=1");
    assert_eq!(url("http://backend:8080/messages?sessionId=1", "", none()), "/messages?sessionId=1");
    assert_eq!(url("/messages?sessionId=1", "/tools/", none()), "/tools/messages?sessionId=1");
    assert_eq!(url("messages", "tools", none()), "/tools/messages");
    let all = || forwarded(&FORWARDED);
    assert_eq!(url("/messages?a", "", all()), "https://mcp.example:8443/tools/messages?a");
    assert_eq!(url("http://backend/messages?a", "/own", all()), "https://mcp.example:8443/own/messages?a");
    assert_eq!(url("/messages", "", forwarded(&FORWARDED[..1])), "//mcp.example:8443/messages");
    assert_eq!(url("http://backend/messages", "", forwarded(&FORWARDED[1..2])), "/messages");
    assert_eq!(url("http://backend/messages", "", forwarded(&FORWARDED[2..])), "/tools/messages");
}

#[test]
fn the_session_is_the_one_that_posts_will_name() {
    let session = |endpoint: &str| {
        let stream = format!("event: endpoint\ndata: {endpoint}\n\n");
        let rewriter = EndpointRewriter::new("/sse", "/prefix", Forwarded::default());
        through(rewriter, &[stream.as_bytes()]).unwrap().1.unwrap().session
    };
    assert_eq!(session("/messages?sessionId=abc"), session_of("/messages?sessionId=abc").unwrap());
    assert_eq!(session("http://backend/messages/?session_id=abc"), "abc".into());
    assert_eq!(session("/messages/abc?x=1"), session_of("/messages/abc?x=1").unwrap());
    assert_eq!(session("messages/abc"), session_of("/messages/abc").unwrap());
}

#[test]
fn only_the_first_endpoint_event_is_touched_and_only_its_data() {
    let stream = "\u{feff}: hi\r\n\r\nevent: other\rdata: /x\r\r\n\
                  id: 7\ndata:http://b\nretry: 1\nevent:endpoint\nfoo\n\nevent: endpoint\ndata: http://c/\n\n";
    let (out, found) = through(plain(), &[stream.as_bytes()]).unwrap();
    let out = String::from_utf8(out).unwrap();
    let expected = stream.replace("data:http://b\n", "data: /\n");
    assert_eq!(out, expected);
    assert_eq!(found.unwrap().url, "/".into());
    let untouched = "event: endpoint\n\nevent: endpointer\ndata: http://x/\n\ndata: http://x/\n\nevent: endpoint\nevent: message\ndata: http://x/\n\n";
    assert_eq!(through(plain(), &[untouched.as_bytes()]).unwrap(), (untouched.into(), None));
}

#[test]
fn an_endpoint_that_leads_elsewhere_ends_the_stream() {
    for endpoint in ["javascript:x", "/a b", "http://b//evil.example/", "/m?sessionId=1&session_id=2", ""] {
        let stream = format!("event: endpoint\ndata: {endpoint}\n\n");
        assert_eq!(through(plain(), &[stream.as_bytes()]), Err(BadEndpoint), "{endpoint}");
    }
    for two in ["event: endpoint\ndata: /a\ndata: b\n\n", "data: /a\nevent: endpoint\rdata\n\n"] {
        assert_eq!(through(plain(), &[two.as_bytes()]), Err(BadEndpoint), "{two:?}");
    }
    assert_eq!(through(plain(), &[b"event: endpoint\ndata: /\xff\n\n"]), Err(BadEndpoint));
}

#[test]
fn a_long_event_passes_without_being_held_back_and_a_long_endpoint_does_not() {
    let line = format!("data: {}\n", "x".repeat(1 << 16));
    let mut rewriter = plain();
    let mut out = 0;
    for _ in 0..20 {
        let rewritten = rewriter.feed(Bytes::from(line.clone())).unwrap();
        out += rewritten.head.len() + rewritten.tail.len();
    }
    assert_eq!(out, 20 * line.len(), "nothing is held back");
    let rewritten =
        rewriter.feed(Bytes::from_static(b"\nevent: endpoint\ndata: http://b/m\n\nrest")).unwrap();
    assert_eq!(rewritten.head, "\nevent: endpoint\ndata: /m\n\n");
    assert_eq!(rewritten.tail, "rest");
    let endless = format!("event: endpoint\n{line}");
    assert_eq!(through(plain(), &[endless.as_bytes()]), Err(BadEndpoint));
}

/// The events of a stream as a client sees them, read all at once.
fn events(stream: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut kind, mut data) = (String::new(), Vec::<String>::new());
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            _ if line.is_empty() => {
                let (kind, data) = (std::mem::take(&mut kind), std::mem::take(&mut data));
                if !data.is_empty() {
                    events.push((kind, data.join("\n")));
                }
            }
            "event" => kind = value,
            "data" => data.push(value),
            _ => {}
        }
    }
    events
}

fn stream() -> impl Strategy<Value = String> {
    let lines = vec![
        "event: endpoint",
        "event:endpoint",
        "event: message",
        "event",
        "data: http://backend/m?sessionId=1",
        "data: /m",
        "data:",
        "data",
        ": comment",
        "id: 1",
        "retry: 5",
        "nonsense",
        "",
        "",
        "",
    ];
    let line = (select(lines), select(vec!["\n", "\n", "\r\n", "\r"]))
        .prop_map(|(line, end)| format!("{line}{end}"));
    (any::<bool>(), prop::collection::vec(line, 0..20))
        .prop_map(|(mark, lines)| if mark { "\u{feff}".to_owned() } else { String::new() } + &lines.concat())
}

proptest! {
    #[test]
    fn a_stream_comes_out_the_same_wherever_it_is_cut(stream in stream()) {
        let bytes = stream.as_bytes();
        let whole = through(plain(), &[bytes]);
        for cut in 0..=bytes.len() {
            let (one, two) = bytes.split_at(cut);
            prop_assert_eq!(&through(plain(), &[one, two]), &whole, "{}", cut);
        }
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&through(plain(), &pieces), &whole);
    }

    #[test]
    fn clients_see_the_same_events_but_for_the_url(stream in stream()) {
        let mut expected = events(stream.as_bytes());
        let first = expected.iter_mut().find(|(kind, _)| kind == "endpoint");
        let Ok((out, found)) = through(plain(), &[stream.as_bytes()]) else {
            let (_, data) = first.unwrap();
            prop_assert!(data.contains('\n') || data.is_empty(), "{:?}", data);
            return Ok(());
        };
        prop_assert_eq!(first.is_some(), found.is_some());
        if let (Some(first), Some(found)) = (first, found) {
            first.1 = found.url.into();
        } else {
            prop_assert_eq!(&out, stream.as_bytes());
        }
        prop_assert_eq!(events(&out), expected);
    }

    #[test]
    fn no_bytes_make_a_stream_fall_over(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6),
        endpoint in "(http:|//|/|\\.|\\?|%2e|[a-z]){0,8}",
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let _ = through(plain(), &pieces);
        let stream = format!("event: endpoint\ndata: {endpoint}\n\n");
        if let Ok((_, Some(found))) = through(plain(), &[stream.as_bytes()]) {
            prop_assert!(found.url.starts_with('/') && !found.url.starts_with("//"), "{}", found.url);
        }
        let _ = session_of(&endpoint);
        let _ = session_of(&String::from_utf8_lossy(&pieces.concat()));
    }
}
