//! `VirtualMCPCompositeToolDefinition`: a tool made of other tools, to share.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::schema::{Conditions, PlainInt};
use crate::shared::ToolAnnotations;
use crate::value::{GoDuration, RawObject, RawValue, present, string_enum};

/// A composite tool that several virtual servers share.
pub type VirtualMCPCompositeToolDefinition = Object<VirtualMCPCompositeToolDefinitionSpec>;

impl Kind for VirtualMCPCompositeToolDefinitionSpec {
    type Status = VirtualMCPCompositeToolDefinitionStatus;

    const KIND: &'static str = "VirtualMCPCompositeToolDefinition";
    const PLURAL: &'static str = "virtualmcpcompositetooldefinitions";
    const SINGULAR: &'static str = "virtualmcpcompositetooldefinition";
    const SHORT_NAMES: &'static [&'static str] = &["vmcpctd", "compositetool"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Workflow", "string", ".spec.name"),
        Column::new("Status", "string", ".status.validationStatus"),
        Column::AGE,
        Column::READY,
    ];
    const DESCRIPTION: &'static str = "A tool made of other tools. A VirtualMCPServer refers to it by \
         config.compositeToolRefs.";
}

/// A tool made of other tools: steps that run in the order of their dependencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMCPCompositeToolDefinitionSpec {
    /// Name of the tool.
    pub name: String,

    /// Description of the tool, for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,

    /// What the tool takes, as a JSON Schema of type `object`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<RawObject>,

    /// How long the whole tool may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<GoDuration>,

    /// The steps.
    pub steps: Vec<WorkflowStep>,

    /// What the tool returns. The outputs of all steps when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<WorkflowOutput>,

    /// Hints for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// A step. Texts may contain Go templates over the parameters and the outputs of other steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStep {
    /// Identifier of the step.
    pub id: String,

    /// Kind of step.
    #[serde(rename = "type", default)]
    pub type_: StepType,

    /// Tool to call. For type `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,

    /// Arguments of the call. All texts in them are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject>,

    /// Template that says whether to run the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,

    /// Steps that have to come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,

    /// What to do when the step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<StepErrorHandling>,

    /// Question to ask, a template. For type `elicitation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// What the answer has to look like, as a JSON Schema. For type `elicitation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<RawObject>,

    /// How long the step may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<GoDuration>,

    /// What to do when the user declines to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_decline: Option<ElicitationHandling>,

    /// What to do when the user cancels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cancel: Option<ElicitationHandling>,

    /// Outputs to go on with when the step is skipped or fails.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default_results: Option<RawValue>,

    /// Template that yields a list. For type `forEach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,

    /// Name of the current item in templates. `item` when absent. For type `forEach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_var: Option<String>,

    /// How many items at once. 10 when absent. For type `forEach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub max_parallel: Option<i64>,

    /// How many items at most. 100 when absent. For type `forEach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub max_iterations: Option<i64>,

    /// Step to run for every item, of type `tool`. For type `forEach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<RawObject>,
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
    default Tool
}

/// What to do when a step fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepErrorHandling {
    /// What to do.
    #[serde(default)]
    pub action: StepErrorAction,

    /// How often to try again. For `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub retry_count: Option<i64>,

    /// How long to wait before that. For `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay: Option<GoDuration>,
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
    default Abort
}

/// What to do when the user does not answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationHandling {
    /// What to do.
    #[serde(default)]
    pub action: ElicitationAction,
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
    default Abort
}

/// What a composite tool returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowOutput {
    /// The fields of the result.
    pub properties: BTreeMap<String, OutputProperty>,

    /// Fields that have to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
}

/// A field of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputProperty {
    /// Type of the field.
    #[serde(rename = "type")]
    pub type_: OutputType,

    /// What the field means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,

    /// Template that yields the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,

    /// Fields within, each like this one. For type `object`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<RawObject>,

    /// Value to use when the template yields none.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default: Option<RawValue>,
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

/// What is known about a composite tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMCPCompositeToolDefinitionStatus {
    /// What has been found out about the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Whether the tool can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_status: Option<ValidationStatus>,

    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub validation_errors: Option<Vec<String>>,

    /// Names of the `VirtualMCPServer`s that use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub referencing_virtual_servers: Option<Vec<String>>,
}

string_enum! {
    /// Whether a composite tool can be used.
    pub enum ValidationStatus {
        /// It can.
        Valid = "Valid",
        /// It cannot; see the errors.
        Invalid = "Invalid",
        /// It has not been checked.
        Unknown = "Unknown",
    }
}
