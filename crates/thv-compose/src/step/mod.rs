//! Steps.

mod elicitation;
mod for_each;
mod tool;

use std::time::Duration;

use serde_json::{Map, Value};
use thv_api::kinds::{StepType, WorkflowStep};

pub use self::elicitation::Elicitation;
pub use self::for_each::ForEach;
pub use self::tool::ToolCall;
use crate::error_handling::{OnError, duration, on_error};
use crate::json::is_within;
use crate::limits::{DEFAULT_STEP_TIMEOUT, MAX_DEPTH, MAX_ELICITATION_TIMEOUT, MAX_ID};
use crate::references::Site;
use crate::template::Template;
use crate::workflow::Validation;

/// A step of a workflow.
#[derive(Debug)]
pub struct Step {
    /// Its name in templates.
    pub id: String,
    /// The steps that it waits for, by their place in the workflow: those of its `dependsOn`, and those that its
    /// templates name.
    pub needs: Vec<usize>,
    /// Says whether to run the step.
    pub condition: Option<Template>,
    /// What it does.
    pub action: Action,
    /// What to do when that fails.
    pub on_error: OnError,
    /// How long it may take, further attempts included.
    pub timeout: Duration,
    /// Its output when it is skipped, or has failed and the workflow goes on.
    pub default_results: Option<Map<String, Value>>,
}

/// What a step does.
#[derive(Debug)]
pub enum Action {
    /// Calls a tool.
    Tool(ToolCall),
    /// Asks the user.
    Elicitation(Elicitation),
    /// Calls a tool for every item of a list.
    ForEach(ForEach),
}

/// Reads the step at `path`, which is the one of this number. What is wrong with it is told.
pub(crate) fn step(
    validation: &mut Validation,
    number: usize,
    path: &str,
    step: &WorkflowStep,
) -> Option<Step> {
    let site = Site::step(number);
    tell_ineffective(validation, path, step);
    let findings = &mut validation.findings;
    findings.unless(!step.id.is_empty(), format!("{path}.id"), "is empty: set it");
    findings.unless(step.id.len() <= MAX_ID, format!("{path}.id"), format!("has more than {MAX_ID} bytes"));
    let on_error = effective(validation, path, step);
    let timeout = timeout(validation, path, step);
    let default_results = default_results(validation, path, step);
    let condition = condition(validation, site, &format!("{path}.condition"), step);
    let action = match step.type_ {
        StepType::Tool => tool::call(validation, site, path, step).map(Action::Tool),
        StepType::Elicitation => elicitation::read(validation, site, path, step).map(Action::Elicitation),
        StepType::ForEach => for_each::read(validation, number, path, step).map(Action::ForEach),
    };
    Some(Step {
        id: step.id.clone(),
        needs: Vec::new(),
        condition,
        action: action?,
        on_error,
        timeout,
        default_results,
    })
}

/// A text that is set.
fn set(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// Tells which fields have nothing to do with the type of the step. Every field is here, so that a new one cannot be
/// forgotten.
fn tell_ineffective(validation: &mut Validation, path: &str, step: &WorkflowStep) {
    let WorkflowStep {
        id: _,
        type_,
        tool,
        arguments,
        condition: _,
        depends_on: _,
        on_error: _,
        message,
        schema,
        timeout: _,
        on_decline,
        on_cancel,
        default_results: _,
        collection,
        item_var,
        max_parallel,
        max_iterations,
        step: inner,
    } = step;
    let fields = [
        ("tool", set(tool.as_ref()).is_some(), StepType::Tool),
        ("arguments", arguments.is_some(), StepType::Tool),
        ("message", set(message.as_ref()).is_some(), StepType::Elicitation),
        ("schema", schema.is_some(), StepType::Elicitation),
        ("onDecline", on_decline.is_some(), StepType::Elicitation),
        ("onCancel", on_cancel.is_some(), StepType::Elicitation),
        ("collection", set(collection.as_ref()).is_some(), StepType::ForEach),
        ("itemVar", set(item_var.as_ref()).is_some(), StepType::ForEach),
        ("maxParallel", max_parallel.is_some(), StepType::ForEach),
        ("maxIterations", max_iterations.is_some(), StepType::ForEach),
        ("step", inner.is_some(), StepType::ForEach),
    ];
    for (field, is_set, of) in fields {
        if !is_set || of == *type_ {
            continue;
        }
        let (path, message) = (format!("{path}.{field}"), format!("has no effect on a step of type {type_}"));
        // ToolHive refuses these.
        let is_refused = *type_ == StepType::ForEach && matches!(field, "tool" | "message");
        if is_refused {
            validation.findings.wrong(path, format!("{message}: remove it"));
        } else {
            validation.findings.note(path, message);
        }
    }
}

/// What is done when the step fails.
fn effective(validation: &mut Validation, path: &str, step: &WorkflowStep) -> OnError {
    let path = format!("{path}.onError");
    let read = on_error(&mut validation.findings, &path, step.on_error.as_ref());
    match (read, step.type_) {
        (OnError::Retry { .. }, StepType::ForEach) => {
            let message = "a forEach is not tried again: set onError of its step, which is, for each item";
            validation.findings.note(path, message);
            OnError::Abort
        }
        (read, _) => read,
    }
}

fn timeout(validation: &mut Validation, path: &str, step: &WorkflowStep) -> Duration {
    let path = format!("{path}.timeout");
    let timeout = duration(&mut validation.findings, &path, step.timeout.as_ref());
    let timeout = timeout.unwrap_or(DEFAULT_STEP_TIMEOUT);
    if step.type_ != StepType::Elicitation || timeout <= MAX_ELICITATION_TIMEOUT {
        return timeout;
    }
    let minutes = MAX_ELICITATION_TIMEOUT.as_secs() / 60;
    validation.findings.note(path, format!("users have {minutes} minutes at most for an answer"));
    MAX_ELICITATION_TIMEOUT
}

fn default_results(
    validation: &mut Validation,
    path: &str,
    step: &WorkflowStep,
) -> Option<Map<String, Value>> {
    let path = format!("{path}.defaultResults");
    let results = step.default_results.as_ref().map(|results| &results.0).filter(|it| !it.is_null())?;
    let Some(results) = results.as_object() else {
        validation.findings.wrong(path, "has to be an object: outputs by their names");
        return None;
    };
    let is_fine = is_within(results, MAX_DEPTH);
    validation.findings.unless(is_fine, path, format!("is nested deeper than {MAX_DEPTH} levels"));
    is_fine.then(|| results.clone())
}

/// What a condition may come to.
const ANSWERS: [&str; 6] = ["true", "True", "TRUE", "false", "False", "FALSE"];

fn condition(validation: &mut Validation, site: Site, path: &str, step: &WorkflowStep) -> Option<Template> {
    let condition = set(step.condition.as_ref())?;
    let template = validation.template(site, path, condition)?;
    let is_fine = template.parsed().is_some() || ANSWERS.contains(&condition);
    validation.findings.unless(
        is_fine,
        path,
        "has to come to true or false, and is a text without a template",
    );
    Some(template)
}
