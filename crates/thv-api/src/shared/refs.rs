//! References to other objects of the same namespace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::string_enum;

/// The group that a workload belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRef {
    /// Name of the `MCPGroup`.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// A choice of tools, and other names for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolConfigRef {
    /// Name of the `MCPToolConfig`.
    pub name: String,
}

/// How to sign in to something outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalAuthConfigRef {
    /// Name of the `MCPExternalAuthConfig`.
    pub name: String,
}

/// Webhooks that see every call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfigRef {
    /// Name of the `MCPWebhookConfig`.
    pub name: String,
}

/// Shared authorization rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthzConfigRef {
    /// Name of the `MCPAuthzConfig`.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// Shared telemetry settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TelemetryConfigRef {
    /// Name of the `MCPTelemetryConfig`.
    #[schemars(length(min = 1))]
    pub name: String,

    /// Service name to report under. The name of this object when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
}

/// A shared identity provider, and what is particular to this server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OIDCConfigRef {
    /// Name of the `MCPOIDCConfig`.
    #[schemars(length(min = 1))]
    pub name: String,

    /// Audience that tokens must be issued for. Give every server its own, so that a token for one is no good
    /// at another.
    #[schemars(length(min = 1))]
    pub audience: String,

    /// Scopes to advertise to clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// URL by which clients know this server, for OAuth protected resource metadata. The address of the
    /// Service when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_url: Option<String>,
}

/// The embedded OAuth authorization server to run in the proxy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["kind", "name"]))]
pub struct AuthServerRef {
    /// Kind of the object that holds the settings.
    #[serde(default)]
    pub kind: AuthServerKind,

    /// Name of the `MCPExternalAuthConfig`, which has to be of type `embeddedAuthServer`.
    #[schemars(length(min = 1))]
    pub name: String,
}

string_enum! {
    /// Kinds that can configure an authorization server.
    pub enum AuthServerKind {
        /// An `MCPExternalAuthConfig`.
        MCPExternalAuthConfig = "MCPExternalAuthConfig",
    }
    default MCPExternalAuthConfig
}

/// The embedding server to search tools with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingServerRef {
    /// Name of the `EmbeddingServer`.
    pub name: String,
}
