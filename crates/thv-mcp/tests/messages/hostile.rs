//! Bodies that nobody would send by accident.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use thv_mcp::{Message, MetaVersion, decode};

use crate::readers::{Document, READERS, Reader};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What `body` was decoded to is what every other reader sees in it.
fn agrees(body: &[u8], message: &Message) -> Result<(), TestCaseError> {
    let document = match serde_json::from_slice::<Document>(body) {
        Ok(document) => document,
        // In what nobody decides upon we let more pass than this reader.
        Err(error) => {
            let error = error.to_string();
            let known =
                ["number out of range", "surrogate", "hex escape"].iter().any(|known| error.contains(known));
            prop_assert!(known, "{}: {}", error, String::from_utf8_lossy(body));
            return Ok(());
        }
    };
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let id = value.get("id").filter(|id| !id.is_null()).cloned();
        let raw = match message {
            Message::Request(call) | Message::Notification(call) => call.id.as_ref(),
            Message::Response(id) => Some(id),
        };
        let ours = raw.map(|id| serde_json::from_str::<Value>(id.raw()).unwrap());
        prop_assert_eq!(ours, id);
        prop_assert_eq!(
            message.call().map(|call| call.method.as_str()),
            value.get("method").and_then(Value::as_str)
        );
    }
    for reader in READERS {
        let method = document.get(reader, "method").and_then(Document::text);
        prop_assert_eq!(message.call().map(|call| call.method.as_str()), method);
        if let Some(call) = message.call() {
            let params = document.get(reader, "params");
            let text =
                |name: &str| params.and_then(|params| params.get(reader, name)).and_then(Document::text);
            match call.method.as_str() {
                "tools/call" | "prompts/get" => {
                    prop_assert_eq!(call.resource.as_str(), text("name").unwrap_or(""));
                }
                "resources/read" => prop_assert_eq!(call.resource.as_str(), text("uri").unwrap_or("")),
                "tools/list" => prop_assert_eq!(call.resource.as_str(), text("cursor").unwrap_or("")),
                _ => {}
            }
            let meta = params.and_then(|params| params.get(reader, "_meta"));
            let version = meta.and_then(|meta| meta.get(reader, VERSION)).and_then(Document::text);
            let ours = match &call.meta.protocol_version {
                MetaVersion::Text(text) => Some(text.as_str()),
                MetaVersion::Absent | MetaVersion::NotText => None,
            };
            prop_assert_eq!(ours, version);
        }
    }
    Ok(())
}

fn check(body: &[u8]) -> Result<(), TestCaseError> {
    decode(body).map_or(Ok(()), |message| agrees(body, &message))
}

/// A name as it is, in another case, or in another spelling.
fn spelled(name: &'static str) -> impl Strategy<Value = String> {
    let escaped = format!("\\u{:04x}{}", u32::from(name.chars().next().unwrap()), &name[1..]);
    let capital = name[..1].to_uppercase() + &name[1..];
    prop_oneof![
        8 => Just(name.to_owned()),
        1 => Just(name.to_uppercase()),
        1 => Just(capital),
        1 => Just(escaped),
        1 => Just(name.replace('s', "ſ")),
        1 => Just(name.replace('k', "\u{212a}")),
    ]
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no others", |n| n.is_finite())
            .prop_map(|number| format!("{number:e}")),
        ".{0,8}".prop_map(|text| Value::from(text).to_string()),
        select(vec![
            "\"2.0\"",
            "\"tools/call\"",
            "\"ping\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud800\"",
            "1e999",
            "\"a\""
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![spelled("name"), spelled("uri"), "[a-z\u{130}ſ]{0,3}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((name, inner), 0..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(String, String)>) -> String {
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn member(
    name: &'static str,
    value: impl Strategy<Value = String> + 'static,
) -> impl Strategy<Value = Vec<(String, String)>> {
    // Mostly there once, as otherwise nothing would ever be accepted.
    prop_oneof![
        1 => Just(Vec::new()),
        12 => prop::collection::vec((spelled(name), value), 1..=1),
    ]
}

fn params() -> impl Strategy<Value = String> {
    let text = || ".{0,6}".prop_map(|text| Value::from(text).to_string());
    let meta = (member(VERSION, text()), member("progressToken", json()));
    let meta = meta.prop_map(|(version, token)| object([version, token].concat()));
    let members = (
        member("name", text()),
        member("uri", json()),
        member("arguments", json()),
        member("_meta", meta),
        extra(),
    );
    let shuffled = members.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat()).prop_shuffle();
    shuffled.prop_map(object)
}

/// Now and then something that should not be there.
fn extra() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop_oneof![
        spelled("method"),
        spelled("id"),
        spelled("params"),
        spelled("name"),
        spelled("_meta"),
        "[a-z]{1,4}",
    ];
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec((name, json()), 0..2)]
}

fn body() -> impl Strategy<Value = String> {
    let method = select(vec!["tools/call", "prompts/get", "resources/read", "tools/list", "ping", "x/y"]);
    let version = member("jsonrpc", Just("\"2.0\"".to_owned()));
    let id = member(
        "id",
        prop_oneof![
            any::<u64>().prop_map(|id| id.to_string()),
            ".{0,4}".prop_map(|id| Value::from(id).to_string())
        ],
    );
    let method = member("method", method.prop_map(|method| format!("\"{method}\"")));
    let members = (version, id, method, member("params", params()), extra());
    members.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat()).prop_shuffle().prop_map(object)
}

/// A change of a few bytes.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Copy(prop::sample::Index, prop::sample::Index, u8),
    Cut(prop::sample::Index),
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        match self {
            Self::Replace(at, byte) => {
                bytes.iter_mut().skip(at.index(length)).take(1).for_each(|old| *old = *byte);
            }
            Self::Insert(at, byte) => bytes.insert(at.index(bytes.len() + 1), *byte),
            Self::Remove(at) if !bytes.is_empty() => drop(bytes.remove(at.index(length))),
            Self::Remove(_) => {}
            Self::Copy(from, to, count) => {
                let piece: Vec<u8> =
                    bytes.iter().copied().skip(from.index(length)).take((*count).into()).collect();
                let to = to.index(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            Self::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    let byte = prop_oneof![any::<u8>(), select(b"\"\\{}[]:,0-.eE \n\rnN\xef\xbb\xbf".to_vec())];
    prop_oneof![
        (index(), byte.clone()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (index(), byte).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        index().prop_map(Mutation::Remove),
        (index(), index(), 1..40_u8).prop_map(|(from, to, count)| Mutation::Copy(from, to, count)),
        index().prop_map(Mutation::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes)?;
    }

    #[test]
    fn bytes_that_look_like_json_are_survived(text in r#"[\[\]{}":,0-9a-e\\u \n.-]{0,80}"#) {
        check(text.as_bytes())?;
    }

    #[test]
    fn what_is_accepted_is_the_same_for_every_reader(body in body()) {
        check(body.as_bytes())?;
    }

    #[test]
    fn mutated_messages_are_refused_or_still_the_same_for_every_reader(
        body in body(),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let mut bytes = body.into_bytes();
        for mutation in mutations {
            mutation.apply(&mut bytes);
        }
        check(&bytes)?;
    }
}

#[test]
fn the_other_readers_would_notice() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"ping","method":"x"}"#;
    let document: Document = serde_json::from_slice(body).unwrap();
    let methods = READERS.map(|reader| document.get(reader, "method").and_then(Document::text).unwrap());
    assert_eq!(methods, ["tools/call", "x", "x"]);
    assert!(document.get(Reader::Last, "Method").is_some());
    let fair = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let other = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}}"#;
    assert!(agrees(fair, &decode(fair).unwrap()).is_ok());
    assert!(agrees(other, &decode(fair).unwrap()).is_err());
}

#[test]
fn a_fair_share_of_the_generated_messages_is_accepted() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let accepted =
        (0..500).filter(|_| decode(body().new_tree(&mut runner).unwrap().current().as_bytes()).is_ok());
    assert!(accepted.count() > 50, "a generator of refused messages shows nothing");
}
