//! Tools made of other tools: their form. Whether a workflow makes sense is checked elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use super::aggregation::ToolAnnotations;
use super::duration::CanonicalDuration;
use super::free_form::FreeForm;
use crate::value::{empty_is_none, is_zero};

/// A tool made of other tools: steps that run in the order of their dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CompositeTool {
    /// Name of the tool.
    pub name: String,

    /// Description of the tool, for clients.
    #[serde(skip_serializing_if = "is_zero")]
    pub description: String,

    /// What the tool takes, as a JSON Schema of type `object`.
    #[serde(skip_serializing_if = "is_zero")]
    pub parameters: FreeForm,

    /// How long the whole tool may take. Half an hour when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub timeout: Option<CanonicalDuration>,

    /// The steps.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps: Vec<Step>,

    /// What the tool returns. The outputs of all steps when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub output: Option<Output>,

    /// Hints for clients.
    #[serde(skip_serializing_if = "is_zero")]
    pub annotations: Option<ToolAnnotations>,
}

/// A step. Texts may contain templates over the parameters and the outputs of other steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Step {
    /// Identifier of the step.
    #[serde(skip_serializing_if = "is_zero")]
    pub id: String,

    /// Kind of step. A call of a tool when absent.
    #[serde(rename = "type", skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub type_: Option<StepType>,

    /// Tool to call. For type `tool`.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool: String,

    /// Arguments of the call.
    #[serde(skip_serializing_if = "is_zero")]
    pub arguments: FreeForm,

    /// Template that says whether to run the step.
    #[serde(skip_serializing_if = "is_zero")]
    pub condition: String,

    /// Steps that have to come first.
    #[serde(skip_serializing_if = "is_zero")]
    pub depends_on: Vec<String>,

    /// What to do when the step fails.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_error: Option<StepErrorHandling>,

    /// Question to ask. For type `elicitation`.
    #[serde(skip_serializing_if = "is_zero")]
    pub message: String,

    /// What the answer has to look like, as a JSON Schema. For type `elicitation`.
    #[serde(skip_serializing_if = "is_zero")]
    pub schema: FreeForm,

    /// How long the step may take. Five minutes when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub timeout: Option<CanonicalDuration>,

    /// What to do when the user declines to answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_decline: Option<ElicitationHandling>,

    /// What to do when the user cancels.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_cancel: Option<ElicitationHandling>,

    /// Outputs to go on with when the step is skipped or fails.
    #[serde(skip_serializing_if = "is_zero")]
    pub default_results: FreeForm,

    /// Template that yields a list. For type `forEach`.
    #[serde(skip_serializing_if = "is_zero")]
    pub collection: String,

    /// Name of the current item in templates. `item` when absent. For type `forEach`.
    #[serde(skip_serializing_if = "is_zero")]
    pub item_var: String,

    /// How many items at once. 10 when absent. For type `forEach`.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_parallel: i64,

    /// How many items at most. 100 when absent. For type `forEach`.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_iterations: i64,

    /// Step to run for every item. For type `forEach`.
    #[serde(skip_serializing_if = "is_zero")]
    pub step: Option<Box<Step>>,
}

string_enum! {
    /// Kinds of steps.
    pub enum StepType {
        /// Call a tool.
        Tool = "tool",
        /// Ask the user.
        Elicitation = "elicitation",
        /// Run a step for every item of a list.
        ForEach = "forEach",
    }
}

/// What to do when a step fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StepErrorHandling {
    /// What to do. `abort` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub action: Option<StepErrorAction>,

    /// How often to try again. For `retry`.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_count: i64,

    /// How long to wait before that. A second when absent. For `retry`.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub retry_delay: Option<CanonicalDuration>,
}

string_enum! {
    /// What to do when a step fails.
    pub enum StepErrorAction {
        /// Give up.
        Abort = "abort",
        /// Go on with the default results.
        Continue = "continue",
        /// Try again.
        Retry = "retry",
    }
}

/// What to do when the user does not answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ElicitationHandling {
    /// What to do. `abort` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub action: Option<ElicitationAction>,
}

string_enum! {
    /// What to do when the user does not answer.
    pub enum ElicitationAction {
        /// Skip what is left, and return what there is.
        SkipRemaining = "skip_remaining",
        /// Give up.
        Abort = "abort",
        /// Go on.
        Continue = "continue",
    }
}

/// What a composite tool returns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Output {
    /// The fields of the result.
    pub properties: BTreeMap<String, OutputProperty>,

    /// Fields that have to be there.
    #[serde(skip_serializing_if = "is_zero")]
    pub required: Vec<String>,
}

/// A field of the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputProperty {
    /// Type of the field.
    #[serde(rename = "type")]
    pub type_: OutputType,

    /// What the field means.
    #[serde(default)]
    pub description: String,

    /// Template that yields the value.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub value: String,

    /// Fields within. For type `object`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub properties: BTreeMap<String, OutputProperty>,

    /// Value to use when the template yields none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub default: FreeForm,
}

string_enum! {
    /// JSON types.
    pub enum OutputType {
        /// A text.
        String = "string",
        /// A whole number.
        Integer = "integer",
        /// A number.
        Number = "number",
        /// True or false.
        Boolean = "boolean",
        /// An object.
        Object = "object",
        /// A list.
        Array = "array",
    }
}
