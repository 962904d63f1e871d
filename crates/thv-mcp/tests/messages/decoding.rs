//! Which bodies are messages, and which are not.

use thv_mcp::{Flaw, Malformed, Message, Method, decode};

/// An envelope with these members beside the version.
fn decoded(members: &str) -> Result<Message, Malformed> {
    decode(format!(r#"{{"jsonrpc":"2.0",{members}}}"#).as_bytes())
}

fn flaw(members: &str) -> Flaw {
    match decoded(members) {
        Err(Malformed::Envelope(flaw)) => flaw,
        other => panic!("{members}: {other:?}"),
    }
}

#[test]
fn there_are_requests_notifications_and_responses() {
    let request = decoded(r#""id":7,"method":"ping""#).unwrap();
    assert_eq!(request.id().unwrap().raw(), "7");
    assert_eq!(request.call().unwrap().method, Method::Ping);
    for notification in [r#""method":"notifications/initialized""#, r#""method":"ping","id":null"#] {
        let notification = decoded(notification).unwrap();
        assert!(
            matches!(&notification, Message::Notification(call) if call.id.is_none()),
            "{notification:?}"
        );
    }
    for response in [
        r#""id":"a","result":null"#,
        r#""id":"a","error":{"code":1}"#,
        r#""id":"a","result":{},"error":null"#,
    ] {
        let response = decoded(response).unwrap();
        assert!(matches!(&response, Message::Response(id) if id.raw() == "\"a\""), "{response:?}");
        assert!(response.id().is_none(), "nobody answers an answer");
    }
}

#[test]
fn an_id_stays_as_it_was_sent() {
    for id in ["0", "-1", "18446744073709551616", "9007199254740993", r#""""#, r#""a\u0062\"""#, r#""ü""#] {
        assert_eq!(decoded(&format!(r#""id": {id} ,"method":"ping""#)).unwrap().id().unwrap().raw(), id);
    }
    for id in ["1.0", "1e3", "1E3", "-0.5", "true", "[1]", "{}"] {
        assert_eq!(flaw(&format!(r#""id":{id},"method":"ping""#)), Flaw::Id, "{id}");
    }
    assert_eq!(flaw(r#""result":{}"#), Flaw::Id);
    assert_eq!(flaw(r#""id":"\ud800","method":"ping""#), Flaw::Unreadable);
}

#[test]
fn what_is_not_json_and_what_is_not_a_message_are_told_apart() {
    for body in
        ["", " ", "{", "nonsense", "{} {}", "{\"a\":01}", "\u{feff}{}", "{\"a\":\"\u{1}\"}", "5 5", "{'a':1}"]
    {
        assert_eq!(decode(body.as_bytes()), Err(Malformed::Syntax), "{body:?}");
    }
    assert_eq!(decode(b"{\"a\":\"\xff\"}"), Err(Malformed::Syntax));
    for body in ["[", " \r\n\t[{}]", "[]", "[nonsense"] {
        assert_eq!(decode(body.as_bytes()), Err(Malformed::Batch), "{body:?}");
    }
    for body in ["null", "5", "\"text\"", "true"] {
        assert_eq!(decode(body.as_bytes()), Err(Malformed::Envelope(Flaw::NotAnObject)), "{body:?}");
    }
}

#[test]
fn an_envelope_has_a_version_a_method_and_params_of_the_right_kind() {
    for body in [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
    ] {
        assert_eq!(decode(body.as_bytes()), Err(Malformed::Envelope(Flaw::Version)), "{body}");
    }
    for method in ["\"\"", "5", "null", "[]"] {
        assert_eq!(flaw(&format!(r#""id":1,"method":{method}"#)), Flaw::Method, "{method}");
    }
    for params in ["[]", "5", "\"x\"", "true"] {
        assert_eq!(flaw(&format!(r#""id":1,"method":"ping","params":{params}"#)), Flaw::Params, "{params}");
    }
    for members in [r#""id":1"#, r#""id":1,"error":null"#, r#""id":1,"method":"ping","result":{}"#] {
        assert_eq!(flaw(members), Flaw::Kind, "{members}");
    }
    assert!(decoded(r#""id":1,"method":"ping","params":null,"result":null,"error":null,"x":1"#).is_ok());
}

#[test]
fn a_member_of_the_envelope_in_two_places_or_another_case_is_refused() {
    let base = r#""id":1,"method":"tools/call","params":{"name":"a"}"#;
    assert!(decoded(base).is_ok());
    for extra in [
        r#""method":"ping""#,
        r#""Method":"ping""#,
        r#""METHOD":"ping""#,
        r#""m\u0065thod":"ping""#,
        r#""id":1"#,
        r#""ID":2"#,
        r#""İd":2"#,
        r#""params":{"name":"a"}"#,
        r#""Params":{}"#,
        r#""paramſ":{}"#,
        r#""jſonrpc":"2.0""#,
        r#""JSONRPC":"2.0""#,
        r#""Result":null"#,
        r#""Error":null"#,
    ] {
        assert_eq!(flaw(&format!("{base},{extra}")), Flaw::Repeated, "{extra}");
        assert_eq!(flaw(&format!("{extra},{base}")), Flaw::Repeated, "{extra}");
    }
    for extra in [r#""methods":1"#, r#""_id":1"#, r#""x":1,"x":2"#, r#""méthod":1"#] {
        assert!(decoded(&format!("{base},{extra}")).is_ok(), "{extra}");
    }
}

#[test]
fn what_is_decided_upon_in_params_is_there_once_or_refused() {
    let call = |params: &str| decoded(&format!(r#""id":1,"method":"tools/call","params":{{{params}}}"#));
    for params in [
        r#""name":"a","name":"b""#,
        r#""name":"a","Name":"b""#,
        r#""NAME":"b""#,
        r#""name":"a","arguments":{},"arguments":{}"#,
        r#""name":"a","Arguments":{}"#,
        r#""name":"a","argumentſ":{}"#,
        r#""name":"a","_meta":{},"_meta":{}"#,
        r#""name":"a","_META":{}"#,
        r#""name":"a","_meta":{"io.modelcontextprotocol/clientInfo":1,"io.modelcontextprotocol/clientInfo":1}"#,
        r#""name":"a","_meta":{"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"}"#,
        r#""name":"a","task":{},"Task":{}"#,
    ] {
        assert_eq!(call(params), Err(Malformed::Envelope(Flaw::Params)), "{params}");
    }
    assert_eq!(call(r#""name":"\udc00""#), Err(Malformed::Envelope(Flaw::Unreadable)));
    for params in [
        r#""name":"a","names":1,"names":2"#,
        r#""name":"a","arguments":{"name":1,"Name":2,"name":3,"lone":"\ud800","big":1e999}"#,
        r#""name":"a","_meta":{"Traceparent":"x","traceparent":"y","traceparent":"z"}"#,
    ] {
        assert!(call(params).is_ok(), "{params}");
    }
    // A method of which nobody here knows what its members mean may have what it wants.
    assert!(decoded(r#""id":1,"method":"x/y","params":{"Name":"a","NAME":"b"}"#).is_ok());
    assert_eq!(flaw(r#""id":1,"method":"x/y","params":{"_Meta":{}}"#), Flaw::Params);
}

#[test]
fn deep_nesting_is_refused_before_anybody_follows_it() {
    let nested = |depth: usize| {
        let value = "[".repeat(depth) + &"]".repeat(depth);
        decoded(&format!(
            r#""id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"a":{value}}}}}"#
        ))
    };
    assert!(nested(124).is_ok());
    assert_eq!(nested(125), Err(Malformed::Envelope(Flaw::TooDeep)));
    assert_eq!(decode("{\"a\":[".repeat(1 << 20).as_bytes()), Err(Malformed::Envelope(Flaw::TooDeep)));
}

#[test]
fn an_error_has_the_id_exactly_as_sent_or_none() {
    let error = thv_mcp::Error::session_not_found();
    let request = decoded(r#""id":9007199254740993,"method":"ping""#).unwrap();
    let expected =
        r#"{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32001,"message":"Session not found"}}"#;
    assert_eq!(error.body(request.id()), expected);
    assert_eq!(error.body(None), expected.replace(r#""id":9007199254740993,"#, ""));
    let internal = thv_mcp::Error::internal(thv_mcp::Cause::BackendLost).body(None);
    let internal: serde_json::Value = serde_json::from_slice(&internal).unwrap();
    assert_eq!(internal["error"]["data"]["cause"], "backend_lost");
    assert_eq!(thv_mcp::error_code(&error.body(None)), Some(-32001));
    assert_eq!(thv_mcp::error_code(b"<html>"), None);
    assert_eq!(Malformed::Syntax.error().code, -32700);
    assert_eq!(Malformed::Batch.error().code, -32600);
    assert_eq!(Malformed::Envelope(Flaw::Repeated).error().code, -32600);
}
