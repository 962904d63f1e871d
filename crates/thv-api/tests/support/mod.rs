//! Makes arbitrary objects from the schemas of our own CRDs.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use proptest::{collection, option};
use serde_json::{Map, Value, json};
use thv_api::value::GoDuration;
use thv_api::{Kind, crd};

/// The schema of a part of a kind, as its CRD has it.
pub(crate) fn schema<S: Kind>() -> Value {
    let crd = serde_json::to_value(crd::<S>()).unwrap();
    let versions = crd["spec"]["versions"].as_array().unwrap();
    versions.last().unwrap()["schema"]["openAPIV3Schema"].clone()
}

/// Arbitrary objects of a kind, valid by everything in the schema but CEL.
pub(crate) fn objects<S: Kind>() -> BoxedStrategy<Value> {
    let schema = schema::<S>();
    let spec = values("spec", &schema["properties"]["spec"]);
    let status = option::of(values("status", &schema["properties"]["status"]));
    (spec, status, "[a-z]([a-z0-9]{0,8})", 1..1000_i64)
        .prop_map(|(spec, status, name, generation)| {
            let mut object = json!({
                "apiVersion": format!("toolhive.stacklok.dev/{}", S::STORAGE.as_str()),
                "kind": S::KIND,
                "metadata": { "name": name, "namespace": "default", "generation": generation },
                "spec": spec,
            });
            if let Some(status) = status {
                object["status"] = status;
            }
            object
        })
        .boxed()
}

/// The value with all defaults of the schema filled in, as the API server does it.
pub(crate) fn defaulted(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(default) = property.get("default") {
                    fields.entry(name.clone()).or_insert_with(|| default.clone());
                }
            }
            let inner = |name: &str| match &schema["properties"][name] {
                Value::Null => schema["additionalProperties"].clone(),
                property => property.clone(),
            };
            fields.iter().map(|(name, value)| (name.clone(), defaulted(&inner(name), value))).collect()
        }
        Value::Array(items) => items.iter().map(|item| defaulted(&schema["items"], item)).collect(),
        other => other.clone(),
    }
}

fn values(name: &str, schema: &Value) -> BoxedStrategy<Value> {
    if let Some(choices) = schema["enum"].as_array() {
        return select(choices.clone()).boxed();
    }
    let open = schema["x-kubernetes-preserve-unknown-fields"] == true;
    match schema["type"].as_str() {
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => integers(schema),
        Some("string") => strings(name, schema).prop_map(Value::from).boxed(),
        Some("array") => {
            let least = size(schema, "minItems", 0);
            let most = size(schema, "maxItems", 3).min(least + 2);
            collection::vec(values(name, &schema["items"]), least..=most).prop_map(Value::from).boxed()
        }
        Some("object") if schema["properties"].is_object() => structs(schema, open),
        Some("object") if schema["additionalProperties"].is_object() => {
            let values = values(name, &schema["additionalProperties"]);
            collection::btree_map("[a-zA-Z][a-zA-Z0-9-]{0,6}", values, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed()
        }
        Some("object") => {
            assert!(open, "{name} is an object without fields");
            collection::btree_map(".{0,6}", json_values(), 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed()
        }
        _ => {
            assert!(open, "{name} has no type");
            json_values()
        }
    }
}

fn structs(schema: &Value, open: bool) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut fields = Just(Map::new()).boxed();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = values(name, property);
        let value = if required.contains(&json!(name)) {
            value.prop_map(Some).boxed()
        } else {
            option::of(value).boxed()
        };
        let name = name.clone();
        fields = (fields, value)
            .prop_map(move |(mut fields, value)| {
                fields.extend(value.map(|value| (name.clone(), value)));
                fields
            })
            .boxed();
    }
    if open {
        fields = (fields, option::of(json_values()))
            .prop_map(|(mut fields, value)| {
                fields.extend(value.map(|value| ("x-not-in-the-schema".to_owned(), value)));
                fields
            })
            .boxed();
    }
    fields.prop_map(Value::Object).boxed()
}

fn integers(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |key: &str, default: i64| {
        // Bounds are floating point numbers in the API type.
        schema[key].as_f64().map_or(default, |bound| format!("{bound:.0}").parse().unwrap())
    };
    let (least, most) = match schema["format"].as_str() {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    };
    (bound("minimum", least)..=bound("maximum", most)).prop_map(Value::from).boxed()
}

fn strings(name: &str, schema: &Value) -> BoxedStrategy<String> {
    let durations = "([0-9]{1,3}(\\.[0-9]{1,2})?(ns|us|µs|ms|s|m|h)){1,3}";
    let pattern = schema["pattern"].as_str();
    if pattern == Some(GoDuration::PATTERN)
        || schema["format"] == "duration"
        || ["refillPeriod", "maxAssertionAge", "cacheSkew"].contains(&name)
    {
        return durations.boxed();
    }
    if schema["format"] == "date-time" {
        return "20[0-9]{2}-0[1-9]-[12][0-8]T[01][0-9]:[0-5][0-9]:[0-5][0-9]Z".boxed();
    }
    let (least, most) = (size(schema, "minLength", 0), size(schema, "maxLength", usize::MAX));
    let pattern = pattern.map_or_else(|| format!(".{{{least},{}}}", most.min(least + 8)), str::to_owned);
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    string_regex(bare)
        .unwrap_or_else(|error| panic!("{name}: {pattern}: {error}"))
        .prop_filter("length", move |text| (least..=most).contains(&text.chars().count()))
        .boxed()
}

fn size(schema: &Value, key: &str, default: usize) -> usize {
    schema[key].as_u64().map_or(default, |size| usize::try_from(size).unwrap())
}

fn json_values() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e6..1.0e6_f64).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            collection::btree_map(".{0,6}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}
