//! The document as a whole, with its keys in the order in which they are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use super::aggregation::Aggregation;
use super::composite::CompositeTool;
use super::incoming::IncomingAuth;
use super::operational::Operational;
use super::outgoing::OutgoingAuth;
use super::search::{CodeMode, Optimizer};
use super::storage::SessionStorage;
use crate::audit::AuditConfig;
use crate::auth_server::AuthServerConfig;
use crate::rate_limit::RateLimitConfig;
use crate::secret::Guarded;
use crate::telemetry::TelemetryConfig;
use crate::value::{empty_is_none, is_zero};

/// What a virtual MCP server runs by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VmcpConfig {
    /// Name of the virtual server, which clients are told.
    #[serde(default)]
    pub name: String,

    /// Group whose servers are offered.
    #[serde(default)]
    pub group_ref: String,

    /// The servers. When empty, they are discovered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backends: Vec<Backend>,

    /// Who may call.
    pub incoming_auth: IncomingAuth,

    /// How to sign in to the servers.
    pub outgoing_auth: OutgoingAuth,

    /// How the tools of all servers become one list.
    pub aggregation: Aggregation,

    /// Tools made of other tools, those that are defined elsewhere among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub composite_tools: Vec<CompositeTool>,

    /// Which composite tools were defined elsewhere. For information.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub composite_tool_refs: Vec<CompositeToolRef>,

    /// Timeouts, health checks and logs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub operational: Operational,

    /// Notes of the user. They have no effect.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub metadata: BTreeMap<String, String>,

    /// Traces and metrics.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub telemetry: Option<TelemetryConfig>,

    /// What is recorded about requests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub audit: Option<AuditConfig>,

    /// Tool search: clients see a search tool in place of all tools.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub optimizer: Option<Optimizer>,

    /// Small scripts over the tools.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub code_mode: Option<CodeMode>,

    /// Where sessions are kept. In memory when absent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub session_storage: Option<SessionStorage>,

    /// Limits on calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rate_limiting: Option<RateLimitConfig>,

    /// Headers of the client that are handed on to the servers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passthrough_headers: Vec<String>,

    /// The embedded OAuth authorization server. It stands in a file of its own.
    #[serde(skip)]
    pub auth_server: Option<AuthServerConfig>,
}

impl VmcpConfig {
    /// Fills in what a document may leave out, as the program understands it.
    pub fn normalise(&mut self) {
        self.operational.fill_in();
        self.aggregation.fill_in();
        if let Some(auth_server) = &self.auth_server {
            self.outgoing_auth.fill_in(auth_server);
        }
    }
}

/// A server that is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backend {
    /// Name of the server, which is also its identifier.
    #[serde(default)]
    pub name: String,

    /// Where it is.
    #[serde(default)]
    pub url: Guarded<String>,

    /// Transport that it speaks.
    pub transport: BackendTransport,

    /// What it is. A workload of the cluster when absent.
    #[serde(rename = "type", default, skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub type_: Option<BackendType>,

    /// File with the certificate authorities to trust. For entries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ca_bundle_path: String,

    /// What else is known about it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub metadata: BTreeMap<String, String>,
}

string_enum! {
    /// How a server is reached.
    pub enum BackendTransport {
        /// Over HTTP with server-sent events, the older transport.
        Sse = "sse",
        /// Over streamable HTTP.
        StreamableHttp = "streamable-http",
    }
}

string_enum! {
    /// What a server is, where it is no workload of the cluster.
    pub enum BackendType {
        /// A server elsewhere that an `MCPServerEntry` names.
        Entry = "entry",
    }
}

/// A composite tool that is defined elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CompositeToolRef {
    /// Name of the `VirtualMCPCompositeToolDefinition`.
    pub name: String,
}
