//! Conditions of the kinds that only hold configuration.

use self::external_auth::IdentitySynthesized;
pub use super::common::Referenced;
use super::{condition, polarities};

condition! {
    /// Whether an object that is being deleted has to wait.
    DeletionBlocked = Bad "DeletionBlocked" {
        /// Workloads still refer to it.
        True ReferencedByWorkloads = "ReferencedByWorkloads",
    }
}

// Every kind has its own reasons for `Valid`, which is good news for all of them.
polarities![DeletionBlocked, IdentitySynthesized, Referenced];

/// Conditions of `MCPToolConfig`, `MCPTelemetryConfig` and `MCPWebhookConfig`.
pub mod validated {
    use super::condition;

    condition! {
        /// Whether the object can be used.
        Valid = Good "Valid" {
            /// It can.
            True Succeeded = "ValidationSucceeded",
            /// It cannot.
            False Failed = "ValidationFailed",
        }
    }
}

/// Conditions of `MCPOIDCConfig` and `MCPAuthzConfig`.
pub mod checked {
    use super::condition;

    condition! {
        /// Whether the object can be used.
        Valid = Good "Valid" {
            /// It can.
            True Valid = "ConfigValid",
            /// It cannot.
            False Invalid = "ConfigInvalid",
        }
    }
}

/// Conditions of `MCPExternalAuthConfig`.
pub mod external_auth {
    use super::condition;
    pub use crate::conditions::common::IdentitySynthesized;

    condition! {
        /// Whether the object can be used.
        Valid = Good "Valid" {
            /// It can.
            True Succeeded = "ValidationSucceeded",
            /// It cannot.
            False Failed = "ValidationFailed",
            /// It needs something that this build does not have.
            False EnterpriseRequired = "EnterpriseRequired",
            /// What provides the type refuses the settings.
            False InvalidConfig = "InvalidConfig",
        }
    }
}
