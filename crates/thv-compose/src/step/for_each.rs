//! Calls for every item of a list.

use serde_json::Value;
use thv_api::kinds::{StepType, WorkflowStep};
use thv_api::value::RawObject;

use super::{ToolCall, set, tool};
use crate::error_handling::{OnError, on_error};
use crate::findings::{below, told};
use crate::json::is_within;
use crate::limits::{DEFAULT_ITERATIONS, DEFAULT_PARALLEL, MAX_DEPTH, MAX_ITERATIONS, MAX_PARALLEL};
use crate::references::{INDEX, Site, item_var};
use crate::template::Template;
use crate::workflow::Validation;

/// A call for every item of a list.
#[derive(Debug)]
pub struct ForEach {
    /// Comes to the list, as JSON.
    pub collection: Template,
    /// The name of the item in templates, below `.forEach`.
    pub item_var: String,
    /// How many calls there may be at once.
    pub max_parallel: usize,
    /// How many items there may be.
    pub max_iterations: usize,
    /// The call.
    pub call: ToolCall,
    /// What to do when a call fails.
    pub on_error: OnError,
}

/// Reads what belongs to a `forEach` from the step of this number.
pub(super) fn read(
    validation: &mut Validation,
    number: usize,
    path: &str,
    step: &WorkflowStep,
) -> Option<ForEach> {
    let collection = collection(validation, number, &format!("{path}.collection"), step);
    let item_var = item_var(step);
    let is_name = item_var.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && item_var.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let message = format!(
        "has to be a name of letters, digits and '_', and not {INDEX}, which is the number of the item"
    );
    validation.findings.unless(is_name && item_var != INDEX, format!("{path}.itemVar"), message);
    let max_parallel = bounded(
        validation,
        &format!("{path}.maxParallel"),
        step.max_parallel,
        MAX_PARALLEL,
        DEFAULT_PARALLEL,
    );
    let max_iterations = bounded(
        validation,
        &format!("{path}.maxIterations"),
        step.max_iterations,
        MAX_ITERATIONS,
        DEFAULT_ITERATIONS,
    );
    let inner = inner(validation, number, &format!("{path}.step"), step.step.as_ref());
    let (call, on_error) = inner?;
    Some(ForEach {
        collection: collection?,
        item_var: item_var.to_owned(),
        max_parallel,
        max_iterations,
        call,
        on_error,
    })
}

fn collection(
    validation: &mut Validation,
    number: usize,
    path: &str,
    step: &WorkflowStep,
) -> Option<Template> {
    let Some(text) = set(step.collection.as_ref()) else {
        validation
            .findings
            .wrong(path, "is empty: say what to go through, such as \"{{json .params.items}}\"");
        return None;
    };
    let template = validation.template(Site::step(number).lenient(), path, text)?;
    let is_list = || serde_json::from_str::<Vec<Value>>(text).is_ok();
    let is_fine = template.parsed().is_some() || is_list();
    validation.findings.unless(
        is_fine,
        path,
        "has to come to a list in JSON, and is a text without a template",
    );
    Some(template)
}

/// A number from 0, which stands for the default, to the most.
fn bounded(validation: &mut Validation, path: &str, given: Option<i64>, most: i64, default: usize) -> usize {
    let given = given.unwrap_or_default();
    validation.findings.unless((0..=most).contains(&given), path, format!("has to be from 0 to {most}"));
    usize::try_from(given).ok().filter(|given| *given > 0).unwrap_or(default)
}

/// The step for each item, and what to do when it fails.
fn inner(
    validation: &mut Validation,
    number: usize,
    path: &str,
    raw: Option<&RawObject>,
) -> Option<(ToolCall, OnError)> {
    let Some(RawObject(fields)) = raw else {
        validation.findings.wrong(path, "is missing: say what to do for each item");
        return None;
    };
    if !is_within(fields, MAX_DEPTH) {
        validation.findings.wrong(path, format!("is nested deeper than {MAX_DEPTH} levels"));
        return None;
    }
    let value = Value::Object(fields.clone());
    let step: WorkflowStep = match serde_path_to_error::deserialize(&value) {
        Ok(step) => step,
        Err(error) => {
            let place = error.path().to_string();
            let path = if place == "." { path.to_owned() } else { below(path, &place) };
            validation.findings.wrong(path, format!("cannot be read: {}", told(error.inner())));
            return None;
        }
    };
    if step.type_ != StepType::Tool {
        let message = "has to be tool: a forEach calls tools, and nothing else";
        validation.findings.wrong(format!("{path}.type"), message);
        return None;
    }
    tell_ineffective(validation, path, &step, &value);
    let on_error = on_error(&mut validation.findings, &format!("{path}.onError"), step.on_error.as_ref());
    let call = tool::call(validation, Site::item(number), path, &step)?;
    Some((call, on_error))
}

/// Tells what has no effect on a step for each item.
fn tell_ineffective(validation: &mut Validation, path: &str, step: &WorkflowStep, raw: &Value) {
    super::tell_ineffective(validation, path, step);
    let fields = [
        ("condition", set(step.condition.as_ref()).is_some()),
        ("dependsOn", step.depends_on.is_some()),
        ("timeout", step.timeout.is_some()),
        ("defaultResults", step.default_results.is_some()),
    ];
    for (field, _) in fields.into_iter().filter(|(_, is_set)| *is_set) {
        validation.findings.note(format!("{path}.{field}"), "has no effect here: set it on the forEach");
    }
    // The schema does not look into it, so the API server has kept what is no field.
    let known = serde_json::to_value(step).unwrap_or_default();
    let given = raw.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    for (field, _) in given.filter(|(field, _)| known.get(field.as_str()).is_none()) {
        validation.findings.note(below(path, field), "has no effect: a step has no such field");
    }
}
