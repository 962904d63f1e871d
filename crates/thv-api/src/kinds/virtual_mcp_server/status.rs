//! The status of `VirtualMCPServer`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{Conditions, DateTime, PlainInt};
use crate::value::string_enum;

/// What is known about a virtual server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VirtualMCPServerStatus {
    /// What has been found out about the virtual server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Where the virtual server stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Pending"))]
    pub phase: Option<VirtualMCPServerPhase>,

    /// More about the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Address of the virtual server within the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// The servers that it offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub discovered_backends: Option<Vec<DiscoveredBackend>>,

    /// How many of them can be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_count: Option<i32>,

    /// Digest of the identity provider settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config_hash: Option<String>,

    /// Digest of the shared authorization rules in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config_hash: Option<String>,

    /// Digest of the telemetry settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_hash: Option<String>,
}

string_enum! {
    /// Where a virtual server stands.
    pub enum VirtualMCPServerPhase {
        /// It is being brought up.
        Pending = "Pending",
        /// It runs, and all servers can be called.
        Ready = "Ready",
        /// It runs, but some servers cannot be called.
        Degraded = "Degraded",
        /// It cannot run; see the message.
        Failed = "Failed",
    }
    default Pending
}

/// A server that a virtual server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredBackend {
    /// Name of the server.
    pub name: String,

    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// How it does: `ready`, `degraded`, `unavailable`, `unauthenticated` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,

    /// More about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Name of the `MCPExternalAuthConfig` in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_config_ref: Option<String>,

    /// How the virtual server signs in to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_type: Option<String>,

    /// When it was last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime>")]
    pub last_health_check: Option<Time>,

    /// State of its circuit breaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_breaker_state: Option<CircuitBreakerState>,

    /// When that state last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DateTime>")]
    pub circuit_last_changed: Option<Time>,

    /// How many checks in a row have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub consecutive_failures: Option<i64>,

    /// Revision of the MCP protocol that it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_revision: Option<String>,
}

string_enum! {
    /// States of a circuit breaker.
    pub enum CircuitBreakerState {
        /// Calls go through.
        Closed = "closed",
        /// Calls are refused at once.
        Open = "open",
        /// A call is let through to see whether the server is back.
        HalfOpen = "half-open",
    }
}
