//! How a virtual server behaves: `spec.config`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::{
    Aggregation, CodeMode, ConfigAudit, ConfigIncomingAuth, ConfigOutgoingAuth, ConfigTelemetry, Operational,
    Optimizer, VirtualMCPCompositeToolDefinitionSpec,
};
use crate::pattern::HTTP_URL;
use crate::shared::{HttpTransport, RateLimiting, SessionProvider};
use crate::value::string_enum;

/// How a virtual server behaves. This is also the form of its configuration file, so some fields only matter
/// there: what ToolHive fills in from the rest of the spec is replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct VmcpConfig {
    /// Name of the virtual server. Filled in from the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,

    /// Group whose servers to offer. Filled in from `spec.groupRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ref: Option<String>,

    /// The servers, when they are not discovered. Filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backends: Option<Vec<StaticBackend>>,

    /// Who may call. Filled in from `spec.incomingAuth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incoming_auth: Option<ConfigIncomingAuth>,

    /// How to sign in to the servers. Filled in from `spec.outgoingAuth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outgoing_auth: Option<ConfigOutgoingAuth>,

    /// How the tools of all servers become one list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,

    /// Tools made of other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite_tools: Option<Vec<VirtualMCPCompositeToolDefinitionSpec>>,

    /// Tools made of other tools, defined elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite_tool_refs: Option<Vec<CompositeToolRef>>,

    /// Timeouts, health checks and logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operational: Option<Operational>,

    /// Anything you want to note. It has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,

    /// Where traces and metrics go. Filled in from `spec.telemetryConfigRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<ConfigTelemetry>,

    /// Audit records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<ConfigAudit>,

    /// Tool search: clients see a search tool in place of all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<Optimizer>,

    /// Let clients run small scripts over the tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_mode: Option<CodeMode>,

    /// Where sessions are kept. Filled in from `spec.sessionStorage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_storage: Option<ConfigSessionStorage>,

    /// Limits on calls. Needs `spec.sessionStorage` in Redis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limiting: Option<RateLimiting>,

    /// Headers of the client to hand on to the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub passthrough_headers: Option<Vec<String>>,

    /// Fields that the schema does not name. They are kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub unknown: BTreeMap<String, Value>,
}

/// A server that is not discovered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaticBackend {
    /// Name of the server.
    pub name: String,

    /// Its address.
    #[schemars(regex(pattern = HTTP_URL))]
    pub url: String,

    /// Transport that it speaks.
    pub transport: HttpTransport,

    /// What it is.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<StaticBackendType>,

    /// File with certificate authorities to trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle_path: Option<String>,

    /// What else is known about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, String>>,
}

string_enum! {
    /// What a server that is not discovered is.
    pub enum StaticBackendType {
        /// An `MCPServerEntry`.
        Entry = "entry",
        /// An `MCPServer` or `MCPRemoteProxy`.
        Workload = "",
    }
}

/// A composite tool that is defined elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompositeToolRef {
    /// Name of the `VirtualMCPCompositeToolDefinition`.
    pub name: String,
}

/// Where sessions are kept, as the configuration file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigSessionStorage {
    /// Kind of store.
    pub provider: SessionProvider,

    /// Address of Redis, as `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,

    /// Number of the Redis database.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub db: i32,

    /// Prefix of all Redis keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
}
