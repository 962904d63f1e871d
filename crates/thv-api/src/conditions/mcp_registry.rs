//! Conditions of `MCPRegistry`.

pub use super::common::PodTemplateValid;
pub use super::mcp_server::{OverridesAccepted, SpecValid};
use super::{condition, polarities};

condition! {
    /// Whether the registry can be called.
    Ready = Good "Ready" {
        /// It can.
        True Ready = "Ready",
        /// No pod is ready.
        False NotReady = "NotReady",
        /// The spec does not make sense.
        False ValidationFailed = "ValidationFailed",
        /// The ConfigMap could not be written.
        False ConfigMapFailed = "ConfigMapFailed",
        /// The ServiceAccount, Role or RoleBinding could not be written.
        False RBACFailed = "RBACFailed",
        /// The Deployment could not be written.
        False DeploymentFailed = "DeploymentFailed",
        /// The Service could not be written.
        False ServiceFailed = "ServiceFailed",
    }
}

polarities![OverridesAccepted, PodTemplateValid, Ready, SpecValid];
