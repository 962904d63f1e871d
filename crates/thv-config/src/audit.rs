//! What is recorded about requests.

use serde::{Deserialize, Serialize};

use crate::value::is_zero;

/// What is recorded about requests. To have this configuration is to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AuditConfig {
    /// Nobody heeds this.
    #[serde(skip_serializing_if = "is_zero")]
    pub enabled: bool,

    /// Component that records call themselves after.
    #[serde(skip_serializing_if = "is_zero")]
    pub component: String,

    /// Types of events to record. All when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub event_types: Vec<String>,

    /// Types of events not to record.
    #[serde(skip_serializing_if = "is_zero")]
    pub exclude_event_types: Vec<String>,

    /// Whether bodies of requests are recorded.
    #[serde(skip_serializing_if = "is_zero")]
    pub include_request_data: bool,

    /// Whether bodies of responses are recorded.
    #[serde(skip_serializing_if = "is_zero")]
    pub include_response_data: bool,

    /// Whether responses are searched for errors. Yes when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub detect_application_errors: Option<bool>,

    /// How many bytes of a body are recorded at most. 1024 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_data_size: i64,

    /// How many actors of a delegation are recorded at most. 10 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_delegation_depth: i64,

    /// File to record to. Standard output when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub log_file: String,
}

impl AuditConfig {
    /// What the operator writes when auditing is on: errors are detected, bodies are cut at 1024 bytes.
    pub fn standard() -> Self {
        Self { detect_application_errors: Some(true), max_data_size: 1024, ..Self::default() }
    }
}
