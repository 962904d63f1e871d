//! The status of `MCPServer`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::Conditions;
use crate::value::string_enum;

/// What is known about a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPServerStatus {
    /// What has been found out about the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// Where the server stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<MCPServerPhase>,

    /// More about the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Address of the proxy within the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// How many pods of the proxy are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Digest of the tool configuration in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_config_hash: Option<String>,

    /// Digest of the external authentication settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_auth_config_hash: Option<String>,

    /// Digest of the settings of the authorization server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_server_config_hash: Option<String>,

    /// Digest of the shared authorization rules in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config_hash: Option<String>,

    /// Digest of the identity provider settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config_hash: Option<String>,

    /// Digest of the telemetry settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_hash: Option<String>,

    /// Digest of the webhook settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_config_hash: Option<String>,
}

string_enum! {
    /// Where a server stands.
    pub enum MCPServerPhase {
        /// It is being brought up.
        Pending = "Pending",
        /// It runs and can be called.
        Ready = "Ready",
        /// It cannot run; see the message.
        Failed = "Failed",
        /// It is being deleted.
        Terminating = "Terminating",
        /// It is scaled to zero.
        Stopped = "Stopped",
    }
}
