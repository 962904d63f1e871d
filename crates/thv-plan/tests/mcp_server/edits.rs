//! What is changed: every leaf, to another value. The tests against an API server do the same.

use serde_json::{Value, json};

/// Another value for a leaf of the spec of a server; some cannot be changed by appending to them.
pub(crate) fn another(pointer: &str, value: &Value) -> Value {
    let last = pointer.rsplit('/').next().unwrap();
    match (pointer, last, value) {
        ("/transport" | "/proxyMode", ..) => json!("sse"),
        ("/sessionAffinity", ..) => json!("None"),
        ("/sessionStorage/provider", ..) => json!("memory"),
        ("/permissionProfile/type", ..) => json!("builtin"),
        ("/authzConfig/type", ..) => json!("configMap"),
        ("/authzConfig/inline/entitiesJson", ..) => json!("[{}]"),
        ("/authzConfig/inline/policies/0", ..) => json!("forbid(principal, action, resource);"),
        ("/sessionStorage/keyPrefix", ..) => json!("other:"),
        (_, "groupEntityType", Value::String(text)) => json!(format!("{text}2")),
        (_, "refillPeriod", _) => json!("2m0s"),
        (_, "cpu" | "memory", Value::String(text)) => json!(format!("1{text}")),
        (_, _, Value::String(text)) => json!(format!("{text}-2")),
        (_, _, Value::Number(number)) => json!(number.as_i64().unwrap() + 1),
        (_, _, Value::Bool(value)) => json!(!value),
        _ => panic!("{pointer}: {value}"),
    }
}

pub(crate) fn leaves(value: &Value, pointer: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{pointer}/{index}"), all);
            }
        }
        Value::Null => {}
        _ => all.push(pointer.to_owned()),
    }
}

/// Another value for a leaf of what a server refers to.
pub(crate) fn far_another(pointer: &str, value: &Value) -> Value {
    match pointer.rsplit('/').next().unwrap() {
        "samplingRate" => json!("0.2"),
        "failurePolicy" => json!("ignore"),
        "timeout" => json!("6s"),
        "type" => json!("kubernetesServiceAccount"),
        _ => another(pointer, value),
    }
}
