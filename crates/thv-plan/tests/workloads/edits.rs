//! What is changed: every leaf, to another value. The tests against an API server do the same.

use serde_json::{Value, json};

/// Another value for a leaf of a spec, with which everything that comes of it is still accepted.
pub(crate) fn another(pointer: &str, value: &Value) -> Value {
    let last = pointer.rsplit('/').next().unwrap();
    match (pointer, last, value) {
        ("/imagePullPolicy", ..) => json!("Never"),
        ("/modelCache/accessMode", ..) => json!("ReadWriteMany"),
        // There is a volume of this name as well.
        (_, "name", Value::String(text))
            if ["model-cache", "registry-server-config", "pgpass"].contains(&text.as_str()) =>
        {
            json!("scratch")
        }
        // Nobody mounts these.
        (_, "name", Value::String(text)) if ["scratch", "data", "more"].contains(&text.as_str()) => {
            json!(format!("{text}-other"))
        }
        (_, "medium", _) => json!("HugePages"),
        (_, "cpu" | "memory" | "size" | "sizeLimit", Value::String(text)) => json!(format!("1{text}")),
        (_, _, Value::String(text)) => json!(format!("{text}-2")),
        (_, _, Value::Number(number)) => json!(number.as_i64().unwrap() + 1),
        (_, _, Value::Bool(value)) => json!(!value),
        _ => panic!("{pointer}: {value}"),
    }
}
