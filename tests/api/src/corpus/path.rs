//! Paths into objects, spelled the way the API server spells them: `spec.env[0].name`.

use std::collections::BTreeMap;

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path. Keys with dots or brackets in them cannot be written.
pub(crate) fn steps(path: &str) -> Vec<Step> {
    let parts = path.split(['.', '[']).filter(|part| !part.is_empty());
    let step = |part: &str| match part.strip_suffix(']') {
        Some(index) => Step::Index(index.parse().expect("an index is a number")),
        None => Step::Key(part.to_owned()),
    };
    parts.map(step).collect()
}

/// The path of what is at `inner` inside of what is at `outer`.
pub(crate) fn join(outer: &str, inner: &str) -> String {
    let dot = if outer.is_empty() || inner.is_empty() || inner.starts_with('[') { "" } else { "." };
    format!("{outer}{dot}{inner}")
}

/// Puts `new` at a path. Objects on the way are made, and a list grows by one when the path points behind it.
pub(crate) fn set(value: &mut Value, path: &[Step], new: Value) {
    let Some((step, rest)) = path.split_first() else {
        *value = new;
        return;
    };
    let inner = match step {
        Step::Key(key) => {
            if !value.is_object() {
                *value = Value::Object(serde_json::Map::new());
            }
            value.as_object_mut().expect("it is an object").entry(key.clone()).or_insert(Value::Null)
        }
        Step::Index(index) => {
            if !value.is_array() {
                *value = Value::Array(Vec::new());
            }
            let list = value.as_array_mut().expect("it is a list");
            assert!(*index <= list.len(), "{path:?} leaves a hole in the list");
            if *index == list.len() {
                list.push(Value::Null);
            }
            &mut list[*index]
        }
    };
    set(inner, rest, new);
}

/// Removes what is at a path, which must be there.
pub(crate) fn remove(value: &mut Value, path: &[Step]) {
    let (last, before) = path.split_last().expect("a path of something to remove");
    let outer = before.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key],
        Step::Index(index) => &mut value[index],
    });
    let removed = match last {
        Step::Key(key) => outer.as_object_mut().and_then(|object| object.remove(key)),
        Step::Index(index) => outer.as_array_mut().map(|list| list.remove(*index)),
    };
    assert!(removed.is_some(), "there is nothing at {path:?} to remove");
}

/// Everything that contains nothing else, by path.
pub(crate) fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect(String::new(), value, &mut found);
    found
}

fn collect(path: String, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(key, value)| collect(join(&path, key), value, found));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| collect(format!("{path}[{index}]"), value, found));
        }
        _ => {
            found.insert(path, value.clone());
        }
    }
}

#[test]
fn paths_are_read_and_changed() {
    let mut value = serde_json::json!({"a": {"b": [{"c": 1}]}});
    set(&mut value, &steps("a.b[1].d"), Value::from(2));
    set(&mut value, &steps("e.f"), Value::from(3));
    remove(&mut value, &steps("a.b[0].c"));
    assert_eq!(value, serde_json::json!({"a": {"b": [{}, {"d": 2}]}, "e": {"f": 3}}));
    let paths: Vec<String> = leaves(&value).into_keys().collect();
    assert_eq!(paths, ["a.b[0]", "a.b[1].d", "e.f"]);
    assert_eq!(join("a", "[0].b"), "a[0].b");
    assert_eq!(steps("[0].b"), [Step::Index(0), Step::Key("b".to_owned())]);
}
