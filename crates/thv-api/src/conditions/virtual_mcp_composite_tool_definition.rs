//! Conditions of `VirtualMCPCompositeToolDefinition`.

pub use super::common::Referenced;
use super::{condition, polarities};

condition! {
    /// Whether the steps make sense.
    WorkflowValidated = Good "WorkflowValidated" {
        /// They do.
        True Success = "ValidationSuccess",
        /// They do not.
        False Failed = "ValidationFailed",
        /// A JSON Schema is malformed.
        False SchemaInvalid = "SchemaInvalid",
        /// A template is malformed.
        False TemplateInvalid = "TemplateInvalid",
        /// Steps wait for each other.
        False DependencyCycle = "DependencyCycle",
        /// A step names a tool that does not exist.
        False ToolNotFound = "ToolNotFound",
    }
}

condition! {
    /// Whether virtual servers can use the tool.
    Ready = Good "Ready" {
        /// They can.
        True Ready = "WorkflowReady",
        /// They cannot.
        False NotReady = "WorkflowNotReady",
    }
}

polarities![Ready, Referenced, WorkflowValidated];
