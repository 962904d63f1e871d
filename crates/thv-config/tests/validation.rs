//! Every rule accepts what is right and reports what is wrong, all of it at once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod support;

use support::{EVERY_KEY, MINIMAL, OPERATOR, parse};
use thv_config::run_config::ProblemKind;
use thv_config::{Json, RunConfig};

/// A valid document with other values at some keys. The proxy computes its middlewares.
fn with(changes: &str) -> RunConfig {
    let mut config = changed(MINIMAL, changes);
    config.middleware_configs.clear();
    config
}

fn changed(document: &str, changes: &str) -> RunConfig {
    let mut document: serde_json::Value = serde_json::from_str(document).unwrap();
    let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        document[key] = value.clone();
    }
    parse(&document.to_string())
}

fn problems(config: &RunConfig) -> Vec<(String, String)> {
    let invalid = config.validate().err().map(|invalid| invalid.0).unwrap_or_default();
    invalid.into_iter().map(|problem| (problem.path, format!("{:?}", problem.kind))).collect()
}

/// Accepts the first, and reports exactly one problem at a path for each of the others.
#[track_caller]
fn rule(kind: &str, accepted: &[&str], rejected: &[(&str, &str)]) {
    for changes in accepted {
        assert_eq!(problems(&with(changes)), [], "{changes}");
    }
    for (changes, path) in rejected {
        let found = problems(&with(changes));
        assert!(
            found.len() == 1 && found[0].0 == *path && found[0].1.starts_with(kind),
            "{changes}: {found:?}"
        );
    }
}

const HTTP: &str = r#""transport":"sse","port":1,"target_port":65535,"proxy_mode":"sse""#;

/// Changes on top of those that make the document one for an HTTP server.
macro_rules! http {
    ($changes:literal) => {
        concat!(r#"{"transport":"sse","proxy_mode":"sse","#, $changes, "}")
    };
}

#[test]
fn golden_documents_of_the_operator_are_valid() {
    for document in [MINIMAL, OPERATOR] {
        assert_eq!(problems(&parse(document)), []);
    }
}

#[test]
fn versions() {
    rule(
        "SchemaVersion",
        &[r#"{"schema_version":""}"#, r#"{"schema_version":"v0.1.0"}"#, r#"{"schema_version":"v0.9.1"}"#],
        &[
            (r#"{"schema_version":"v1.0.0"}"#, "schema_version"),
            (r#"{"schema_version":"0.1.0"}"#, "schema_version"),
        ],
    );
}

#[test]
fn a_server_is_named_and_found() {
    rule("Empty", &[r#"{"name":"a"}"#], &[(r#"{"name":""}"#, "name")]);
    rule(
        "NoServer",
        &[r#"{"image":"a"}"#, r#"{"image":"","remote_url":"https://example.org"}"#],
        &[(r#"{"image":""}"#, "image")],
    );
}

#[test]
fn hosts() {
    rule(
        "HostSpace",
        &[r#"{"host":"::"}"#, r#"{"host":""}"#],
        &[(r#"{"host":"a b"}"#, "host"), (r#"{"host":"a\n"}"#, "host")],
    );
    rule(
        "Empty",
        &[r#"{"remote_url":"https://example.org"}"#],
        &[(r#"{"remote_url":"https://example.org","host":""}"#, "host")],
    );
}

#[test]
fn ports_of_http_servers() {
    rule(
        "NoPort",
        &[
            &format!("{{{HTTP}}}"),
            http!(r#""target_port":0,"remote_url":"https://example.org""#),
            r#"{"port":0,"target_port":0}"#,
        ],
        &[(http!(r#""port":0"#), "port"), (http!(r#""target_port":0"#), "target_port")],
    );
}

#[test]
fn modes() {
    rule(
        "Mode",
        &[
            r#"{"proxy_mode":"sse"}"#,
            r#"{"proxy_mode":"streamable-http"}"#,
            r#"{"proxy_mode":null}"#,
            r#"{"transport":"streamable-http","proxy_mode":"streamable-http"}"#,
            r#"{"transport":"sse","proxy_mode":null}"#,
        ],
        &[
            (r#"{"transport":"streamable-http","proxy_mode":"sse"}"#, "proxy_mode"),
            (r#"{"transport":"sse","proxy_mode":"streamable-http"}"#, "proxy_mode"),
        ],
    );
}

#[test]
fn environment() {
    rule(
        "EnvName",
        &[r#"{"env_vars":{"A":"","a.b-c d":"x=y"}}"#],
        &[
            (r#"{"env_vars":{"":"x"}}"#, "env_vars."),
            (r#"{"env_vars":{"A=B":"x"}}"#, "env_vars.A=B"),
            (r#"{"env_vars":{"A\nB":"x"}}"#, r"env_vars.A\nB"),
            (r#"{"env_vars":{"A\rB":"x"}}"#, r"env_vars.A\rB"),
        ],
    );
    rule(
        "EnvValue",
        &[r#"{"env_vars":{"A":"\t \\n"}}"#],
        &[(r#"{"env_vars":{"A":"x\ny"}}"#, "env_vars.A"), (r#"{"env_vars":{"A":"\r"}}"#, "env_vars.A")],
    );
}

#[test]
fn volumes() {
    rule(
        "Volume",
        &[r#"{"volumes":["/a:/b","/a:/b:ro"]}"#],
        &[
            (r#"{"volumes":["/a:/b","/a"]}"#, "volumes[1]"),
            (r#"{"volumes":[""]}"#, "volumes[0]"),
            (r#"{"volumes":[":/b"]}"#, "volumes[0]"),
            (r#"{"volumes":["/a:"]}"#, "volumes[0]"),
            (r#"{"volumes":["/a:/b:rw"]}"#, "volumes[0]"),
            (r#"{"volumes":["/a:/b:ro:"]}"#, "volumes[0]"),
        ],
    );
}

#[test]
fn secrets() {
    rule(
        "Secret",
        &[r#"{"secrets":["api,target=API_TOKEN"]}"#],
        &[(r#"{"secrets":["api"]}"#, "secrets[0]"), (r#"{"secrets":["api,target="]}"#, "secrets[0]")],
    );
}

#[test]
fn tools() {
    rule(
        "ToolName",
        &[r#"{"tools_filter":["find","a b"]}"#],
        &[
            (r#"{"tools_filter":["find",""]}"#, "tools_filter[1]"),
            (r#"{"tools_filter":["a,b"]}"#, "tools_filter[0]"),
            (r#"{"tools_filter":["a\nb"]}"#, "tools_filter[0]"),
            (r#"{"tools_filter":["a\rb"]}"#, "tools_filter[0]"),
            (r#"{"tools_override":{"":{"name":"a"}}}"#, "tools_override."),
        ],
    );
    rule(
        "IdleOverride",
        &[r#"{"tools_override":{"a":{"name":"b"},"c":{"description":"d"}}}"#],
        &[(r#"{"tools_override":{"a":{}}}"#, "tools_override.a")],
    );
}

#[test]
fn sessions() {
    rule(
        "StatelessStdio",
        &[http!(r#""stateless":true"#), r#"{"stateless":false}"#],
        &[(r#"{"stateless":true}"#, "stateless")],
    );
    rule(
        "NegativeTtl",
        &[r#"{"session_ttl":"30m"}"#, r#"{"session_ttl":"0"}"#, r#"{"session_ttl":""}"#],
        &[(r#"{"session_ttl":"-1s"}"#, "session_ttl")],
    );
    rule(
        "KeyPrefix",
        &[
            r#"{"scaling_config":{"session_redis":{"address":"a:1","key_prefix":"a:"}}}"#,
            r#"{"scaling_config":{"session_redis":{"address":"a:1"}}}"#,
        ],
        &[(
            r#"{"scaling_config":{"session_redis":{"key_prefix":"a"}}}"#,
            "scaling_config.session_redis.key_prefix",
        )],
    );
}

#[test]
fn combinations() {
    rule(
        "NoRedis",
        &[r#"{"rate_limit_config":{},"scaling_config":{"session_redis":{}}}"#],
        &[(r#"{"rate_limit_config":{}}"#, "rate_limit_config")],
    );
    rule(
        "AwsStsLocal",
        &[r#"{"aws_sts_config":{"region":"a"},"remote_url":"https://example.org"}"#],
        &[(r#"{"aws_sts_config":{"region":"a"}}"#, "aws_sts_config")],
    );
    rule(
        "StrippedToken",
        &[
            r#"{"token_exchange_config":{},"embedded_auth_server_config":{}}"#,
            r#"{"embedded_auth_server_config":{"disable_upstream_token_injection":true}}"#,
        ],
        &[
            (
                r#"{"token_exchange_config":{},"embedded_auth_server_config":{"disable_upstream_token_injection":true}}"#,
                "token_exchange_config",
            ),
            (
                r#"{"aws_sts_config":{},"remote_url":"https://example.org",
                    "embedded_auth_server_config":{"disable_upstream_token_injection":true}}"#,
                "aws_sts_config",
            ),
        ],
    );
    rule(
        "Upstreams",
        &[r#"{"embedded_auth_server_config":{"upstreams":[{"type":"oidc"}]}}"#],
        &[(
            r#"{"embedded_auth_server_config":{"upstreams":[{"type":"oidc"},{"type":"oauth2"}]}}"#,
            "embedded_auth_server_config.upstreams",
        )],
    );
}

#[test]
fn what_is_asked_for_is_in_the_list_of_middlewares() {
    let without = |type_: &str| {
        let mut config = parse(EVERY_KEY);
        config.middleware_configs.retain(|config| config.type_ != type_);
        config
    };
    let baseline = problems(&parse(EVERY_KEY));
    for (type_, path) in [
        ("auth", "oidc_config"),
        ("strip-auth", "embedded_auth_server_config"),
        ("tokenexchange", "token_exchange_config"),
        ("awssts", "aws_sts_config"),
        ("authorization", "authz_config"),
        ("audit", "audit_config"),
        ("telemetry", "telemetry_config"),
        ("ratelimit", "rate_limit_config"),
        ("tool-filter", "tools_filter"),
        ("tool-call-filter", "tools_filter"),
        ("validating-webhook", "validating_webhooks"),
        ("mutating-webhook", "mutating_webhooks"),
    ] {
        let found = problems(&without(type_));
        let added: Vec<_> = found.into_iter().filter(|problem| !baseline.contains(problem)).collect();
        assert_eq!(added, [(path.to_owned(), format!("Unenforced {{ middleware: {type_:?} }}"))]);
    }
    // An `auth` that checks nobody is none.
    let mut config = parse(OPERATOR);
    let auth = config.middleware_configs.iter_mut().find(|config| config.type_ == "auth").unwrap();
    auth.parameters = Json::empty_object();
    assert_eq!(problems(&config)[0].0, "oidc_config");
}

#[test]
fn all_problems_come_at_once_and_say_what_to_do() {
    let broken =
        changed(OPERATOR, r#"{"name":"","image":"","port":0,"volumes":["a"],"env_vars":{"K":"hunter2\n"}}"#);
    let invalid = broken.validate().unwrap_err();
    let paths: Vec<&str> = invalid.0.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["name", "image", "port", "env_vars.K", "volumes[0]"]);
    let shown = invalid.to_string();
    assert!(
        shown.contains("port: is missing or 0, and the transport is HTTP: give a port from 1 to 65535; "),
        "{shown}"
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(invalid.0[0].kind, ProblemKind::Empty);
}

#[test]
fn a_document_with_every_key_contradicts_itself() {
    let found = problems(&parse(EVERY_KEY));
    let kinds: Vec<&str> = found.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["StrippedToken", "StrippedToken", "Upstreams"]);
}
