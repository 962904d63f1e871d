//! What holds for every document.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod support;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use support::EVERY_KEY;
use thv_config::{Json, RunConfig};

/// Keys whose texts have a grammar; all others may be anything. Credentials are here as well: only references
/// can be written.
const GRAMMAR: &[&str] = &[
    "access_token_lifespan",
    "auth_code_lifespan",
    "auth_type",
    "bearer_token",
    "cache_fallback_ttl",
    "cached_secret_expiry",
    "cached_token_expiry",
    "ClientSecret",
    "client_secret",
    "delegation_token_lifespan",
    "dial_timeout",
    "failure_policy",
    "header_strategy",
    "max_assertion_age",
    "proxy_mode",
    "read_timeout",
    "refillPeriod",
    "refresh_token_lifespan",
    "session_ttl",
    "transport",
    "transport_type",
    "type",
    "write_timeout",
];

/// Keys that have no default.
const REQUIRED: &[&str] = &["maxTokens", "max_assertion_age", "refillPeriod", "transport", "type"];

/// Objects whose keys are the user's own.
const MAPS: &[&str] = &[
    "add_headers",
    "add_headers_from_secret",
    "add_plaintext_headers",
    "additional_authorization_params",
    "additional_headers",
    "container_labels",
    "customAttributes",
    "env_vars",
    "headers",
    "oauth_params",
];

/// Any text, preferably of characters that somebody treats in a special way.
fn any_text() -> impl Strategy<Value = String> {
    let special = select(vec![
        '<', '>', '&', '\u{2028}', '\u{2029}', '"', '\\', '/', '\n', '\u{0}', '\u{7f}', ':', ',', '=',
    ]);
    vec(prop_oneof![special, any::<char>()], 0..6).prop_map(String::from_iter)
}

/// A document like the given one: keys come and go, lists and maps have other sizes, values are others.
fn like(key: &str, json: &Json) -> BoxedStrategy<Json> {
    match json {
        Json::String(text) if GRAMMAR.contains(&key) => Just(Json::String(text.clone())).boxed(),
        Json::String(_) => any_text().prop_map(Json::String).boxed(),
        Json::Bool(_) => any::<bool>().prop_map(Json::Bool).boxed(),
        Json::Number(_) => (0_u16..).prop_map(|number| Json::Number(number.into())).boxed(),
        Json::Null => Just(Json::Null).boxed(),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| like(key, item)).collect();
            vec(proptest::strategy::Union::new(items), 0..3).prop_map(Json::Array).boxed()
        }
        Json::Object(_) if MAPS.contains(&key) => {
            btree_map(any_text(), any_text().prop_map(Json::String), 0..3)
                .prop_map(|map| Json::Object(map.into_iter().collect()))
                .boxed()
        }
        Json::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| {
                    let (name, required) = (key.clone(), REQUIRED.contains(&key.as_str()));
                    (0..10_u8, like(key, value))
                        .prop_map(move |(dice, value)| (required || dice < 7).then(|| (name.clone(), value)))
                })
                .collect();
            members.prop_map(|members| Json::Object(members.into_iter().flatten().collect())).boxed()
        }
    }
}

fn documents() -> BoxedStrategy<Json> {
    like("", &serde_json::from_str(EVERY_KEY).unwrap())
}

/// Any JSON at all, with keys that mean something here and there.
fn any_json() -> impl Strategy<Value = Json> {
    let key = prop_oneof![
        select(vec![
            "transport",
            "port",
            "oidc_config",
            "env_vars",
            "middleware_configs",
            "type",
            "parameters"
        ])
        .prop_map(str::to_owned),
        any_text(),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|number| Json::Number(number.into())),
        any_text().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            btree_map(key.clone(), inner, 0..4).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn documents_are_read_and_written_without_loss(document in documents()) {
        let decoded = RunConfig::parse(serde_json::to_string(&document).unwrap().as_bytes()).unwrap();
        prop_assert_eq!(decoded.unknown, Vec::<String>::new());
        let config = decoded.value;
        let bytes = config.to_bytes().unwrap();
        let again = RunConfig::parse(&bytes).unwrap();
        prop_assert_eq!(again.unknown, Vec::<String>::new());
        prop_assert_eq!(&again.value, &config);
        prop_assert_eq!(again.value.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn what_is_written_is_plain_json(document in documents()) {
        let config = RunConfig::parse(serde_json::to_string(&document).unwrap().as_bytes()).unwrap().value;
        let bytes = config.to_bytes().unwrap();
        prop_assert!(!bytes.iter().any(|byte| b"<>&".contains(byte)));
        let ours: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(ours, serde_json::to_value(&config).unwrap());
    }

    #[test]
    fn checking_reports_and_does_not_fall_over(document in documents()) {
        let mut config = RunConfig::parse(serde_json::to_string(&document).unwrap().as_bytes()).unwrap().value;
        if let Err(invalid) = config.validate() {
            prop_assert!(!invalid.0.is_empty());
            prop_assert!(invalid.0.iter().all(|problem| !problem.path.is_empty()));
        }
        config.normalise();
        let _ = config.validate();
        for middleware in &config.middleware_configs {
            if let Ok(decoded) = middleware.decode() {
                prop_assert_eq!(decoded.value.type_name(), middleware.type_.as_str());
            }
        }
    }

    #[test]
    fn any_json_is_read_or_refused(json in any_json()) {
        if let Ok(decoded) = RunConfig::parse(serde_json::to_string(&json).unwrap().as_bytes()) {
            let _ = decoded.value.validate();
            let _ = decoded.value.to_bytes();
            let _ = format!("{:?}", decoded.value);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..64)) {
        let _ = RunConfig::parse(&bytes);
    }
}
