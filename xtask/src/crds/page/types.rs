//! What a field takes, in a few words.

use serde_json::Value;

use super::text::code;

/// The type of a field with its bounds.
pub(super) fn describe(schema: &Value) -> String {
    let mut words = vec![name(schema)];
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(literal).collect();
        words.push(format!("one of {}", values.join(", ")));
    }
    let bounds = [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "entries"),
    ];
    words.extend(bounds.iter().filter_map(|(least, most, unit)| bounds_of(schema, least, most, unit)));
    if let Some(pattern) = text(schema, "pattern") {
        words.push(format!("matches {}", code(pattern)));
    }
    if text(schema, "x-kubernetes-list-type") == Some("set") {
        words.push("no duplicates".to_owned());
    }
    let keys: Vec<String> = list(schema, "x-kubernetes-list-map-keys").map(literal).collect();
    if !keys.is_empty() {
        words.push(format!("one per {}", keys.join(" and ")));
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        words.push("may be null".to_owned());
    }
    words.join(", ")
}

/// A value as one writes it in a manifest.
pub(super) fn literal(value: &Value) -> String {
    code(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn name(schema: &Value) -> String {
    let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        return "integer or string".to_owned();
    }
    match text(schema, "type") {
        Some("array") => match schema.get("items") {
            Some(items) => format!("list of {}", inner(items)),
            None => "list".to_owned(),
        },
        Some("object") => match schema.get("additionalProperties") {
            Some(values) if values.is_object() => format!("map of {}", inner(values)),
            _ if open => "object with any fields".to_owned(),
            _ => "object".to_owned(),
        },
        Some(name) => match text(schema, "format") {
            Some(format) => format!("{name} ({format})"),
            None => name.to_owned(),
        },
        None => "anything".to_owned(),
    }
}

/// The type of elements, in brackets if it says more than its name.
fn inner(schema: &Value) -> String {
    let whole = describe(schema);
    match whole.split_once(", ") {
        Some((name, rest)) => format!("{name} ({rest})"),
        None => whole,
    }
}

fn bounds_of(schema: &Value, least: &str, most: &str, unit: &str) -> Option<String> {
    let excluded = |key: &str| unit.is_empty() && schema.get(key) == Some(&Value::Bool(true));
    let low = if excluded("exclusiveMinimum") { "more than" } else { "at least" };
    let high = if excluded("exclusiveMaximum") { "less than" } else { "at most" };
    let text = match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) if least == most => format!("exactly {least}"),
        (Some(least), Some(most)) if (low, high) == ("at least", "at most") => format!("{least} to {most}"),
        (Some(least), Some(most)) => format!("{low} {least} and {high} {most}"),
        (Some(least), None) if least == 1 && !unit.is_empty() => return Some("not empty".to_owned()),
        (Some(least), None) => format!("{low} {least}"),
        (None, Some(most)) => format!("{high} {most}"),
        (None, None) => return None,
    };
    Some(if unit.is_empty() { text } else { format!("{text} {unit}") })
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key).and_then(Value::as_str)
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_described() {
        for (schema, expected) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": "string", "format": "uri", "minLength": 1 }), "string (uri), not empty"),
            (json!({ "type": "string", "enum": ["a", ""] }), "string, one of `a`, `\"\"`"),
            (json!({ "type": "string", "pattern": "^(a|b)$" }), r"string, matches `^(a\|b)$`"),
            (json!({ "type": "integer", "minimum": 1, "maximum": 65535 }), "integer, 1 to 65535"),
            (json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }), "number, more than 0"),
            (
                json!({ "type": "array", "items": { "type": "string", "maxLength": 5 }, "maxItems": 3,
                "x-kubernetes-list-type": "set" }),
                "list of string (at most 5 characters), at most 3 items, no duplicates",
            ),
            (
                json!({ "type": "array", "items": { "type": "object" }, "x-kubernetes-list-map-keys": ["name"] }),
                "list of object, one per `name`",
            ),
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "map of string"),
            (
                json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
                "object with any fields",
            ),
            (json!({ "x-kubernetes-int-or-string": true }), "integer or string"),
            (json!({ "x-kubernetes-preserve-unknown-fields": true }), "anything"),
        ] {
            assert_eq!(describe(&schema), expected);
        }
    }
}
