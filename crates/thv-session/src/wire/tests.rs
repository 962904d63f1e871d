//! What is written, what is read, and what is neither.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const ID_TEXT: &str = "0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1";

/// As Go writes it: `<`, `>` and `&` escaped, nanoseconds without trailing zeros, an offset.
const FROM_GO: &str = concat!(
    r#"{"id":"0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1","type":"mcp","created_at":"2026-08-21T14:03:01.12345+02:00","#,
    r#""updated_at":"2026-08-21T12:03:01.123456789Z","data":{"n":12345678901234567890123,"f":1.50},"#,
    r#""metadata":{"backend_sid":"b","backend_url":"http://10.0.0.7:8080","init_body":"{\"a\":\"\u003c\u0026\"}","#,
    r#""vmcp.identity.binding":"x"}}"#
);

fn key() -> Key {
    Key::of(ID_TEXT)
}

fn example() -> Record {
    let metadata = Metadata {
        backend_url: Some("http://mcp-web:8080".to_owned()),
        init_body: Some(r#"{"method":"initialize"}"#.to_owned()),
        owner: Some(Owner::of("i", "s")),
        pod: Some("0/uid/containerd://1".to_owned()),
        ..Metadata::default()
    };
    let mut record = Record::new(key(), Kind::Mcp, "2026-08-21T12:03:01.5Z".parse().unwrap(), metadata);
    record.updated_at = "2026-08-21T12:03:02.000000001Z".parse().unwrap();
    record
}

fn decode(text: &str) -> Result<Record, Malformed> {
    Record::decode(key(), text.as_bytes())
}

#[test]
fn a_record_is_laid_out_as_toolhive_lays_it_out() {
    let owner = Owner::of("i", "s");
    let expected = format!(
        r#"{{"id":"{ID_TEXT}","type":"mcp","created_at":"2026-08-21T12:03:01.5Z","updated_at":"2026-08-21T12:03:02.000000001Z","metadata":{{"backend_url":"http://mcp-web:8080","init_body":"{{\"method\":\"initialize\"}}","thv_owner":"{owner}","thv_pod":"0/uid/containerd://1"}}}}"#
    );
    assert_eq!(String::from_utf8(example().encode().unwrap()).unwrap(), expected);
}

#[test]
fn without_metadata_there_is_no_member_for_them() {
    let record = Record::new(key(), Kind::Streamable, Timestamp::UNIX_EPOCH, Metadata::default());
    let expected = format!(
        r#"{{"id":"{ID_TEXT}","type":"streamable","created_at":"1970-01-01T00:00:00Z","updated_at":"1970-01-01T00:00:00Z"}}"#
    );
    assert_eq!(String::from_utf8(record.encode().unwrap()).unwrap(), expected);
}

#[test]
fn what_go_wrote_is_understood_and_remembered_to_the_byte() {
    let record = decode(FROM_GO).unwrap();
    assert_eq!(record.created_at, "2026-08-21T12:03:01.12345Z".parse().unwrap());
    assert_eq!(record.metadata.init_body.as_deref(), Some(r#"{"a":"<&"}"#));
    assert_eq!(record.metadata.rest.get("vmcp.identity.binding").map(String::as_str), Some("x"));
    assert_eq!(record.as_stored().unwrap(), FROM_GO.as_bytes());
}

#[test]
fn what_we_wrote_is_not_kept_twice() {
    let bytes = example().encode().unwrap();
    let record = Record::decode(key(), &bytes).unwrap();
    assert_eq!((record.unknown.stored.is_none(), record.as_stored().unwrap()), (true, bytes));
}

#[test]
fn what_we_do_not_know_survives_a_change() {
    let text = FROM_GO.replacen('{', r#"{"later":[1e400,  {"x":null}],"#, 1);
    let seen = decode(&text).unwrap();
    let mut new = seen.clone();
    new.unknown = seen.unknown.carried_over();
    new.metadata.backend_sid = Some("c".to_owned());
    let written = String::from_utf8(new.encode().unwrap()).unwrap();
    assert!(written.contains(r#""later":[1e400,  {"x":null}]"#), "{written}");
    assert!(written.contains(r#""data":{"n":12345678901234567890123,"f":1.50}"#), "{written}");
    assert!(written.contains(r#""backend_sid":"c""#), "{written}");
    assert!(written.contains(r#""vmcp.identity.binding":"x""#), "{written}");
}

#[test]
fn what_is_empty_for_go_is_empty_for_us() {
    let bare = format!(
        r#"{{"id":"{ID_TEXT}","type":"sse","created_at":"0001-01-01T00:00:00Z","updated_at":"0001-01-01T00:00:00Z""#
    );
    for end in ["}", r#","metadata":null}"#, r#","metadata":{}}"#] {
        assert_eq!(decode(&format!("{bare}{end}")).unwrap().metadata, Metadata::default(), "{end}");
    }
}

#[test]
fn what_is_no_record_of_this_session_is_malformed_and_not_quoted() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::from_str(FROM_GO).unwrap();
        change(&mut value);
        value.to_string()
    };
    let malformed = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "\"tell-nobody\"".to_owned(),
        format!("{FROM_GO} tell-nobody"),
        FROM_GO[..FROM_GO.len() - 1].to_owned(),
        FROM_GO.replacen('{', r#"{"id":"x","#, 1),
        FROM_GO.replacen(r#""metadata":{"#, r#""metadata":{"backend_sid":"x","#, 1),
        FROM_GO.replacen('{', r#"{"later":1,"later":2,"#, 1),
        with(&|value| value["id"] = json!("0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d2")),
        with(&|value| value["type"] = json!("tell-nobody")),
        with(&|value| value["created_at"] = json!("tell-nobody")),
        with(&|value| value["updated_at"] = json!(7)),
        with(&|value| value["metadata"]["n"] = json!(7)),
        with(&|value| value["metadata"]["thv_owner"] = json!("tell-nobody")),
        with(&|value| drop(value.as_object_mut().unwrap().remove("updated_at"))),
    ];
    for text in malformed {
        let error = decode(&text).expect_err(&text);
        assert!(!error.to_string().contains("tell-nobody"), "{error}");
    }
}

prop_compose! {
    fn records()(
        kind in prop::sample::select(vec![Kind::Mcp, Kind::Sse, Kind::Streamable]),
        // The years that RFC 3339 can write.
        created in -62_135_596_800_i64..253_402_207_200,
        nanos in 0..1_000_000_000,
        updated in 0..4_000_000_000_i64,
        backend_url in prop::option::of(".*"),
        backend_sid in prop::option::of(".*"),
        init_body in prop::option::of(".*"),
        owner in prop::option::of((".*", ".*")),
        pod in prop::option::of(".*"),
        rest in prop::collection::btree_map("x.*", ".*", 0..4),
        data in prop::option::of("[0-9]{1,30}"),
        members in prop::collection::btree_map("y.*", "[0-9]{1,30}".prop_map(|n| format!("[1.50, {{\"a\" : \"{n}\"}}]")), 0..3),
        id in "\\PC{0,50}",
    ) -> Record {
        let raw = |text: String| serde_json::value::to_raw_value(&serde_json::from_str::<&RawValue>(&text).unwrap()).unwrap();
        let data = data.map(|digits| format!("\"{digits}\""));
        let unknown = Unknown {
            data: data.map(raw),
            members: members.into_iter().map(|(name, text)| (name, raw(text))).collect(),
            stored: None,
        };
        let owner = owner.map(|(issuer, subject): (String, String)| Owner::of(&issuer, &subject));
        let metadata = Metadata { backend_url, backend_sid, init_body, owner, pod, rest };
        Record {
            key: Key::of(&id),
            kind,
            created_at: Timestamp::new(created, nanos).unwrap(),
            updated_at: Timestamp::new(updated, nanos).unwrap(),
            metadata,
            unknown,
        }
    }
}

proptest! {
    #[test]
    fn a_record_survives_being_written(record in records()) {
        let bytes = record.encode().unwrap();
        let read = Record::decode(record.key, &bytes).unwrap();
        prop_assert_eq!(&read, &record);
        prop_assert!(read.unknown.stored.is_none());
        // And any other JSON program can read it.
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(&value["id"], record.key.as_str());
    }

    #[test]
    fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Record::decode(key(), &bytes).is_err());
    }

    #[test]
    fn a_damaged_record_is_refused_or_remembered_as_it_is(
        edits in prop::collection::vec((0..FROM_GO.len(), any::<u8>(), 0..3), 1..6),
    ) {
        let mut bytes = FROM_GO.as_bytes().to_vec();
        for (at, byte, edit) in edits {
            let at = at.min(bytes.len() - 1);
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        if let Ok(record) = Record::decode(key(), &bytes) {
            prop_assert_eq!(record.as_stored().unwrap(), bytes.clone());
            prop_assert!(record.weight() <= 4 * bytes.len() + 2000);
            // What we would write instead means the same.
            let written = record.encode().unwrap();
            prop_assert_eq!(Record::decode(key(), &written).unwrap(), record);
        }
    }
}

#[test]
fn deep_nesting_is_read_without_recursion_or_refused() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let _ = decode(&FROM_GO.replacen('{', &format!(r#"{{"later":{deep},"#), 1));
    let _ = decode(&deep);
}
