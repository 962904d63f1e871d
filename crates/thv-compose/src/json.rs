//! JSON that is nested no deeper than it may be.

use serde_json::{Map, Value};

/// Whether fields have no more than this many levels inside, counted without recursion: nothing is known of them yet.
pub(crate) fn is_within(fields: &Map<String, Value>, levels: usize) -> bool {
    let mut open: Vec<(&Value, usize)> = fields.values().map(|value| (value, 1)).collect();
    while let Some((value, level)) = open.pop() {
        let is_nested = matches!(value, Value::Object(_) | Value::Array(_));
        if is_nested && level > levels {
            return false;
        }
        match value {
            Value::Object(fields) => open.extend(fields.values().map(|value| (value, level + 1))),
            Value::Array(items) => open.extend(items.iter().map(|value| (value, level + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_are_counted_below_the_fields() {
        let deep = json!({"a": {"b": [{"c": 1}]}});
        let fields = deep.as_object().unwrap();
        assert!(is_within(fields, 3));
        assert!(!is_within(fields, 2));
        assert!(is_within(json!({"a": 1}).as_object().unwrap(), 0));
    }
}
