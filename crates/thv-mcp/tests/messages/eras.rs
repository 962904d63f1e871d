//! Which era a request belongs to, and whether its headers agree with it.

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::{Value, json};
use thv_mcp::headers::{METHOD, Media, NAME, PROTOCOL_VERSION};
use thv_mcp::{Era, Message, check_headers, decode, era};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn request(method: &str, params: Value) -> Message {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    decode(body.to_string().as_bytes()).unwrap()
}

fn headers<const N: usize>(pairs: [(HeaderName, &str); N]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

#[test]
fn the_era_of_a_request_follows_from_its_message_and_header() {
    let (legacy, modern) = ("2025-11-25", "2026-07-28");
    for (meta, header, expected) in [
        (json!({}), None, Era::Legacy),
        (json!({}), Some(legacy), Era::Legacy),
        (json!({LEVEL: "debug"}), None, Era::Legacy),
        (json!({}), Some(modern), Era::Modern),
        (json!({INFO: {}}), None, Era::Modern),
        (json!({CAPABILITIES: null}), None, Era::Modern),
        (json!({INFO: {}}), Some(legacy), Era::Legacy),
        (json!({VERSION: ""}), Some(legacy), Era::Legacy),
        (json!({VERSION: 5}), Some(legacy), Era::Legacy),
        (json!({VERSION: 5}), None, Era::Modern),
        (json!({VERSION: modern}), None, Era::Modern),
        (json!({VERSION: modern}), Some(legacy), Era::Modern),
        (json!({VERSION: "2027-01-01"}), None, Era::Modern),
        (json!("text"), None, Era::Legacy),
    ] {
        let headers = header.map_or_else(HeaderMap::new, |header| headers([(PROTOCOL_VERSION, header)]));
        let message = request("tools/list", json!({"_meta": meta}));
        assert_eq!(era(Some(&message), &headers), expected, "{meta} {header:?}");
        let message = request("initialize", json!({"_meta": meta}));
        assert_eq!(era(Some(&message), &headers), Era::Legacy, "{meta} {header:?}");
    }
}

#[test]
fn the_era_of_all_else_follows_from_the_header_alone() {
    let notification =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": {INFO: {}}}});
    let notification = decode(notification.to_string().as_bytes()).unwrap();
    let response = decode(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
    for message in [None, Some(&notification), Some(&response)] {
        assert_eq!(era(message, &HeaderMap::new()), Era::Legacy);
        assert_eq!(era(message, &headers([(PROTOCOL_VERSION, "2025-11-25")])), Era::Legacy);
        assert_eq!(era(message, &headers([(PROTOCOL_VERSION, "2026-07-28")])), Era::Modern);
    }
}

#[test]
fn a_repeated_header_is_refused_in_any_era() {
    let message = request("ping", json!({}));
    for name in [PROTOCOL_VERSION, METHOD, NAME] {
        let headers = headers([(name.clone(), "same"), (name, "same")]);
        for era in [Era::Legacy, Era::Modern] {
            let error = check_headers(&message, era, &headers).unwrap_err().error();
            assert_eq!((error.code, error.data), (-32020, None));
            assert!(check_headers(None, era, &headers).is_err());
        }
    }
}

#[test]
fn a_header_that_contradicts_a_modern_body_is_refused() {
    let meta = json!({VERSION: "2026-07-28"});
    let tool = request("tools/call", json!({"name": "deploy", "_meta": meta}));
    let resource = request("resources/read", json!({"uri": "file:///ä", "_meta": meta}));
    let task = request("tasks/get", json!({"taskId": "t1", "_meta": meta}));
    let list = request("tools/list", json!({"_meta": meta, "cursor": "c"}));
    let bare = request("tools/call", json!({"name": 5}));
    for (message, header, value, fits) in [
        (&tool, PROTOCOL_VERSION, "2026-07-28", true),
        (&tool, PROTOCOL_VERSION, "2025-11-25", false),
        (&bare, PROTOCOL_VERSION, "2026-07-28", true),
        (&tool, METHOD, "tools/call", true),
        (&tool, METHOD, "Tools/Call", false),
        (&tool, METHOD, "=?base64?dG9vbHMvY2FsbA==?=", false),
        (&tool, NAME, "deploy", true),
        (&tool, NAME, "Deploy", false),
        (&tool, NAME, "", false),
        (&tool, NAME, "=?base64?ZGVwbG95?=", true),
        (&tool, NAME, "=?base64?ZGVwbG96?=", false),
        (&tool, NAME, "=?BASE64?ZGVwbG95?=", false),
        (&tool, NAME, "=?base64?ZGVwbG95", false),
        (&tool, NAME, "=?base64?%%%%?=", false),
        (&resource, NAME, "=?base64?ZmlsZTovLy/DpA==?=", true),
        (&resource, NAME, "=?base64?ZmlsZTovLy/DpA?=", false),
        (&resource, NAME, "file:///ä", true),
        (&task, NAME, "t1", true),
        (&task, NAME, "t2", false),
        (&list, NAME, "whatever", true),
        (&bare, NAME, "whatever", true),
    ] {
        let headers = headers([(header, value)]);
        assert_eq!(check_headers(message, Era::Modern, &headers).is_ok(), fits, "{headers:?}");
        assert_eq!(check_headers(message, Era::Legacy, &headers), Ok(()));
    }
    let missing = HeaderMap::new();
    assert_eq!(check_headers(&tool, Era::Modern, &missing), Ok(()));
    let mismatch = check_headers(&tool, Era::Modern, &headers([(NAME, "x")])).unwrap_err();
    assert_eq!(mismatch.error().data.as_deref(), Some(&json!({"header": "x", "body": "deploy"})));
    assert!(!format!("{mismatch:?}").contains("deploy"));
}

#[test]
fn the_examples_of_the_specification_are_understood() {
    for (name, header) in [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ] {
        let message = request("tools/call", json!({"name": name}));
        assert_eq!(check_headers(&message, Era::Modern, &headers([(NAME, header)])), Ok(()), "{name}");
    }
    let message = request("tools/call", json!({"name": "=?base64?literal?="}));
    assert!(check_headers(&message, Era::Modern, &headers([(NAME, "=?base64?literal?=")])).is_err());
}

#[test]
fn media_types_are_known_whatever_their_case_and_parameters() {
    let media = |value: &str| Media::of(&headers([(http::header::CONTENT_TYPE, value)]));
    assert_eq!(media("application/json"), Media::Json);
    assert_eq!(media("Application/JSON ; charset=utf-8"), Media::Json);
    assert_eq!(media("text/event-stream;charset=utf-8"), Media::EventStream);
    assert_eq!(media("application/json-patch+json"), Media::Other);
    assert_eq!(Media::of(&HeaderMap::new()), Media::Other);
    let twice =
        [(http::header::CONTENT_TYPE, "application/json"), (http::header::CONTENT_TYPE, "text/plain")];
    assert_eq!(Media::of(&headers(twice)), Media::Other);
}

/// Base64 the slow way: bit by bit.
fn encoded(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = text.bytes().map(|byte| format!("{byte:08b}")).collect::<Vec<_>>().concat();
    let mut letters = String::new();
    for six in bits.as_bytes().chunks(6) {
        let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
        letters.push(char::from(LETTERS[usize::from_str_radix(&six, 2).unwrap()]));
    }
    letters + &"=".repeat((3 - text.len() % 3) % 3)
}

proptest! {
    #[test]
    fn an_encoded_name_fits_that_name_only(name in ".{0,12}", other in ".{0,12}") {
        let header = format!("=?base64?{}?=", encoded(&name));
        let headers = headers([(NAME, &header)]);
        for body in [&name, &other] {
            let message = request("tools/call", json!({"name": body}));
            prop_assert_eq!(check_headers(&message, Era::Modern, &headers).is_ok(), *body == name);
        }
    }
}
