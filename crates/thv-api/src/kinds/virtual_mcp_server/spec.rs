//! `VirtualMCPServer`: all servers of a group as one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth_server::EmbeddedAuthServer;
use crate::kinds::{IncomingAuth, OutgoingAuth, VirtualMCPServerStatus, VmcpConfig};
use crate::object::{Column, Kind, Object};
use crate::schema::cel;
use crate::shared::{
    EmbeddingServerRef, GroupRef, PullSecretRef, SessionAffinity, SessionStorage, TelemetryConfigRef,
};
use crate::value::{RawObject, string_enum};

/// All servers of a group as one.
pub type VirtualMCPServer = Object<VirtualMCPServerSpec>;

impl Kind for VirtualMCPServerSpec {
    type Status = VirtualMCPServerStatus;

    const KIND: &'static str = "VirtualMCPServer";
    const PLURAL: &'static str = "virtualmcpservers";
    const SINGULAR: &'static str = "virtualmcpserver";
    const SHORT_NAMES: &'static [&'static str] = &["vmcp", "virtualmcp"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Phase", "string", ".status.phase"),
        Column::new("URL", "string", ".status.url"),
        Column::new("Backends", "integer", ".status.backendCount"),
        Column::AGE,
        Column::READY,
    ];
    const DESCRIPTION: &'static str = "One MCP server that offers the tools, resources and prompts of all \
         servers of a group.";
}

/// What a virtual server should be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!has(self.config) || !has(self.config.rateLimiting) || (has(self.sessionStorage) && \
         self.sessionStorage.provider == 'redis')",
        "config.rateLimiting counts in Redis: set sessionStorage.provider to redis",
    ),
    (
        "!(has(self.config) && has(self.config.rateLimiting) && \
         has(self.config.rateLimiting.perUser)) || (has(self.incomingAuth) && self.incomingAuth.type \
         == 'oidc')",
        "limits per user need to know the user: set incomingAuth.type to oidc, or remove \
         config.rateLimiting.perUser",
    ),
    (
        "!has(self.config) || !has(self.config.rateLimiting) || !has(self.config.rateLimiting.tools) \
         || self.config.rateLimiting.tools.all(t, !has(t.perUser)) || (has(self.incomingAuth) && \
         self.incomingAuth.type == 'oidc')",
        "limits per user need to know the user: set incomingAuth.type to oidc, or remove \
         perUser from config.rateLimiting.tools",
    ),
    (
        "!(has(self.embeddingServerRef) && has(self.config) && has(self.config.optimizer) && \
         has(self.config.optimizer.embeddingProvider) && self.config.optimizer.embeddingProvider == \
         'openai')",
        "provider openai is reached at config.optimizer.embeddingService: remove \
         embeddingServerRef, or choose another provider",
    ),
])))]
pub struct VirtualMCPServerSpec {
    /// Group whose servers to offer.
    pub group_ref: GroupRef,

    /// Who may call.
    pub incoming_auth: IncomingAuth,

    /// How to sign in to the servers of the group. Each as it says itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outgoing_auth: Option<OutgoingAuth>,

    /// Headers of the client to hand on to the servers. Replaces `config.passthroughHeaders`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub passthrough_headers: Option<Vec<String>>,

    /// Type of the Service.
    #[serde(default)]
    pub service_type: ServiceType,

    /// Whether a client stays with one pod.
    #[serde(default)]
    pub session_affinity: SessionAffinity,

    /// Service account of the pods. One is created, with the rights it needs, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,

    /// Changes to the pods, in the form of a pod template that is merged in. The server is the container
    /// `vmcp`. Annotations for sidecar injection belong here, under `metadata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_spec: Option<RawObject>,

    /// How the virtual server behaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<VmcpConfig>,

    /// Where traces and metrics go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_ref: Option<TelemetryConfigRef>,

    /// Embedding server for tool search. Switches the optimizer on. Not for an optimizer with the provider
    /// `openai`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_server_ref: Option<EmbeddingServerRef>,

    /// Run an OAuth authorization server in the virtual server, so that clients can sign in with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_server_config: Option<EmbeddedAuthServer>,

    /// How many pods to run. When absent, the number is left to whoever else sets it, such as an autoscaler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,

    /// Where sessions are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_storage: Option<SessionStorage>,

    /// Credentials to pull the image with, besides those set for the whole operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub image_pull_secrets: Option<Vec<PullSecretRef>>,
}

string_enum! {
    /// Types of Services.
    pub enum ServiceType {
        /// Reachable within the cluster.
        ClusterIP = "ClusterIP",
        /// Reachable at a port of every node.
        NodePort = "NodePort",
        /// Reachable through a load balancer of the cloud.
        LoadBalancer = "LoadBalancer",
    }
    default ClusterIP
}
