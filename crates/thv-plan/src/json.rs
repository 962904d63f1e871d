//! Changing parts of a JSON object, whether they are there or not.

use serde_json::{Map, Value};

/// Changes the object in a field. What is there and is no object counts as absent.
pub fn object(parent: &mut Map<String, Value>, field: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut fields = match parent.remove(field) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    change(&mut fields);
    parent.insert(field.to_owned(), Value::Object(fields));
}

/// Changes the list in a field. What is there and is no list counts as absent.
pub fn list(parent: &mut Map<String, Value>, field: &str, change: impl FnOnce(&mut Vec<Value>)) {
    let mut items = match parent.remove(field) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    change(&mut items);
    parent.insert(field.to_owned(), Value::Array(items));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_absent_is_made() {
        let mut all = Map::new();
        object(&mut all, "a", |inner| list(inner, "b", |items| items.push(json!(1))));
        object(&mut all, "a", |inner| list(inner, "b", |items| items.push(json!(2))));
        assert_eq!(Value::Object(all), json!({"a": {"b": [1, 2]}}));
    }
}
