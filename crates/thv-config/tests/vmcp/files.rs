//! What is written, and that it is what Go writes.

use std::collections::BTreeMap;

use serde_json::Value;
use thv_config::vmcp::{
    Aggregation, AuthSource, AuthStrategy, Callers, CanonicalDuration, Files, HeaderInjection, IncomingAuth,
    Operational, OutgoingAuth, TokenExchange, VmcpConfig, WriteError,
};
use thv_config::{Checksum, Secret};

use crate::recordings::recorded;
use crate::support::{AUTH_SERVER, EVERY_KEY, MINIMAL, parse, value, written};

/// What the operator has for a server of which only the group and the callers are said.
fn smallest() -> VmcpConfig {
    VmcpConfig {
        name: "demo".to_owned(),
        group_ref: "team".to_owned(),
        backends: Vec::new(),
        incoming_auth: IncomingAuth { callers: Callers::Anonymous, authz: None },
        outgoing_auth: OutgoingAuth {
            source: AuthSource::Discovered,
            default: None,
            backends: BTreeMap::new(),
        },
        aggregation: Aggregation::default(),
        composite_tools: Vec::new(),
        composite_tool_refs: Vec::new(),
        operational: Operational::default(),
        metadata: BTreeMap::new(),
        telemetry: None,
        audit: None,
        optimizer: None,
        code_mode: None,
        session_storage: None,
        rate_limiting: None,
        passthrough_headers: Vec::new(),
        auth_server: None,
    }
}

#[test]
fn what_may_be_left_out_is_written_out() {
    let expected = "\
name: demo
groupRef: team
incomingAuth:
    type: anonymous
outgoingAuth:
    source: discovered
aggregation:
    conflictResolution: prefix
    conflictResolutionConfig:
        prefixFormat: '{workload}_'
operational:
    timeouts:
        default: 30s
    failureHandling:
        healthCheckInterval: 30s
        unhealthyThreshold: 3
        statusReportingInterval: 30s
        partialFailureMode: fail
        circuitBreaker:
            failureThreshold: 5
            timeout: 1m0s
";
    assert_eq!(value(&written(&smallest())), value(expected));
    assert_eq!(smallest().to_files().unwrap().data().len(), 1);
}

#[test]
fn the_recorded_document_is_written_as_go_wrote_it() {
    let maps = recorded("configmaps");
    let map = maps.iter().find(|map| map["metadata"]["name"] == "gateway-vmcp-config").unwrap();
    let theirs = map["data"][Files::CONFIG].as_str().unwrap();
    let config = parse(theirs, None).unwrap();
    assert_eq!(value(&written(&config)), value(theirs));
    assert_eq!(keys_in_order(&written(&config)), keys_in_order(theirs));
}

/// The keys of a document as they stand, without their values.
fn keys_in_order(yaml: &str) -> Vec<&str> {
    yaml.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect()
}

#[test]
fn every_key_comes_back_byte_for_byte() {
    let config = parse(EVERY_KEY, Some(AUTH_SERVER)).unwrap();
    let files = config.to_files().unwrap().into_data();
    assert_eq!(files[Files::CONFIG], EVERY_KEY);
    assert_eq!(files[Files::AUTH_SERVER], AUTH_SERVER);
    assert_eq!(parse(&files[Files::CONFIG], Some(&files[Files::AUTH_SERVER])).unwrap(), config);
}

#[test]
fn the_order_and_spelling_of_a_file_do_not_matter() {
    let plain = parse(EVERY_KEY, Some(AUTH_SERVER)).unwrap();
    // As JSON, which is YAML too, with sorted keys.
    let sorted = serde_json::to_string(&value(EVERY_KEY)).unwrap();
    let respelled = sorted.replace("\"1m0s\"", "\"60s\"").replace("{\"duration\":\"60s\"}", "\"1m\"");
    assert_ne!(sorted, respelled);
    assert_eq!(written(&parse(&respelled, Some(AUTH_SERVER)).unwrap()), written(&plain));
}

#[test]
fn the_checksum_tells_every_change_of_a_file() {
    let config = parse(EVERY_KEY, Some(AUTH_SERVER)).unwrap();
    let checksum = |config: &VmcpConfig| config.to_files().unwrap().checksum();
    let base: Checksum = checksum(&config);
    assert_eq!(checksum(&config.clone()), base);
    let mut other = config.clone();
    other.name.push('2');
    assert_ne!(checksum(&other), base);
    let mut other = config.clone();
    other.auth_server.as_mut().unwrap().baseline_client_scopes.push("openid".to_owned());
    assert_ne!(checksum(&other), base);
}

#[test]
fn defaults_replace_what_is_absent_or_zero_and_nothing_else() {
    let text = format!(
        "{MINIMAL}operational: {{timeouts: {{default: 0s}}, failureHandling: {{unhealthyThreshold: 0, \
         healthCheckInterval: 10s}}}}\n"
    );
    let handling = parse(&text, None).unwrap().operational;
    assert_eq!(handling.timeouts.default, Some(CanonicalDuration::from_secs(30)));
    assert_eq!(handling.failure_handling.unhealthy_threshold, 3);
    assert_eq!(handling.failure_handling.health_check_interval, Some(CanonicalDuration::from_secs(10)));
    assert_eq!(handling.failure_handling.health_check_timeout, None);
}

#[test]
fn the_provider_of_a_token_is_filled_in_where_it_can_be_told() {
    let exchange = AuthStrategy::TokenExchange(TokenExchange {
        token_url: "https://idp.example.org/token".to_owned(),
        ..TokenExchange::default()
    });
    let mut config = parse(EVERY_KEY, Some(AUTH_SERVER)).unwrap();
    config.outgoing_auth.default = Some(exchange.clone());
    config.normalise();
    let Some(AuthStrategy::TokenExchange(filled)) = &config.outgoing_auth.default else { panic!("another") };
    assert_eq!(filled.subject_provider_name, "okta");
    let mut alone = parse(MINIMAL, None).unwrap();
    alone.outgoing_auth.default = Some(exchange.clone());
    alone.normalise();
    assert_eq!(alone.outgoing_auth.default, Some(exchange), "the token of the caller is exchanged");
}

#[test]
fn a_credential_is_neither_shown_nor_written() {
    let mut config = parse(MINIMAL, None).unwrap();
    config.outgoing_auth.default = Some(AuthStrategy::HeaderInjection(HeaderInjection {
        header_name: "X-Api-Key".to_owned(),
        header_value: Secret::new("hunter2"),
        header_value_env: String::new(),
    }));
    assert!(!format!("{config:?}").contains("hunter2"));
    let error = config.to_files().unwrap_err();
    assert!(matches!(&error, WriteError::Content { file: Files::CONFIG, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "config.yaml: outgoingAuth.default: holds a credential, which must not be written: \
         hand it over by environment variable or file"
    );
}

#[test]
fn what_no_server_could_run_by_is_not_written() {
    let mut config = smallest();
    config.name.clear();
    let error = config.to_files().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the configuration of the virtual server is not valid: name: is empty: set it"
    );
}

#[test]
fn values_in_a_free_form_keep_their_types() {
    let config = parse(EVERY_KEY, Some(AUTH_SERVER)).unwrap();
    let arguments = serde_json::to_value(&config.composite_tools[0].steps[0].arguments).unwrap();
    let expected: Value = serde_json::json!({
        "depth": 1.5, "limit": 10, "q": "{{.params.id}}", "strict": true, "tags": ["yes", null]
    });
    assert_eq!(arguments, expected);
}
