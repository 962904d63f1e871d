//! What a workflow returns.

use std::collections::BTreeMap;

use serde_json::Value;
use thv_api::kinds::{OutputProperty, OutputType, WorkflowOutput};
use thv_api::value::{RawObject, RawValue};

use crate::findings::{below, told};
use crate::json::is_within;
use crate::limits::{MAX_DEPTH, MAX_OUTPUT_DEPTH};
use crate::references::Site;
use crate::template::Template;
use crate::workflow::Validation;

/// What a workflow returns.
#[derive(Debug)]
pub struct Output {
    /// The fields of the result.
    pub fields: Vec<OutputField>,
    /// Names of fields that have to be there.
    pub required: Vec<String>,
}

/// A field of the result.
#[derive(Debug)]
pub struct OutputField {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_: OutputType,
    /// What it means.
    pub description: String,
    /// Where its value comes from.
    pub value: OutputValue,
    /// Its value when there is no other.
    pub default: Option<Value>,
}

/// Where the value of a field comes from.
#[derive(Debug)]
pub enum OutputValue {
    /// It is rendered, and read as what the type of the field says.
    Template(Template),
    /// It is an object of these.
    Fields(Vec<OutputField>),
}

/// Reads the output. What is wrong with it is told.
pub(crate) fn read(validation: &mut Validation, output: &WorkflowOutput) -> Output {
    let WorkflowOutput { properties, required } = output;
    let required: Vec<String> = required.iter().flatten().cloned().collect();
    for (index, name) in required.iter().enumerate() {
        let path = format!("output.required[{index}]");
        validation.findings.unless(
            properties.contains_key(name),
            path,
            "names no property: it could never be there",
        );
    }
    Output { fields: fields(validation, "output.properties", properties, 1), required }
}

fn fields(
    validation: &mut Validation,
    path: &str,
    properties: &BTreeMap<String, OutputProperty>,
    level: usize,
) -> Vec<OutputField> {
    let read = properties.iter();
    read.filter_map(|(name, property)| field(validation, &below(path, name), name, property, level)).collect()
}

fn field(
    validation: &mut Validation,
    path: &str,
    name: &str,
    property: &OutputProperty,
    level: usize,
) -> Option<OutputField> {
    let OutputProperty { type_, description, value, properties, default } = property;
    let description = description.as_deref().unwrap_or_default();
    validation.findings.unless(
        !description.is_empty(),
        format!("{path}.description"),
        "is empty: say what the property means, for clients",
    );
    let default = default.as_ref().map(|RawValue(value)| value);
    if let Some(default) = default.filter(|default| !fits(*type_, default)) {
        let message = format!("is no {type_}, and cannot be made one: {}", told(default));
        validation.findings.note(format!("{path}.default"), message);
    }
    let value = value.as_deref().filter(|value| !value.is_empty());
    let properties = properties.as_ref().filter(|properties| !properties.0.is_empty());
    let value = match (value, properties) {
        (Some(value), None) => {
            validation.template(Site::OUTPUT, &format!("{path}.value"), value).map(OutputValue::Template)
        }
        (None, Some(properties)) => {
            let is_object = *type_ == OutputType::Object;
            validation.findings.unless(
                is_object,
                format!("{path}.type"),
                "has to be object where there are properties",
            );
            nested(validation, &format!("{path}.properties"), properties, level).map(OutputValue::Fields)
        }
        (Some(_), Some(_)) => {
            validation.findings.wrong(path, "has a value and properties: remove one of them");
            None
        }
        (None, None) => {
            validation.findings.wrong(path, "has neither a value nor properties: set one of them");
            None
        }
    };
    Some(OutputField {
        name: name.to_owned(),
        type_: *type_,
        description: description.to_owned(),
        value: value?,
        default: default.cloned(),
    })
}

/// Properties inside of others, of which the schema does not say what they are.
fn nested(
    validation: &mut Validation,
    path: &str,
    RawObject(raw): &RawObject,
    level: usize,
) -> Option<Vec<OutputField>> {
    if level >= MAX_OUTPUT_DEPTH || !is_within(raw, MAX_DEPTH) {
        let message = format!("is nested deeper than {MAX_OUTPUT_DEPTH} levels");
        validation.findings.wrong(path, message);
        return None;
    }
    match serde_path_to_error::deserialize(&Value::Object(raw.clone())) {
        Ok(properties) => Some(fields(validation, path, &properties, level + 1)),
        Err(error) => {
            let path = below(path, &error.path().to_string());
            validation.findings.wrong(path, format!("is no property: {}", told(error.inner())));
            None
        }
    }
}

/// Whether a default is of a type, or a text that stands for a value of it.
fn fits(type_: OutputType, default: &Value) -> bool {
    let is_text_of = |is_fine: fn(&Value) -> bool| {
        default.as_str().and_then(|text| serde_json::from_str(text).ok()).is_some_and(|value| is_fine(&value))
    };
    match type_ {
        _ if default.is_null() => true,
        OutputType::String => default.is_string(),
        OutputType::Integer => is_whole(default) || is_text_of(is_whole),
        OutputType::Number => default.is_number() || is_text_of(Value::is_number),
        OutputType::Boolean => default.is_boolean() || is_text_of(Value::is_boolean),
        OutputType::Object => default.is_object() || is_text_of(Value::is_object),
        OutputType::Array => default.is_array() || is_text_of(Value::is_array),
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}
