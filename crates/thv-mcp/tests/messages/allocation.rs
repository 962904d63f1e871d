//! That the common way of a request costs no memory.

use allocation_counter::measure;
use thv_mcp::{Era, Message, check_headers, decode, era, headers};

#[test]
fn decoding_a_known_method_allocates_nothing() {
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":"6f1c0b8e-8a3f-4d8e","method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Bern"},"_meta":{"progressToken":3}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///tmp/a.txt"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
    ] {
        assert_eq!(measure(|| drop(decode(body.as_bytes()))).count_total, 0, "{body}");
    }
}

#[test]
fn nesting_that_is_skipped_costs_eight_bytes() {
    // serde_json keeps a byte for each level, in a buffer that starts empty.
    for body in [
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","arguments":{"a":[{"b":[1]}]}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ] {
        let cost = measure(|| drop(decode(body.as_bytes())));
        assert_eq!((cost.count_total, cost.bytes_total), (1, 8), "{body}");
    }
}

#[test]
fn a_long_body_is_not_copied() {
    let argument = "x".repeat(1 << 20);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{{"a":"{argument}\n"}}}}}}"#
    );
    let cost = measure(|| assert!(decode(body.as_bytes()).is_ok()));
    assert!(cost.bytes_max < 1024, "{cost:?}");
}

#[test]
fn the_era_and_headers_of_a_request_cost_nothing_either() {
    let message = decode(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#).unwrap();
    let headers = http::HeaderMap::from_iter([
        (headers::PROTOCOL_VERSION, http::HeaderValue::from_static("2026-07-28")),
        (headers::METHOD, http::HeaderValue::from_static("tools/call")),
        (headers::NAME, http::HeaderValue::from_static("=?base64?dA==?=")),
    ]);
    let judge = |message: &Message| {
        assert_eq!(era(Some(message), &headers), Era::Modern);
        assert_eq!(check_headers(message, Era::Modern, &headers), Ok(()));
    };
    assert_eq!(measure(|| judge(&message)).count_total, 0);
}
