//! The schemas of the kinds, seen as a list of places: `spec.env[].name`, `spec.toolsOverride{}.name`.

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use crate::corpus::path::{Step, join, steps};

/// The schema of the version that is stored. The corpus shows that the others judge alike.
pub(crate) fn stored_schema(definition: &CustomResourceDefinition) -> Result<Value> {
    let stored = definition.spec.versions.iter().find(|version| version.storage);
    let schema = stored.and_then(|version| version.schema.as_ref());
    let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_ref());
    Ok(serde_json::to_value(schema.context("a CRD without a schema")?)?)
}

/// Every place of a schema that users and operators write to.
pub(crate) fn places(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for field in ["spec", "status"] {
        collect(field.to_owned(), &schema["properties"][field], &mut found);
    }
    found
}

fn collect<'a>(path: String, schema: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        collect(join(&path, name), inner, found);
    }
    if schema["items"].is_object() {
        collect(format!("{path}[]"), &schema["items"], found);
    }
    if schema["additionalProperties"].is_object() {
        collect(format!("{path}{{}}"), &schema["additionalProperties"], found);
    }
    found.push((path, schema));
}

/// The place in a schema of what is at a path of an object, if the schema has it.
pub(crate) fn place_of(schema: &Value, path: &str) -> Option<String> {
    let mut place = String::new();
    let mut schema = schema;
    for step in steps(path) {
        schema = match step {
            Step::Index(_) => {
                place.push_str("[]");
                &schema["items"]
            }
            Step::Key(name) if schema["properties"][&name].is_object() => {
                place = join(&place, &name);
                &schema["properties"][&name]
            }
            Step::Key(_) => {
                place.push_str("{}");
                &schema["additionalProperties"]
            }
        };
        schema.as_object()?;
    }
    Some(place)
}

/// Calls `visit` for everything in an object that the schema has a place for.
pub(crate) fn visit(schema: &Value, value: &Value, place: &str, visit_one: &mut impl FnMut(&str, &Value)) {
    visit_one(place, value);
    for (name, inner) in value.as_object().into_iter().flatten() {
        let property = &schema["properties"][name];
        if property.is_object() {
            visit(property, inner, &join(place, name), visit_one);
        } else if schema["additionalProperties"].is_object() {
            visit(&schema["additionalProperties"], inner, &format!("{place}{{}}"), visit_one);
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        visit(&schema["items"], inner, &format!("{place}[]"), visit_one);
    }
}

/// A CEL rule of a schema.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) place: String,
    /// Its position among the rules of the place.
    pub(crate) index: usize,
    pub(crate) message: String,
}

/// All CEL rules of a schema.
pub(crate) fn rules(schema: &Value) -> Vec<Rule> {
    let mut found = Vec::new();
    for (place, schema) in places(schema) {
        for (index, rule) in schema["x-kubernetes-validations"].as_array().into_iter().flatten().enumerate() {
            let message = rule["message"].as_str().unwrap_or_default().to_owned();
            found.push(Rule { place: place.clone(), index, message });
        }
    }
    found
}
