//! Digests of JSON that do not depend on the order in which it was put together.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a value's canonical form, in hex.
pub fn digest(value: &Value) -> String {
    hex(&Sha256::digest(canonical(value).as_bytes()))
}

/// The canonical form of a value: object keys sorted, no white space.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map_or('0', char::from);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (index, (key, field)) in sorted.into_iter().enumerate() {
                separate(index, text);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(field, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, text);
                write(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}

fn separate(index: usize, text: &mut String) {
    if index > 0 {
        text.push(',');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let value = json!({"b": [1, 2], "a": {"d": null, "c": "x"}});
        let other: Value = serde_json::from_str(r#"{"a": {"c": "x", "d": null}, "b": [1, 2]}"#).unwrap();
        assert_eq!(digest(&value), digest(&other));
        for different in [
            json!({"b": [2, 1], "a": {"d": null, "c": "x"}}),
            json!({"b": [1, 2], "a": {"c": "x"}}),
            json!({"b": [1, 2], "a": {"d": null, "c": "y"}}),
        ] {
            assert_ne!(digest(&value), digest(&different));
        }
    }

    #[test]
    fn it_is_the_digest_of_compact_json() {
        assert_eq!(digest(&json!({})), hex(&Sha256::digest("{}")));
    }
}
