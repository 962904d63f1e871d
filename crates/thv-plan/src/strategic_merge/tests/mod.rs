//! Every expectation here is checked twice: against our merge, and against Kubernetes' own.

mod choices;
mod differential;
mod kubernetes;
mod lists;
mod messages;
mod objects;
mod order;
mod pairs;
mod table;

use serde_json::Value;

use super::{Schema, merge};

/// The merge of two documents of a type is `expected`.
#[track_caller]
fn gives(schema: Schema, original: Value, patch: Value, expected: Value) {
    assert_eq!(merge(&original, &patch, schema).as_ref(), Ok(&expected), "our merge");
    let theirs = kubernetes::merge(&original, &patch, schema).expect("Kubernetes' merge");
    assert!(same(&theirs, &expected), "Kubernetes' merge gives {theirs}");
}

/// The merge of two documents of a type fails. Returns the message.
#[track_caller]
fn fails(schema: Schema, original: Value, patch: Value) -> String {
    let theirs = kubernetes::merge(&original, &patch, schema);
    assert!(theirs.is_err(), "Kubernetes' merge gives {}", theirs.unwrap());
    merge(&original, &patch, schema).unwrap_err().to_string()
}

/// Whether two values are equal, where Go writes numbers with a fraction in its own way.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}
