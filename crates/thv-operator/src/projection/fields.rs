//! Field ownership, as `managedFields` tells it.

use std::collections::HashSet;

use serde_json::{Map, Value};
use thv_plan::canonical;

/// The part of `value` that a set of fields (in the form of `FieldsV1`) covers. Items of keyed lists and of sets come
/// sorted, since their order is not ours.
pub(crate) fn restrict(value: &Value, fields: &Value) -> Value {
    let Some(fields) = fields.as_object() else { return value.clone() };
    let keys = fields.keys().filter(|key| key.as_str() != ".");
    match value {
        Value::Object(object) => {
            let mut part = Map::new();
            for key in keys {
                let name = key.strip_prefix("f:").unwrap_or(key);
                if let (Some(inner), Some(below)) = (object.get(name), fields.get(key)) {
                    part.insert(name.to_owned(), restrict(inner, below));
                }
            }
            // A leaf of the set covers everything below it.
            if part.is_empty() && fields.is_empty() { value.clone() } else { Value::Object(part) }
        }
        Value::Array(items) => {
            if fields.is_empty() {
                return value.clone();
            }
            let mut part: Vec<Value> = Vec::new();
            // There may be thousands of them, each asked for by its value.
            let texts: HashSet<&str> = items.iter().filter_map(Value::as_str).collect();
            let contains = |wanted: &Value| match wanted {
                Value::String(text) => texts.contains(text.as_str()),
                other => items.contains(other),
            };
            for key in keys {
                let read = |prefix| {
                    key.strip_prefix(prefix).and_then(|text| serde_json::from_str::<Value>(text).ok())
                };
                if let Some(wanted) = read("k:") {
                    let found = items.iter().find(|item| has_key(item, &wanted));
                    part.extend(found.zip(fields.get(key)).map(|(item, below)| restrict(item, below)));
                }
                part.extend(read("v:").filter(|wanted| contains(wanted)));
            }
            sorted(Value::Array(part))
        }
        leaf => leaf.clone(),
    }
}

/// Sorts the items of a list, so that two lists of the same items are equal, whatever the order of keys in them.
pub(crate) fn sorted(list: Value) -> Value {
    let Value::Array(mut items) = list else { return list };
    items.sort_by_cached_key(canonical);
    Value::Array(items)
}

fn has_key(item: &Value, key: &Value) -> bool {
    key.as_object().into_iter().flatten().all(|(name, value)| item.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_covered_remains() {
        let value = json!({
            "phase": "Ready", "url": "u", "nested": {"a": 1, "b": 2}, "whole": {"x": [1]},
            "conditions": [{"type": "B", "status": "True", "extra": 1}, {"type": "A", "status": "False"}, {"type": "C"}],
            "members": ["b", "a", "theirs"],
        });
        let fields = json!({
            "f:phase": {}, "f:nested": {"f:a": {}}, "f:whole": {},
            "f:conditions": {
                "k:{\"type\":\"A\"}": {".": {}, "f:type": {}, "f:status": {}},
                "k:{\"type\":\"B\"}": {".": {}, "f:type": {}, "f:status": {}},
                "k:{\"type\":\"D\"}": {".": {}},
            },
            "f:members": {"v:\"a\"": {}, "v:\"b\"": {}, "v:\"gone\"": {}},
        });
        let expected = json!({
            "phase": "Ready", "nested": {"a": 1}, "whole": {"x": [1]},
            "conditions": [{"status": "False", "type": "A"}, {"status": "True", "type": "B"}],
            "members": ["a", "b"],
        });
        assert_eq!(restrict(&value, &fields), expected);
    }

    #[test]
    fn items_are_sorted_whatever_the_order_of_their_keys() {
        let read = |text| sorted(serde_json::from_str(text).unwrap());
        assert_eq!(
            read(r#"[{"a": 2, "b": 1}, {"a": 1, "b": 2}]"#),
            read(r#"[{"b": 1, "a": 2}, {"b": 2, "a": 1}]"#)
        );
    }
}
