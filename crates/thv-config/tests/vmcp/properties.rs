//! What holds for every document.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use thv_config::Json;
use thv_config::vmcp::{Files, VmcpConfig, WriteError};

use crate::support::{AUTH_SERVER, EVERY_KEY, parse, tree};

/// Keys whose texts may be anything.
const FREE: &[&str] = &[
    "component",
    "condition",
    "description",
    "endpoint",
    "entitiesJson",
    "logFile",
    "message",
    "policies",
    "serviceName",
    "title",
    "value",
];

/// Objects whose keys are the user's own, with texts as values.
const MAPS: &[&str] = &["metadata", "customAttributes", "headers"];

/// Parts that only their consumer understands.
const FREE_FORMS: &[&str] = &["arguments", "defaultResults", "parameters", "schema"];

/// Keys that can be left out, whatever else is there.
const OPTIONAL: &[&str] = &[
    "annotations",
    "audit",
    "codeMode",
    "compositeToolRefs",
    "compositeTools",
    "condition",
    "description",
    "onError",
    "operational",
    "optimizer",
    "output",
    "passthroughHeaders",
    "rateLimiting",
    "scopes",
    "telemetry",
    "timeout",
    "timeouts",
];

/// Any text, preferably of characters that somebody treats in a special way.
fn any_text() -> impl Strategy<Value = String> {
    let special = select(vec![
        ' ', '\t', '\n', '\r', ':', '#', '-', '?', '{', '}', '[', ']', ',', '&', '*', '!', '|', '>', '\'',
        '"', '%', '@', '`', '~', '\\', '\u{0}', '\u{7f}', '\u{85}', '\u{a0}', '\u{2028}', '\u{feff}', '0',
        '1', 'e', '.', '_', 'y', 'n',
    ]);
    let words = select(vec!["yes", "null", "1.10", "0x1f", "12:30", "2026-01-01", "<<", "---", "1e3", "No"]);
    prop_oneof![
        words.prop_map(str::to_owned),
        vec(prop_oneof![special, any::<char>()], 0..8).prop_map(String::from_iter),
    ]
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|number| Json::Number(number.into())),
        any::<u64>().prop_map(|number| Json::Number(number.into())),
        any::<f64>()
            .prop_filter_map("finite", |number| serde_json::Number::from_f64(number).map(Json::Number)),
        any_text().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            btree_map(any_text(), inner, 0..4).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Json> {
    btree_map(any_text(), any_json(), 0..4).prop_map(|map| Json::Object(map.into_iter().collect()))
}

/// A document like the given one: some keys go, texts and free forms are others.
fn like(key: &str, json: &Json) -> BoxedStrategy<Json> {
    match json {
        Json::String(_) if FREE.contains(&key) => any_text().prop_map(Json::String).boxed(),
        Json::Object(_) if MAPS.contains(&key) => {
            btree_map(any_text(), any_text().prop_map(Json::String), 0..3)
                .prop_map(|map| Json::Object(map.into_iter().collect()))
                .boxed()
        }
        Json::Object(_) if FREE_FORMS.contains(&key) => any_object().boxed(),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| like(key, item)).collect();
            items.prop_map(Json::Array).boxed()
        }
        Json::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| {
                    let (name, required) = (key.clone(), !OPTIONAL.contains(&key.as_str()));
                    (any::<bool>(), like(key, value))
                        .prop_map(move |(stays, value)| (required || stays).then(|| (name.clone(), value)))
                })
                .collect();
            members.prop_map(|members| Json::Object(members.into_iter().flatten().collect())).boxed()
        }
        other => Just(other.clone()).boxed(),
    }
}

fn documents() -> BoxedStrategy<Json> {
    like("", &tree(EVERY_KEY))
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

/// Writes a document and reads it again.
fn again(config: &VmcpConfig) -> Result<VmcpConfig, WriteError> {
    let files = config.to_files()?.into_data();
    let server = files.get(Files::AUTH_SERVER).map(String::as_str);
    Ok(parse(&files[Files::CONFIG], server).unwrap())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn documents_are_written_and_read_without_loss(document in documents()) {
        let config = parse(&serde_saphyr::to_string(&document).unwrap(), Some(AUTH_SERVER)).unwrap();
        prop_assert_eq!(&again(&config).unwrap(), &config);
        prop_assert_eq!(again(&config).unwrap().to_files().unwrap(), config.to_files().unwrap());
    }

    #[test]
    fn any_json_is_read_or_refused(json in any_json()) {
        let _ = VmcpConfig::parse(serde_json::to_string(&json).unwrap().as_bytes(), None);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..64)) {
        let _ = VmcpConfig::parse(&bytes, Some(&bytes));
    }

    /// What is still a document after some of its bytes have changed can be written again.
    #[test]
    fn a_damaged_document_is_refused_or_a_document(
        at in any::<Index>(), length in 0_usize..40, bytes in vec(any::<u8>(), 0..12)
    ) {
        let mut text = EVERY_KEY.as_bytes().to_vec();
        let start = at.index(text.len());
        let end = (start + length).min(text.len());
        text.splice(start..end, bytes);
        if let Ok(config) = VmcpConfig::parse(&text, Some(AUTH_SERVER.as_bytes())) {
            match again(&config) {
                Ok(same) => prop_assert_eq!(same, config),
                Err(WriteError::Content { .. }) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}
