//! What is refused when reading.

use thv_config::vmcp::{Files, ParseError, ReadError};

use crate::support::{AUTH_SERVER, EVERY_KEY, MINIMAL, parse};

/// The message about a document that has these lines besides those of the smallest one.
fn message(more: &str) -> String {
    parse(&format!("{MINIMAL}{more}"), None).unwrap_err().to_string()
}

/// The message about the smallest document with one line in place of another.
fn changed(line: &str, other: &str) -> String {
    assert!(MINIMAL.contains(line));
    parse(&MINIMAL.replace(line, other), None).unwrap_err().to_string()
}

#[test]
fn the_smallest_document_is_read() {
    assert_eq!(parse(MINIMAL, None).unwrap().name, "demo");
}

#[test]
fn errors_name_the_file_and_the_place_and_say_what_to_do() {
    for (more, expected) in [
        ("optimiser: {}\n", "config.yaml: has keys that are not known: optimiser: correct or remove them"),
        (
            "codeMode: {enable: true}\nbackend: []\n",
            "config.yaml: has keys that are not known: codeMode.enable, backend: correct or remove them",
        ),
        ("codemode: {}\n", "config.yaml: codemode: the case of letters counts in keys: write codeMode"),
        (
            "operational: {timeouts: {default: 30}}\n",
            "config.yaml: operational.timeouts.default: has to be a text, and is a number: put it in quotes",
        ),
        (
            "operational: {timeouts: {default: half a minute}}\n",
            "config.yaml: operational.timeouts.default: has to be a duration",
        ),
        (
            "backends: [{name: a, url: 'http://a', transport: stdio}]\n",
            "config.yaml: backends[0].transport: has to be one of sse streamable-http",
        ),
        (
            "sessionStorage: {address: a}\n",
            "config.yaml: sessionStorage: the key provider is missing: add it",
        ),
        ("codeMode: {enabled: yes}\n", "config.yaml: codeMode.enabled: has to be a boolean, and is a text"),
        ("name: other\n", "config.yaml: line 6, column 1: the key is there twice: keep one of them"),
        (
            "compositeTools: [{steps: [{step: {step: 1}}]}]\n",
            "config.yaml: compositeTools[0].steps[0].step.step: ",
        ),
        (
            "rateLimiting: {shared: {maxTokens: 1, refillPeriod: {seconds: 5}}}\n",
            "config.yaml: rateLimiting.shared.refillPeriod: has to be a text, and is an object",
        ),
    ] {
        let shown = message(more);
        assert!(shown.starts_with(expected), "{more}: {shown}");
    }
}

#[test]
fn what_has_no_default_must_be_there() {
    for (line, expected) in [
        ("incomingAuth: {type: anonymous}\n", "config.yaml: the key incomingAuth is missing: add it"),
        ("outgoingAuth: {source: inline}\n", "config.yaml: the key outgoingAuth is missing: add it"),
        (
            "aggregation: {conflictResolution: prefix}\n",
            "config.yaml: the key aggregation is missing: add it",
        ),
    ] {
        assert_eq!(changed(line, ""), expected);
    }
    assert_eq!(parse("", None).unwrap_err().to_string(), "config.yaml: has to be an object, and is null");
}

#[test]
fn callers_are_of_one_kind() {
    let type_ = "{type: anonymous}";
    for (other, expected) in [
        ("{type: oauth}", "config.yaml: incomingAuth.type: has to be one of anonymous local oidc"),
        (
            "{type: oidc}",
            "config.yaml: incomingAuth: has the type oidc, and the key oidc is missing: name the",
        ),
        (
            "{type: anonymous, oidc: {issuer: 'https://a'}}",
            "config.yaml: incomingAuth: has the key oidc, and its type is another: write type: oidc",
        ),
    ] {
        let shown = changed(type_, other);
        assert!(shown.starts_with(expected), "{shown}");
    }
}

#[test]
fn a_strategy_has_the_settings_of_its_type() {
    let source = "{source: inline}";
    for (strategy, expected) in [
        ("{type: discovered}", ".type: has to be one of unauthenticated header_injection token_exchange"),
        ("{type: xaa}", ": has the type xaa, and no settings for it: add them"),
        ("{type: xaa, obo: {}}", ": has the type xaa and the key obo: keep what goes with the type"),
        (
            "{type: unauthenticated, awsSts: {region: a}}",
            ": has the type unauthenticated and the key awsSts: keep what goes with the type",
        ),
        ("{type: obo, obo: {}, xaa: {}}", ": has the keys obo and xaa: keep the one that goes with the type"),
    ] {
        let shown = changed(source, &format!("{{source: inline, default: {strategy}}}"));
        assert!(shown.starts_with(&format!("config.yaml: outgoingAuth.default{expected}")), "{shown}");
    }
}

#[test]
fn the_file_of_the_authorization_server_is_read_as_strictly() {
    let text = AUTH_SERVER.replace("issuer:", "isuer:");
    let error = parse(EVERY_KEY, Some(&text)).unwrap_err();
    let unknown = ParseError::Unknown(vec!["isuer".to_owned()]);
    assert_eq!(error, ReadError::File { file: Files::AUTH_SERVER, error: unknown });
}

#[test]
fn null_stands_for_nothing() {
    let text = format!(
        "{MINIMAL}backends:\noperational:\nmetadata: ~\naudit: null\noptimizer:\nrateLimiting:\npassthroughHeaders:\n"
    );
    assert_eq!(parse(&text, None).unwrap(), parse(MINIMAL, None).unwrap());
}

#[test]
fn errors_quote_no_values() {
    for more in [
        "name: hunter2\n",
        "telemetry: {headers: [hunter2]}\n",
        "telemetry: {tracingEnabled: hunter2}\n",
        "optimizer: {embeddingHeaders: {a: [hunter2]}}\n",
        "optimizer: {embeddingProvider: openai, embeddingHeaders: {Authorization: hunter2}}\n",
        "backends: [{name: a, url: 'hunter2', transport: sse}]\n",
        "codeMode: \"hunter2\n",
    ] {
        let shown = message(more);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
