//! From Rust types to the structural schemas of CRDs.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, json_schema};
use serde_json::{Map, Value, json};

use crate::value::MEANINGS;

pub(crate) use thv_value::fixed_schema;

/// CEL rules for `x-kubernetes-validations`, as pairs of rule and message.
pub(crate) fn cel(rules: &[(&str, &str)]) -> Value {
    rules.iter().map(|(rule, message)| json!({ "rule": rule, "message": message })).collect()
}

/// The schema of an integer whose width the API does not name.
pub(crate) struct PlainInt;

fixed_schema!(PlainInt, json_schema!({ "type": "integer" }));

/// The schema of a point in time.
pub(crate) struct DateTime;

fixed_schema!(DateTime, json_schema!({ "type": "string", "format": "date-time" }));

/// The schema of `status.conditions`, the same for every kind.
#[derive(Debug)]
pub struct Conditions;

fixed_schema!(Conditions, {
    let dns = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    let word = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "description": "One thing that is known about the object, and since when.",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "type": {
                    "type": "string",
                    "description": "What the condition is about.",
                    "maxLength": 316,
                    "pattern": format!(r"^({dns}(\.{dns})*/)?({word})$"),
                },
                "status": {
                    "type": "string",
                    "description": "Whether it holds.",
                    "enum": ["True", "False", "Unknown"],
                },
                "reason": {
                    "type": "string",
                    "description": "Why, in one word for programs.",
                    "minLength": 1,
                    "maxLength": 1024,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                },
                "message": {
                    "type": "string",
                    "description": "Why, in a sentence for people.",
                    "maxLength": 32768,
                },
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed.",
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "description": "The generation of the object that this was found for.",
                },
            },
        },
    })
});

/// The structural schema of a type.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    make_structural(&mut schema);
    schema
}

/// The schema as the API type. What our own types yield always converts; a test compares both forms.
pub(crate) fn props(schema: Value) -> JSONSchemaProps {
    serde_json::from_value(schema).unwrap_or_default()
}

/// Rewrites what schemars makes into what Kubernetes takes.
///
/// An optional field is simply not required: it is not nullable, since `null` in a manifest is a mistake.
fn make_structural(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    take_the_non_null_branch(object);
    for key in ["$schema", "title", "nullable"] {
        object.remove(key);
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let single = object
        .get("type")
        .and_then(Value::as_array)
        .and_then(|types| types.iter().find(|one| one.as_str() != Some("null")).cloned());
    if let Some(single) = single {
        object.insert("type".to_owned(), single);
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    describe(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(make_structural);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key) {
            make_structural(inner);
        }
    }
}

/// `Option<T>` may come as `anyOf: [T, null]`; what is said beside it, such as the description, stays.
fn take_the_non_null_branch(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.remove("anyOf") else {
        return;
    };
    let branch = branches.into_iter().find(|branch| {
        branch.get("type").and_then(Value::as_str) != Some("null")
            && branch.get("enum") != Some(&json!([null]))
            && branch.get("const") != Some(&Value::Null)
    });
    if let Some(Value::Object(branch)) = branch {
        for (key, value) in branch {
            object.entry(key).or_insert(value);
        }
    }
}

/// Makes paragraphs of doc comment lines, and lists what the values of an enum mean.
fn describe(object: &mut Map<String, Value>) {
    let meanings = object.remove(MEANINGS);
    let mut text = match object.get("description") {
        Some(Value::String(text)) => {
            let paragraphs: Vec<String> =
                text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            paragraphs.join("\n\n")
        }
        _ => String::new(),
    };
    if let (Some(Value::Object(meanings)), Some(Value::Array(values))) = (meanings, object.get("enum")) {
        let lines: Vec<String> = values
            .iter()
            .filter_map(Value::as_str)
            .filter_map(|value| {
                let meaning = meanings.get(value)?.as_str()?;
                let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
                Some(format!("`{value}`: {meaning}"))
            })
            .collect();
        text = format!("{text}\n\n{}", lines.join("\n"));
    }
    if !text.trim().is_empty() {
        object.insert("description".to_owned(), text.trim().into());
    }
}
