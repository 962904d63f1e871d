//! Schemas compared keyword by keyword.

use std::collections::BTreeSet;

use serde_json::Value;

use super::findings::{ABSENT, Findings, shown};
use super::rules;

/// Keywords that are for readers.
const FOR_READERS: &[&str] = &["description", "title", "example", "externalDocs"];

/// Switches: off is the same as not there, and the API server stores neither.
const SWITCHES: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "nullable",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
];

pub(super) fn compare(path: &str, ours: &Value, theirs: &Value, found: &mut Findings) {
    for keyword in keys(Some(ours), Some(theirs)) {
        let (our, their) = (ours.get(keyword), theirs.get(keyword));
        let place = format!("{path} {keyword}").trim_start().to_owned();
        match keyword {
            _ if FOR_READERS.contains(&keyword) => {}
            _ if SWITCHES.contains(&keyword) => found.values(&place, switched_on(our), switched_on(their)),
            "properties" => properties(path, our, their, found),
            "items" => inner(&format!("{path}[]"), &place, our, their, found),
            "additionalProperties" => inner(&format!("{path}{{}}"), &place, our, their, found),
            "not" => inner(&place, &place, our, their, found),
            "allOf" | "anyOf" | "oneOf" => branches(&place, our, their, found),
            "required" | "enum" | "x-kubernetes-list-map-keys" => found.sets(&place, our, their),
            "x-kubernetes-validations" => rules::compare(path, our, their, found),
            // Everything else is a plain value. A keyword that we do not know is compared as well.
            _ => found.values(&place, our, their),
        }
    }
}

fn switched_on(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| **value != Value::Bool(false))
}

/// The keys of either of two objects.
pub(super) fn keys<'a>(ours: Option<&'a Value>, theirs: Option<&'a Value>) -> BTreeSet<&'a str> {
    let objects = [ours, theirs].into_iter().flatten().filter_map(Value::as_object);
    objects.flat_map(|object| object.keys().map(String::as_str)).collect()
}

fn properties(path: &str, ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    for name in keys(ours, theirs) {
        // The fields of the object itself need no dot in front.
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let one = |schemas: Option<&'_ Value>| schemas.and_then(|schemas| schemas.get(name)).cloned();
        match (one(ours), one(theirs)) {
            (Some(ours), Some(theirs)) => compare(&path, &ours, &theirs, found),
            (ours, theirs) => found.differ(&path, brief(ours.as_ref()), brief(theirs.as_ref())),
        }
    }
}

/// The one schema inside another. `additionalProperties` can be a switch instead.
fn inner(path: &str, place: &str, ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if ours.is_object() && theirs.is_object() => {
            compare(path, ours, theirs, found);
        }
        (ours, theirs) if ours == theirs => {}
        (ours, theirs) => found.differ(place, brief(ours), brief(theirs)),
    }
}

/// What to say of a schema that only one side has.
fn brief(schema: Option<&Value>) -> String {
    match schema {
        None => ABSENT.to_owned(),
        Some(Value::Object(fields)) => match fields.get("type").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => "any".to_owned(),
        },
        Some(other) => other.to_string(),
    }
}

/// Alternatives, in any order. They have no names by which to compare them one by one.
fn branches(place: &str, ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    let all = |list: Option<&Value>| -> Vec<Value> {
        list.and_then(Value::as_array).into_iter().flatten().map(bare).collect()
    };
    let (ours, mut theirs) = (all(ours), all(theirs));
    for branch in ours {
        match theirs.iter().position(|their| *their == branch) {
            Some(at) => drop(theirs.remove(at)),
            None => found.differ(place, branch.to_string(), ABSENT.to_owned()),
        }
    }
    for branch in theirs {
        found.differ(place, ABSENT.to_owned(), branch.to_string());
    }
}

/// A schema without what is for readers, and with sets in order. A text is a description; a field that is called
/// `description` is an object.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| {
                let for_readers = FOR_READERS.contains(&key.as_str()) && value.is_string();
                let off = SWITCHES.contains(&key.as_str()) && **value == Value::Bool(false);
                !for_readers && !off
            });
            kept.map(|(key, value)| {
                let mut value = bare(value);
                if let ("required" | "enum", Value::Array(items)) = (key.as_str(), &mut value) {
                    items.sort_by_key(shown);
                }
                (key.clone(), value)
            })
            .collect()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every difference as "path: ours / theirs".
    fn differences(ours: Value, theirs: Value) -> Vec<String> {
        let mut found = Findings::default();
        compare("spec", &ours, &theirs, &mut found);
        found.differences()
    }

    #[test]
    fn descriptions_order_and_switches_that_are_off_are_ignored() {
        let ours = json!({
            "description": "one", "type": "object", "required": ["a", "b"], "nullable": false,
            "properties": { "a": { "type": "string", "enum": ["x", "y"] }, "b": { "items": { "title": "t" } } },
            "anyOf": [{ "required": ["a", "b"] }, { "required": ["c"], "description": "d" }],
        });
        let theirs = json!({
            "type": "object", "required": ["b", "a"],
            "properties": { "b": { "items": {} }, "a": { "enum": ["y", "x"], "type": "string", "example": "x" } },
            "anyOf": [{ "required": ["c"] }, { "required": ["b", "a"] }],
        });
        assert_eq!(differences(ours, theirs), Vec::<String>::new());
    }

    #[test]
    fn missing_and_extra_fields_are_found_at_any_depth() {
        let ours =
            json!({ "properties": { "a": { "items": { "properties": { "b": { "type": "string" } } } } } });
        let theirs = json!({ "properties": { "a": { "items": { "properties": { "c": {} } } }, "d": { "type": "object" } } });
        assert_eq!(
            differences(ours, theirs),
            ["spec.a[].b: string / –", "spec.a[].c: – / any", "spec.d: – / object"]
        );
    }

    #[test]
    fn fields_called_like_keywords_are_fields() {
        let ours =
            json!({ "properties": { "description": { "type": "string" }, "default": { "type": "string" } } });
        let theirs = json!({ "properties": { "description": { "type": "integer" } } });
        assert_eq!(
            differences(ours, theirs),
            ["spec.default: string / –", "spec.description type: \"string\" / \"integer\""]
        );
    }

    #[test]
    fn every_plain_keyword_is_compared() {
        for (keyword, ours, theirs) in [
            ("type", json!("string"), json!("integer")),
            ("format", json!("int32"), json!("int64")),
            ("default", json!({ "a": 1 }), json!({ "a": 2 })),
            ("default", json!(false), Value::Null),
            ("minimum", json!(0), json!(1)),
            ("maximum", json!(0), json!(1)),
            ("exclusiveMinimum", json!(true), json!(false)),
            ("exclusiveMaximum", json!(true), json!(false)),
            ("minLength", json!(0), json!(1)),
            ("maxLength", json!(0), json!(1)),
            ("minItems", json!(0), json!(1)),
            ("maxItems", json!(0), json!(1)),
            ("minProperties", json!(0), json!(1)),
            ("maxProperties", json!(0), json!(1)),
            ("multipleOf", json!(2), json!(3)),
            ("uniqueItems", json!(true), json!(false)),
            ("pattern", json!("^a$"), json!("^b$")),
            ("nullable", json!(true), json!(false)),
            ("x-kubernetes-list-type", json!("set"), json!("atomic")),
            ("x-kubernetes-map-type", json!("atomic"), json!("granular")),
            ("x-kubernetes-preserve-unknown-fields", json!(true), json!(false)),
            ("x-kubernetes-int-or-string", json!(true), json!(false)),
            ("x-kubernetes-embedded-resource", json!(true), json!(false)),
            ("x-kubernetes-something-new", json!(1), json!(2)),
        ] {
            let one = differences(json!({ keyword: ours }), json!({ keyword: theirs }));
            assert!(one.len() == 1 && one[0].starts_with(&format!("spec {keyword}: ")), "{keyword}: {one:?}");
            let gone = differences(json!({}), json!({ keyword: ours }));
            assert_eq!(gone, [format!("spec {keyword}: – / {ours}")]);
        }
    }

    #[test]
    fn sets_differ_by_their_members() {
        let ours = json!({ "required": ["a", "b"], "enum": ["x"], "x-kubernetes-list-map-keys": ["name"] });
        let theirs = json!({ "required": ["b", "c"], "x-kubernetes-list-map-keys": ["type"] });
        assert_eq!(
            differences(ours, theirs),
            [
                "spec enum: \"x\" / –",
                "spec required: \"a\" / –",
                "spec required: – / \"c\"",
                "spec x-kubernetes-list-map-keys: \"name\" / –",
                "spec x-kubernetes-list-map-keys: – / \"type\"",
            ]
        );
    }

    #[test]
    fn schemas_in_schemas_are_compared() {
        let ours = json!({ "additionalProperties": { "type": "string" }, "not": { "minimum": 1 }, "items": { "maxLength": 1 } });
        let theirs = json!({ "additionalProperties": { "type": "integer" }, "not": { "minimum": 2 }, "items": { "maxLength": 2 } });
        assert_eq!(
            differences(ours, theirs),
            ["spec{} type: \"string\" / \"integer\"", "spec[] maxLength: 1 / 2", "spec not minimum: 1 / 2"]
        );
        let switch =
            differences(json!({ "additionalProperties": true }), json!({ "additionalProperties": {} }));
        assert_eq!(switch, ["spec additionalProperties: true / any"]);
    }

    #[test]
    fn alternatives_differ_as_a_whole() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let ours = json!({ keyword: [{ "required": ["a"] }, { "required": ["b"] }] });
            let theirs = json!({ keyword: [{ "required": ["c"] }, { "required": ["b"] }] });
            assert_eq!(
                differences(ours, theirs),
                [
                    format!("spec {keyword}: {{\"required\":[\"a\"]}} / –"),
                    format!("spec {keyword}: – / {{\"required\":[\"c\"]}}")
                ]
            );
        }
    }
}
