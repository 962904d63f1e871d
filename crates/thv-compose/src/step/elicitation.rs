//! Questions to the user.

use serde_json::{Map, Value};
use thv_api::kinds::{ElicitationAction, ElicitationHandling, WorkflowStep};

use super::set;
use crate::findings::{Findings, Rule};
use crate::json::is_within;
use crate::limits::{MAX_ELICITATION_SCHEMA_BYTES, MAX_ELICITATION_SCHEMA_DEPTH};
use crate::references::Site;
use crate::schema;
use crate::template::Template;
use crate::workflow::Validation;

/// A question to the user.
#[derive(Debug)]
pub struct Elicitation {
    /// The question.
    pub message: Template,
    /// What the answer has to look like.
    pub schema: Map<String, Value>,
    /// What to do when the user declines to answer.
    pub on_decline: ElicitationAction,
    /// What to do when the user cancels, or does not answer in time.
    pub on_cancel: ElicitationAction,
}

pub(super) fn read(
    validation: &mut Validation,
    site: Site,
    path: &str,
    step: &WorkflowStep,
) -> Option<Elicitation> {
    let message_path = format!("{path}.message");
    let message = set(step.message.as_ref());
    validation.findings.unless(message.is_some(), &message_path, "is empty: say what to ask the user");
    let message = message.and_then(|message| validation.template(site, &message_path, message));
    let schema_path = format!("{path}.schema");
    let schema = step.schema.as_ref().map(|schema| &schema.0);
    match schema {
        Some(schema) => check(&mut validation.findings, &schema_path, schema),
        None => validation.findings.wrong(schema_path, "is missing: say what the answer has to look like"),
    }
    let action = |handling: Option<&ElicitationHandling>| {
        handling.map_or(ElicitationAction::Abort, |ElicitationHandling { action }| *action)
    };
    Some(Elicitation {
        message: message?,
        schema: schema?.clone(),
        on_decline: action(step.on_decline.as_ref()),
        on_cancel: action(step.on_cancel.as_ref()),
    })
}

fn check(findings: &mut Findings, path: &str, schema: &Map<String, Value>) {
    if !is_within(schema, MAX_ELICITATION_SCHEMA_DEPTH) {
        let message = format!("is nested deeper than {MAX_ELICITATION_SCHEMA_DEPTH} levels");
        findings.error(Rule::Schema, path, message);
        return;
    }
    schema::check(findings, path, schema);
    let size = serde_json::to_string(schema).map_or(0, |text| text.len());
    if size > MAX_ELICITATION_SCHEMA_BYTES {
        let message = format!("has more than {MAX_ELICITATION_SCHEMA_BYTES} bytes");
        findings.error(Rule::Schema, path, message);
    }
}
