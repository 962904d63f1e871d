//! Pairs of lists, and directives about their order.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::super::Schema;
use super::super::super::schema::Strategy;
use super::super::choices::Choices;
use super::{Both, Object, junk, objects};

pub(super) const WORDS: &[&str] = &["a", "b", "c", "d", "e"];
const NUMBERS: &[i64] = &[80, 443, 53, 8080, -1];
/// Enough for the list to be sorted by Go in more than one piece.
const MANY: usize = 45;

pub(super) fn word(choices: &mut Choices) -> &'static str {
    choices.one_of(WORDS)
}

/// Two lists of a field.
pub(super) fn lists(choices: &mut Choices, strategy: Strategy, items: Schema, depth: usize) -> Both {
    let has_fields = items.fields().next().is_some();
    let (before, change) = match strategy.key() {
        Some(key) if depth > 0 => keyed(choices, key, items, depth),
        _ if has_fields && depth > 0 => {
            let mut before = Vec::new();
            let mut change = Vec::new();
            for _ in 0..choices.below(3) {
                let (one, other) = objects(choices, items, depth - 1);
                before.push(Value::Object(one));
                change.push(Value::Object(other));
            }
            (before, change)
        }
        _ => (scalars(choices), scalars(choices)),
    };
    (Some(Value::Array(before)), Some(Value::Array(change)))
}

fn scalars(choices: &mut Choices) -> Vec<Value> {
    let mut items: Vec<_> = choices.some_of(WORDS, 4).into_iter().map(|word| json!(word)).collect();
    if choices.chance(2) {
        items.push(junk(choices));
    }
    if choices.chance(5) {
        items = choices.some_of(NUMBERS, 4).into_iter().map(|number| json!(number)).collect();
    }
    if choices.chance(5) {
        items.extend(items.first().cloned());
    }
    items
}

/// Lists of objects that are told apart by a key. Those with the same key are made for each other.
fn keyed(choices: &mut Choices, key: &str, items: Schema, depth: usize) -> (Vec<Value>, Vec<Value>) {
    let keys = keys(choices, key);
    let many = keys.len() == MANY;
    let most = if many { MANY } else { 4 };
    let mut made = BTreeMap::new();
    let mut objects_for = |choices: &mut Choices, index: &usize| {
        let make = || if many { Default::default() } else { objects(choices, items, depth - 1) };
        made.entry(*index).or_insert_with(make).clone()
    };
    let indexes: Vec<_> = (0..keys.len()).collect();
    let mut before = Vec::new();
    for index in choices.some_of(&indexes, most) {
        before.push(item(key, &keys[index], objects_for(choices, &index).0));
    }
    let mut change = Vec::new();
    for index in choices.some_of(&indexes, most) {
        let fields = match choices.below(100) {
            80.. => Object::from_iter([("$patch".to_owned(), json!("delete"))]),
            _ => objects_for(choices, &index).1,
        };
        change.push(item(key, &keys[index], fields));
    }
    if choices.chance(1)
        && let Some(Value::Object(fields)) = before.first_mut()
    {
        fields.insert("$patch".to_owned(), json!("delete"));
    }
    disturb(choices, key, &mut before);
    disturb(choices, key, &mut change);
    if choices.chance(6) {
        let place = choices.below(change.len() + 1);
        change.insert(place, json!({ "$patch": "replace" }));
    }
    if choices.chance(1) {
        change.push(json!({ "$patch": "merge", key: "a" }));
    }
    (before, change)
}

/// The values of the key that items have.
fn keys(choices: &mut Choices, key: &str) -> Vec<Value> {
    if choices.chance(2) {
        return (0..MANY).map(|number| json!(number)).collect();
    }
    match key {
        "containerPort" | "port" => NUMBERS.iter().map(|number| json!(number)).collect(),
        _ => WORDS.iter().map(|word| json!(word)).collect(),
    }
}

fn item(key: &str, value: &Value, mut fields: Object) -> Value {
    // An object without its key is an error, which is to be rare.
    fields.insert(key.to_owned(), value.clone());
    if let Some(Value::Array(kept)) = fields.get_mut("$retainKeys") {
        kept.push(json!(key));
    }
    Value::Object(fields)
}

/// Sometimes a key is there twice or missing, or an item is something else.
fn disturb(choices: &mut Choices, key: &str, items: &mut Vec<Value>) {
    match choices.below(100) {
        96.. => items.extend(items.first().cloned()),
        95 => items.extend(items.last().cloned()),
        94 => {
            if let Some(Value::Object(fields)) = items.last_mut() {
                fields.insert(key.to_owned(), junk(choices));
            }
        }
        93 => {
            if let Some(Value::Object(fields)) = items.last_mut() {
                fields.remove(key);
            }
        }
        92 => items.push(junk(choices)),
        _ => {}
    }
}

/// A `$setElementOrder` for two lists: the items of the patch with some of the original among them.
pub(super) fn order(
    choices: &mut Choices,
    strategy: Strategy,
    before: Option<&Value>,
    change: Option<&Value>,
) -> Value {
    let key = strategy.key();
    let named = |item: &Value| match key {
        None => Some(item.clone()),
        Some(_) if item.get("$patch").is_some() => None,
        Some(key) => item.get(key).map(|value| json!({ key: value })),
    };
    let items = |list: Option<&Value>| {
        let items = list.and_then(Value::as_array).cloned().unwrap_or_default();
        items.iter().filter_map(named).collect::<Vec<_>>()
    };
    let mut order = items(change);
    for item in items(before) {
        if !order.contains(&item) && choices.chance(60) {
            order.insert(choices.below(order.len() + 1), item);
        }
    }
    let mut directive = match choices.below(100) {
        97.. => json!([]),
        96 => order.into_iter().rev().collect(),
        95 => order.into_iter().chain([junk(choices)]).collect(),
        94 => order.into_iter().skip(1).collect(),
        93 => junk(choices),
        _ => Value::Array(order),
    };
    // Where Go sorts a long list by nothing, there is nothing to compare.
    let long = |list: &Value| list.as_array().is_some_and(|list| list.len() > 10);
    if directive == json!([]) && before.into_iter().chain(change).any(long) {
        directive = Value::Null;
    }
    directive
}
