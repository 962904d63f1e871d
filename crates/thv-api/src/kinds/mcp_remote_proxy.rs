//! `MCPRemoteProxy`: a proxy in front of a server that runs elsewhere.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::pattern::HTTP_URL;
use crate::schema::{Conditions, cel};
use crate::shared::{
    AuditConfig, AuthServerRef, AuthzConfig, AuthzConfigRef, ExternalAuthConfigRef, GroupRef, HeaderForward,
    HttpTransport, OIDCConfigRef, ResourceOverrides, ResourceRequirements, SessionAffinity, SessionStorage,
    TelemetryConfigRef, ToolConfigRef,
};
use crate::value::{Port, RawObject, string_enum};

/// A proxy in front of a remote MCP server.
pub type MCPRemoteProxy = Object<MCPRemoteProxySpec>;

impl Kind for MCPRemoteProxySpec {
    type Status = MCPRemoteProxyStatus;

    const KIND: &'static str = "MCPRemoteProxy";
    const PLURAL: &'static str = "mcpremoteproxies";
    const SINGULAR: &'static str = "mcpremoteproxy";
    const SHORT_NAMES: &'static [&'static str] = &["rp", "mcprp"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Phase", "string", ".status.phase"),
        Column::new("Remote URL", "string", ".spec.remoteUrl"),
        Column::new("URL", "string", ".status.url"),
        Column::READY,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "A proxy in front of an MCP server that runs elsewhere: it adds \
         authentication, authorization, audit and telemetry.";
}

/// What a remote proxy should be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!(has(self.authzConfig) && has(self.authzConfigRef))",
        "set either authzConfig or authzConfigRef, not both",
    ),
])))]
pub struct MCPRemoteProxySpec {
    /// URL of the remote server.
    #[schemars(regex(pattern = HTTP_URL))]
    pub remote_url: String,

    /// Whether the URL may have a private address. Link-local and loopback addresses are never allowed.
    #[serde(default)]
    pub allow_private_endpoint: bool,

    /// Transport that the remote server speaks.
    #[serde(default)]
    pub transport: HttpTransport,

    /// Port that the proxy listens on.
    #[serde(default = "default_proxy_port")]
    pub proxy_port: Port,

    /// Whose tokens callers must bring. Without it, anyone may call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config_ref: Option<OIDCConfigRef>,

    /// How the proxy signs in to the remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_auth_config_ref: Option<ExternalAuthConfigRef>,

    /// Run an OAuth authorization server in the proxy, so that clients can sign in with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_server_ref: Option<AuthServerRef>,

    /// Headers to add to every request to the remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_forward: Option<HeaderForward>,

    /// Who may call what. Excludes `authzConfigRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config: Option<AuthzConfig>,

    /// Who may call what, shared with other servers. Excludes `authzConfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config_ref: Option<AuthzConfigRef>,

    /// Whether calls are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditConfig>,

    /// Which tools to offer, and under which names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_config_ref: Option<ToolConfigRef>,

    /// Where traces and metrics go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_ref: Option<TelemetryConfigRef>,

    /// How much CPU and memory the proxy may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,

    /// Service account of the proxy. One is created when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,

    /// Changes to the pods, in the form of a pod template that is merged in. The proxy is the container
    /// `toolhive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_spec: Option<RawObject>,

    /// Whether to believe `X-Forwarded-*` headers. Only behind a proxy of your own.
    #[serde(default)]
    pub trust_proxy_headers: bool,

    /// Path prefix to put before the URLs that SSE clients are given, for use behind a path-rewriting
    /// ingress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_prefix: Option<String>,

    /// Changes to the objects behind the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_overrides: Option<ResourceOverrides>,

    /// Group that the proxy belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ref: Option<GroupRef>,

    /// Whether a client stays with one pod.
    #[serde(default)]
    pub session_affinity: SessionAffinity,

    /// How many pods to run. When absent, the number is left to whoever else sets it, such as an autoscaler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,

    /// Where sessions are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_storage: Option<SessionStorage>,
}

/// What is known about a remote proxy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPRemoteProxyStatus {
    /// What has been found out about the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// Where the proxy stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<MCPRemoteProxyPhase>,

    /// More about the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Address of the proxy within the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// Address of the proxy from outside, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_url: Option<String>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Digest of the tool configuration in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_config_hash: Option<String>,

    /// Digest of the telemetry settings in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_hash: Option<String>,

    /// Digest of the settings for signing in to the remote server.
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
}

string_enum! {
    /// Where a remote proxy stands.
    pub enum MCPRemoteProxyPhase {
        /// No pod is ready yet.
        Pending = "Pending",
        /// At least one pod is ready.
        Ready = "Ready",
        /// It cannot run; see the message.
        Failed = "Failed",
        /// It is being deleted.
        Terminating = "Terminating",
    }
}

fn default_proxy_port() -> Port {
    Port::HTTP
}
