//! What is refused when reading, what is tolerated, and what is never shown.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod support;

use support::{EVERY_KEY, GOLDEN, MINIMAL, parse, text};
use thv_config::middleware::MiddlewareError;
use thv_config::outgoing::TokenExchangeConfig;
use thv_config::run_config::{ParseError, WriteError};
use thv_config::{Checksum, ProxyMode, RunConfig, Secret, Transport};

fn error(text: &str) -> ParseError {
    RunConfig::parse(text.as_bytes()).unwrap_err()
}

#[test]
fn what_is_not_json_is_refused_with_its_position() {
    for (text, line) in
        [("", 1), ("{", 1), ("{\n\"name\": }", 2), ("{\"transport\":\"stdio\"} {}", 1), ("nil", 1)]
    {
        let ParseError::Syntax { line: at, .. } = error(text) else { panic!("{text}: {:?}", error(text)) };
        assert_eq!(at, line, "{text}");
    }
    assert!(matches!(error(&"[".repeat(100_000)), ParseError::Syntax { .. }));
    assert!(RunConfig::parse(b"{\"name\":\"\xff\"}").is_err());
}

#[test]
fn a_key_that_is_there_twice_is_refused_wherever_it_is() {
    for (text, place) in [
        (r#"{"name":"a","transport":"stdio","name":"b"}"#, ""),
        (r#"{"transport":"stdio","env_vars":{"A":"1","A":"2"}}"#, "env_vars"),
        (
            r#"{"transport":"stdio","middleware_configs":[{"parameters":{"x":1,"x":2}}]}"#,
            "middleware_configs[0].parameters",
        ),
        (r#"{"transport":"stdio","new":{"x":1,"x":2}}"#, "new"),
    ] {
        let ParseError::Ambiguous(malformed) = error(text) else { panic!("{text}") };
        assert_eq!(malformed.path(), place, "{malformed}");
        assert!(malformed.problem().contains("is there twice: keep one"), "{malformed}");
    }
}

#[test]
fn errors_name_the_place_and_say_what_to_do() {
    for (text, message) in [
        (r#"{"transport":"pipe"}"#, "transport: has to be one of stdio sse streamable-http"),
        (r#"{"transport":"inspector"}"#, "transport: has to be one of"),
        (r#"{"transport":""}"#, "transport: has to be one of"),
        (r#"{"transport":null}"#, "transport: is missing: write stdio"),
        ("{}", "transport: is missing: write stdio"),
        (r#"{"transport":"stdio","proxy_mode":"stdio"}"#, "proxy_mode: has to be one of sse streamable-http"),
        (r#"{"transport":"sse","port":65536}"#, "port: has to be a port from 1 to 65535"),
        (r#"{"transport":"sse","port":"80"}"#, "port: has to be a port from 1 to 65535"),
        (r#"{"transport":"sse","target_port":-1}"#, "target_port: has to be a port"),
        (r#"{"transport":"sse","session_ttl":"2 hours"}"#, "session_ttl: has to be a duration"),
        (
            r#"{"transport":"sse","OIDC_config":{}}"#,
            "OIDC_config: the case of letters counts in keys: write oidc_config",
        ),
        (
            r#"{"transport":"sse","oidc_config":{"issuer":""}}"#,
            "oidc_config.issuer: the case of letters counts in keys: write Issuer",
        ),
        (r#"{"transport":"sse","volumes":["a:b",7]}"#, "volumes[1]: has to be a text, and is a number"),
        (
            r#"{"transport":"sse","rate_limit_config":{"shared":{"maxTokens":1}}}"#,
            "rate_limit_config.shared: the key refillPeriod is missing: add it",
        ),
        (r#"["transport"]"#, "has to be an object, and is a list"),
    ] {
        let shown = error(text).to_string();
        assert!(shown.starts_with(message), "{text}: {shown}");
    }
}

#[test]
fn unknown_keys_are_tolerated_and_listed() {
    let document = MINIMAL.replacen(
        "\"proxy_mode\"",
        "\"tunnel\": {\"a\": 1},\n\"scaling_config\": {\"max\": 3},\n\"proxy_mode\"",
        1,
    );
    let decoded = RunConfig::parse(document.as_bytes()).unwrap();
    assert_eq!(decoded.unknown, ["tunnel", "scaling_config.max"]);
    assert_eq!(decoded.value.name, "notes");
}

#[test]
fn null_stands_for_nothing() {
    let text = r#"{"transport":"stdio","env_vars":null,"container_labels":null,"cmd_args":null,"volumes":null,
        "secrets":null,"port":null,"debug":null,"session_ttl":null,"proxy_mode":"","oidc_config":null}"#;
    assert_eq!(parse(text), parse(r#"{"transport":"stdio"}"#));
}

#[test]
fn what_may_be_left_out_is_filled_in_on_request() {
    for (text, mode) in [
        (r#"{"transport":"stdio"}"#, ProxyMode::StreamableHttp),
        (r#"{"transport":"stdio","proxy_mode":"sse"}"#, ProxyMode::Sse),
        (r#"{"transport":"sse"}"#, ProxyMode::Sse),
        (r#"{"transport":"sse","proxy_mode":"streamable-http"}"#, ProxyMode::Sse),
    ] {
        let mut config = parse(text);
        assert_eq!(config.effective_mode(), mode, "{text}");
        config.normalise();
        assert_eq!((config.proxy_mode, config.schema_version.as_str()), (Some(mode), "v0.1.0"), "{text}");
    }
    for (name, golden) in GOLDEN {
        let mut config = parse(golden);
        config.normalise();
        assert_eq!(text(&config), *golden, "{name}");
    }
}

#[test]
fn a_middleware_that_nobody_knows_is_read_and_named() {
    let config =
        parse(r#"{"transport":"stdio","middleware_configs":[{"type":"turnstile","parameters":{"a":[]}}]}"#);
    let entry = &config.middleware_configs[0];
    assert_eq!(entry.decode(), Err(MiddlewareError::Unknown("turnstile".to_owned())));
    let config = parse(
        r#"{"transport":"stdio","middleware_configs":[{"type":"bodylimit","parameters":{"max_bytes":"8"}}]}"#,
    );
    let shown = config.middleware_configs[0].decode().unwrap_err().to_string();
    assert_eq!(
        shown,
        "middleware \"bodylimit\": parameters.max_bytes: has to be a whole number in its range, and is a text"
    );
    let config =
        parse(r#"{"transport":"stdio","middleware_configs":[{"type":"recovery","parameters":{"deep":1}}]}"#);
    assert_eq!(config.middleware_configs[0].decode().unwrap().unknown, ["parameters.deep"]);
}

/// A document full of credentials, all of them the same.
fn leaky() -> RunConfig {
    let text = r#"{
        "transport": "sse", "remote_url": "https://u:hunter2@example.org/?key=hunter2", "cmd_args": ["--key=hunter2"],
        "env_vars": {"KEY": "hunter2"}, "k8s_pod_template_patch": "hunter2", "authz_config": {"key": "hunter2"},
        "oidc_config": {"ClientSecret": "hunter2"},
        "token_exchange_config": {"client_secret": "hunter2"},
        "remote_auth_config": {"client_secret": "hunter2", "bearer_token": "hunter2", "oauth_params": {"k": "hunter2"},
            "headers": [{"default": "hunter2"}]},
        "telemetry_config": {"headers": {"authorization": "hunter2"}},
        "header_forward": {"add_plaintext_headers": {"authorization": "hunter2"}},
        "validating_webhooks": [{"url": "https://example.org/hunter2"}],
        "embedded_auth_server_config": {"upstreams": [{"type": "oauth2", "oauth2_config": {
            "userinfo": {"additional_headers": {"authorization": "hunter2"}},
            "additional_authorization_params": {"k": "hunter2"},
            "dcr_config": {"software_statement": "hunter2"}}}]},
        "middleware_configs": [{"type": "auth", "parameters": {"oidc_config": {"ClientSecret": "hunter2"}}}]
    }"#;
    parse(text)
}

#[test]
fn credentials_are_not_shown() {
    let config = leaky();
    for shown in [format!("{config:?}"), format!("{config:#?}")] {
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("\"KEY\""), "{shown}");
    }
    let middleware = format!("{:?}", config.middleware_configs[0].decode().unwrap());
    assert!(!middleware.contains("hunter2"), "{middleware}");
}

#[test]
#[allow(clippy::large_stack_arrays, reason = "a handful of documents")]
fn credentials_are_not_written() {
    let leaky = leaky();
    let base = || RunConfig { transport: Transport::Sse, ..RunConfig::default() };
    for (config, path) in [
        (RunConfig { oidc_config: leaky.oidc_config.clone(), ..base() }, "oidc_config"),
        (
            RunConfig { token_exchange_config: leaky.token_exchange_config.clone(), ..base() },
            "token_exchange_config",
        ),
        (RunConfig { remote_auth_config: leaky.remote_auth_config.clone(), ..base() }, "remote_auth_config"),
        (
            RunConfig { middleware_configs: leaky.middleware_configs.clone(), ..base() },
            "middleware_configs[0].parameters.oidc_config",
        ),
        (
            RunConfig { additional_middleware_configs: leaky.middleware_configs.clone(), ..base() },
            "additional_middleware_configs[0].parameters.oidc_config",
        ),
    ] {
        let error = config.to_bytes().unwrap_err();
        assert_eq!(error, WriteError::Secret { path: path.to_owned() });
        assert!(error.to_string().ends_with("hand it over by environment variable or file"), "{error}");
    }
    let decoded = leaky.middleware_configs[0].decode().unwrap();
    let refused = decoded.value.to_config().unwrap_err();
    assert_eq!(refused, WriteError::Secret { path: "parameters.oidc_config".to_owned() });
    let exchange =
        TokenExchangeConfig { client_secret: Secret::new("hunter2"), ..TokenExchangeConfig::default() };
    assert!(!serde_json::to_string(&exchange).unwrap_err().to_string().contains("hunter2"));
}

#[test]
fn the_checksum_is_that_of_the_bytes() {
    for (name, golden) in GOLDEN {
        assert_eq!(parse(golden).checksum().unwrap(), Checksum::of(golden.as_bytes()), "{name}");
    }
    assert_ne!(Checksum::of(MINIMAL.as_bytes()), Checksum::of(EVERY_KEY.as_bytes()));
}

#[test]
fn two_spellings_of_one_key_are_refused() {
    let text = r#"{"transport":"sse","remote_auth_config":{"client_id":"a","ClientID":"b"}}"#;
    let shown = error(text).to_string();
    assert_eq!(
        shown,
        "remote_auth_config: the key client_id is there twice, in two spellings: keep client_id"
    );
}
