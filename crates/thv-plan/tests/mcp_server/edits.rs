//! What is changed: every leaf, to another value. The tests against an API server do the same.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Not the rules that the examples have.
const NOBODY: &str = "forbid(principal, action, resource);";
/// Not the entities that the examples have.
const ENTITIES: &str = r#"[{"uid": {"type": "Team", "id": "web"}}]"#;

/// Another value for a leaf of the spec of a server; some cannot be changed by appending to them.
pub(crate) fn another(pointer: &str, value: &Value) -> Value {
    let last = pointer.rsplit('/').next().unwrap();
    match (pointer, last, value) {
        ("/transport" | "/proxyMode", ..) => json!("sse"),
        ("/sessionAffinity", ..) => json!("None"),
        ("/sessionStorage/provider", ..) => json!("memory"),
        ("/permissionProfile/type", ..) => json!("builtin"),
        ("/authzConfig/type", ..) => json!("configMap"),
        ("/authzConfig/inline/entitiesJson", ..) => json!(ENTITIES),
        ("/authzConfig/inline/policies/0", ..) => json!(NOBODY),
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
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            for (key, value) in sorted {
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
    match (pointer.rsplit('/').next().unwrap(), value.as_str().unwrap_or_default()) {
        ("samplingRate", _) => json!("0.2"),
        ("failurePolicy", _) => json!("ignore"),
        ("timeout", "5s") => json!("6s"),
        ("httpMethod", _) => json!("POST"),
        ("claim_mapping", _) => json!("mpe"),
        ("entities_json", _) => json!(ENTITIES),
        ("0", _) if pointer.ends_with("/policies/0") => json!(NOBODY),
        // Names that take no hyphen.
        ("subjectClaim" | "group_entity_type", text) => json!(format!("{text}2")),
        ("type", "inline") => json!("kubernetesServiceAccount"),
        ("type", "tokenExchange" | "embeddedAuthServer") => json!("unauthenticated"),
        ("type", "cedarv1") => json!("httpv1"),
        ("type", "httpv1") => json!("cedarv1"),
        ("type", "oidc") => json!("oauth2"),
        ("type", "oauth2") => json!("oidc"),
        ("type", "redis") => json!("memory"),
        (last, text) if DURATIONS.iter().any(|end| last.ends_with(end)) => json!(format!("1{text}")),
        _ => another(pointer, value),
    }
}

/// How the names of fields end that hold a duration.
const DURATIONS: [&str; 4] = ["Lifespan", "Timeout", "Age", "Ttl"];

/// What servers refer to, with a twin of each and of every key in it, so that a reference can lead to another one.
pub(crate) fn with_twins(objects: Vec<Value>) -> Vec<Value> {
    let mut all = Vec::new();
    for mut object in objects {
        for entries in ["data", "stringData"] {
            if let Some(entries) = object.get_mut(entries).and_then(Value::as_object_mut) {
                let twins: Vec<_> = entries.iter().map(|(key, value)| (twin(key), value.clone())).collect();
                entries.extend(twins);
            }
        }
        let mut other = object.clone();
        other["metadata"]["name"] = json!(twin(object["metadata"]["name"].as_str().unwrap()));
        all.extend([object, other]);
    }
    all
}

fn twin(name: &str) -> String {
    format!("{name}-2")
}
