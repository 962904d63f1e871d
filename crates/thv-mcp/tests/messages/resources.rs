//! What calls are found to be about.

use serde_json::{Value, json};
use thv_mcp::{Call, Resource, decode};

fn call(method: &str, params: Value) -> Call {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    decode(body.to_string().as_bytes()).unwrap().call().unwrap().clone()
}

#[test]
fn a_call_is_about_what_the_table_says() {
    for (method, params, expected) in [
        ("initialize", json!({"clientInfo": {"name": "c"}}), "c"),
        ("tools/call", json!({"name": "t", "arguments": {"name": "x"}}), "t"),
        ("tools/call", json!({"name": 5}), ""),
        (
            "tools/call",
            json!({"name": "zwölf Boxkämpfer jagen Viktor quer über den Deich"}),
            "zwölf Boxkämpfer jagen Viktor quer über den Deich",
        ),
        ("prompts/get", json!({"name": "p"}), "p"),
        ("resources/read", json!({"uri": "file:///a"}), "file:///a"),
        ("resources/subscribe", json!({"uri": "u"}), "u"),
        ("resources/unsubscribe", json!({"uri": "u"}), "u"),
        ("tools/list", json!({"cursor": "c"}), "c"),
        ("tools/list", json!({"cursor": ""}), ""),
        ("prompts/list", json!({}), ""),
        ("resources/list", json!({"cursor": "c"}), "c"),
        ("resources/templates/list", json!({"cursor": "c"}), "c"),
        ("roots/list", json!({"cursor": "c"}), "c"),
        ("tasks/list", json!({"cursor": "c"}), "c"),
        ("logging/setLevel", json!({"level": "debug"}), "debug"),
        ("completion/complete", json!({"ref": {"name": "n", "uri": "u"}}), "n"),
        ("completion/complete", json!({"ref": {"uri": "u"}}), "u"),
        ("completion/complete", json!({"ref": "r"}), "r"),
        ("elicitation/create", json!({"message": "m"}), "m"),
        ("sampling/createMessage", json!({"modelPreferences": {"name": "m", "hints": [{"name": "h"}]}}), "m"),
        ("sampling/createMessage", json!({"modelPreferences": {"hints": [{"name": "h"}, 5]}}), "h"),
        ("sampling/createMessage", json!({"systemPrompt": "ä".repeat(30)}), "äääääääääääääääääääääääää"),
        (
            "sampling/createMessage",
            json!({"systemPrompt": "a".to_owned() + &"ä".repeat(30)}),
            "aääääääääääääääääääääääää",
        ),
        ("sampling/createMessage", json!({}), ""),
        ("tasks/get", json!({"taskId": "t"}), "t"),
        ("tasks/cancel", json!({"taskId": "t"}), "t"),
        ("tasks/result", json!({"taskId": "t"}), "t"),
        ("tasks/update", json!({"taskId": "t"}), "t"),
        ("notifications/progress", json!({"progressToken": 12}), "12"),
        ("notifications/progress", json!({"progressToken": "12"}), "12"),
        ("notifications/cancelled", json!({"requestId": "r"}), "r"),
        ("notifications/tasks/status", json!({"taskId": "t"}), "t"),
        ("notifications/elicitation/complete", json!({"elicitationId": "e"}), "e"),
        ("notifications/message", json!({"method": "m"}), "m"),
        ("ping", json!({"name": "x"}), "ping"),
        ("notifications/initialized", json!({}), "initialized"),
        ("notifications/roots/list_changed", json!({}), "roots"),
        ("notifications/prompts/list_changed", json!({}), "prompts"),
        ("notifications/resources/list_changed", json!({}), "resources"),
        ("notifications/resources/updated", json!({"uri": "u"}), "resources"),
        ("notifications/tools/list_changed", json!({}), "tools"),
        ("server/discover", json!({}), "discover"),
        ("subscriptions/listen", json!({"name": "x"}), ""),
        ("x/y", json!({"name": "x"}), ""),
    ] {
        assert_eq!(call(method, params.clone()).resource.as_str(), expected, "{method} {params}");
    }
}

#[test]
fn metrics_count_by_names_and_not_by_what_comes_and_goes() {
    for (method, params, label) in [
        ("tools/call", json!({"name": "t"}), "t"),
        ("ping", json!({}), "ping"),
        ("tools/list", json!({"cursor": "c"}), ""),
        ("tasks/get", json!({"taskId": "t"}), ""),
        ("notifications/progress", json!({"progressToken": 12}), ""),
        ("elicitation/create", json!({"message": "m"}), ""),
    ] {
        assert_eq!(call(method, params).resource.label(), label, "{method}");
    }
    assert_eq!(Resource::default().label(), "");
}

#[test]
fn what_a_server_would_forget_is_noticed() {
    assert!(call("resources/subscribe", json!({"uri": "u"})).leaves_state());
    assert!(call("tools/call", json!({"name": "t", "task": {"ttl": 1}})).leaves_state());
    assert!(call("tasks/get", json!({"taskId": "t"})).leaves_state());
    assert!(!call("tools/call", json!({"name": "t", "task": null})).leaves_state());
    assert!(!call("tools/list", json!({})).leaves_state());
}

#[test]
fn members_that_only_a_nested_object_has_twice_are_refused_too() {
    for (method, params) in [
        ("initialize", r#"{"clientInfo":{"name":"a","Name":"b"}}"#),
        ("completion/complete", r#"{"ref":{"name":"a","name":"b"}}"#),
        ("completion/complete", r#"{"ref":{"uri":"a","URI":"b"}}"#),
        ("sampling/createMessage", r#"{"modelPreferences":{"hints":[],"hints":[]}}"#),
        ("completion/complete", r#"{"ref":{"\ud800":1,"name":"b"}}"#),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        assert!(decode(body.as_bytes()).is_err(), "{body}");
    }
}
