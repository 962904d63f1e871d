//! Audit records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether calls are recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditConfig {
    /// Whether to write an audit record for every call.
    #[serde(default)]
    pub enabled: bool,
}
