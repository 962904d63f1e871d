//! Calls of tools.

use thv_api::kinds::WorkflowStep;

use super::set;
use crate::argument::{Argument, arguments};
use crate::json::is_within;
use crate::limits::MAX_DEPTH;
use crate::references::Site;
use crate::workflow::Validation;

/// A call of a tool.
#[derive(Debug)]
pub struct ToolCall {
    /// The tool: its name as clients see it, or that of its server, a dot, and its name there.
    pub tool: String,
    /// What it is called with.
    pub arguments: Vec<(String, Argument)>,
}

pub(super) fn call(
    validation: &mut Validation,
    site: Site,
    path: &str,
    step: &WorkflowStep,
) -> Option<ToolCall> {
    let tool = name(validation, &format!("{path}.tool"), set(step.tool.as_ref()));
    let path = format!("{path}.arguments");
    let arguments = match &step.arguments {
        Some(given) if !is_within(&given.0, MAX_DEPTH) => {
            validation.findings.wrong(path, format!("is nested deeper than {MAX_DEPTH} levels"));
            return None;
        }
        Some(given) => arguments(validation, site, &path, &given.0),
        None => Vec::new(),
    };
    Some(ToolCall { tool: tool?, arguments })
}

fn name(validation: &mut Validation, path: &str, tool: Option<&str>) -> Option<String> {
    let Some(tool) = tool else {
        validation.findings.wrong(path, "is empty: name the tool to call");
        return None;
    };
    let is_fine = tool.starts_with(|c: char| c.is_ascii_alphanumeric())
        && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let message = "has to begin with a letter or a digit, and to have only letters, digits, '.', '_' and '-'";
    validation.findings.unless(is_fine, path, message);
    Some(tool.to_owned())
}
