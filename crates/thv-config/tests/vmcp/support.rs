//! What these tests share.

use serde_json::Value;
use thv_config::Json;
use thv_config::vmcp::{Files, ReadError, VmcpConfig};

/// A document with every key, as we write it.
pub(crate) const EVERY_KEY: &str = include_str!("every-key.yaml");
/// The authorization server that goes with it.
pub(crate) const AUTH_SERVER: &str = include_str!("authserver.yaml");
/// The least that a virtual server runs by.
pub(crate) const MINIMAL: &str = "\
name: demo
groupRef: team
incomingAuth: {type: anonymous}
outgoingAuth: {source: inline}
aggregation: {conflictResolution: prefix}
";

pub(crate) fn parse(config: &str, auth_server: Option<&str>) -> Result<VmcpConfig, ReadError> {
    VmcpConfig::parse(config.as_bytes(), auth_server.map(str::as_bytes))
}

/// What is written as `config.yaml`.
pub(crate) fn written(config: &VmcpConfig) -> String {
    config.to_files().unwrap().data()[Files::CONFIG].clone()
}

/// What any reader of YAML finds in a text.
pub(crate) fn value(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

pub(crate) fn tree(yaml: &str) -> Json {
    serde_saphyr::from_str(yaml).unwrap()
}

/// Everything that is wrong with a document that can be read.
pub(crate) fn problems(config: &str, auth_server: Option<&str>) -> Vec<String> {
    match parse(config, auth_server) {
        Ok(_) => Vec::new(),
        Err(ReadError::Invalid(invalid)) => invalid.0.iter().map(ToString::to_string).collect(),
        Err(error) => panic!("{error}"),
    }
}

/// What is wrong with the document that has every key once a text in it is another.
fn problems_with(from: &str, to: &str) -> Vec<String> {
    assert!(EVERY_KEY.contains(from), "{from}");
    problems(&EVERY_KEY.replacen(from, to, 1), Some(AUTH_SERVER))
}

/// Every change of the document with every key causes one problem, and this one.
#[track_caller]
pub(crate) fn each_is_refused(cases: &[(&str, &str, &str)]) {
    for (from, to, problem) in cases {
        assert_eq!(problems_with(from, to), [*problem], "{from} → {to}");
    }
}

/// No change of the document with every key causes a problem.
#[track_caller]
pub(crate) fn each_is_fine(cases: &[(&str, &str)]) {
    for (from, to) in cases {
        assert_eq!(problems_with(from, to), Vec::<String>::new(), "{from} → {to}");
    }
}
