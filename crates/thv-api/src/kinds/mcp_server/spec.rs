//! `MCPServer`: an MCP server in the cluster, behind a proxy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::MCPServerStatus;
use crate::object::{Column, Kind, Object};
use crate::schema::cel;
use crate::shared::{
    AuditConfig, AuthServerRef, AuthzConfig, AuthzConfigRef, EnvVar, ExternalAuthConfigRef, GroupRef,
    HttpTransport, OIDCConfigRef, RateLimiting, ResourceOverrides, ResourceRequirements, SessionAffinity,
    SessionStorage, TelemetryConfigRef, ToolConfigRef, WebhookConfigRef,
};
use crate::value::{Port, RawObject, string_enum};

/// An MCP server in the cluster.
pub type MCPServer = Object<MCPServerSpec>;

impl Kind for MCPServerSpec {
    type Status = MCPServerStatus;

    const KIND: &'static str = "MCPServer";
    const PLURAL: &'static str = "mcpservers";
    const SINGULAR: &'static str = "mcpserver";
    const SHORT_NAMES: &'static [&'static str] = &["mcpserver", "mcpservers"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Status", "string", ".status.phase"),
        Column::READY,
        Column::new("Replicas", "integer", ".status.readyReplicas"),
        Column::new("URL", "string", ".status.url"),
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "An MCP server that runs in the cluster, behind a proxy that adds \
         authentication, authorization, audit and telemetry.";
}

/// What a server should be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!(has(self.authzConfig) && has(self.authzConfigRef))",
        "set either authzConfig or authzConfigRef, not both",
    ),
    (
        "!has(self.rateLimiting) || (has(self.sessionStorage) && self.sessionStorage.provider == \
         'redis')",
        "rateLimiting counts in Redis: set sessionStorage.provider to redis",
    ),
    (
        "!(has(self.rateLimiting) && has(self.rateLimiting.perUser)) || has(self.oidcConfigRef) || \
         has(self.externalAuthConfigRef)",
        "limits per user need to know the user: set oidcConfigRef or externalAuthConfigRef, or \
         remove rateLimiting.perUser",
    ),
    (
        "!has(self.rateLimiting) || !has(self.rateLimiting.tools) || self.rateLimiting.tools.all(t, \
         !has(t.perUser)) || has(self.oidcConfigRef) || has(self.externalAuthConfigRef)",
        "limits per user need to know the user: set oidcConfigRef or externalAuthConfigRef, or \
         remove perUser from rateLimiting.tools",
    ),
])))]
pub struct MCPServerSpec {
    /// Image of the MCP server.
    pub image: String,

    /// Transport that the server speaks.
    #[serde(default)]
    pub transport: Transport,

    /// Transport that the proxy offers to clients when the server speaks `stdio`. With any other transport,
    /// the proxy offers the same.
    #[serde(default)]
    pub proxy_mode: HttpTransport,

    /// Port that the proxy listens on.
    #[serde(default = "default_proxy_port")]
    pub proxy_port: Port,

    /// Port that the server listens on, for the HTTP transports. 8080 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_port: Option<Port>,

    /// Arguments for the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,

    /// Environment variables of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub env: Option<Vec<EnvVar>>,

    /// Directories of the node to mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub volumes: Option<Vec<HostVolume>>,

    /// How much CPU and memory the proxy may use. For the server itself, use `podTemplateSpec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,

    /// Secrets to hand to the server as environment variables. A Secret can appear once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub secrets: Option<Vec<SecretEnv>>,

    /// Service account of the server's pods. One is created when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,

    /// What the server may reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_profile: Option<PermissionProfile>,

    /// Changes to the pods of the server, in the form of a pod template that is merged in. The server is the
    /// container `mcp`. The pods of the proxy are not concerned: see `resourceOverrides`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_spec: Option<RawObject>,

    /// Changes to the objects behind the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_overrides: Option<ResourceOverrides>,

    /// Whose tokens callers must bring. Without it, anyone may call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config_ref: Option<OIDCConfigRef>,

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

    /// How the proxy obtains credentials for what the server calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_auth_config_ref: Option<ExternalAuthConfigRef>,

    /// Webhooks that see every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_config_ref: Option<WebhookConfigRef>,

    /// Run an OAuth authorization server in the proxy, so that clients can sign in with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_server_ref: Option<AuthServerRef>,

    /// Where traces and metrics go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry_config_ref: Option<TelemetryConfigRef>,

    /// Whether to believe `X-Forwarded-*` headers. Only behind a proxy of your own.
    #[serde(default)]
    pub trust_proxy_headers: bool,

    /// Path prefix to put before the URLs that SSE clients are given, for use behind a path-rewriting
    /// ingress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_prefix: Option<String>,

    /// Group that the server belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ref: Option<GroupRef>,

    /// Whether a client stays with one pod of the proxy.
    #[serde(default)]
    pub session_affinity: SessionAffinity,

    /// How many pods of the proxy to run. When absent, the number is left to whoever else sets it, such as an
    /// autoscaler. A `stdio` server has at most one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,

    /// How many pods of the server to run. When absent, the number is left to whoever else sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub backend_replicas: Option<i32>,

    /// Where sessions are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_storage: Option<SessionStorage>,

    /// Limits on calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limiting: Option<RateLimiting>,
}

string_enum! {
    /// MCP transports.
    pub enum Transport {
        /// Standard input and output of the server's process.
        Stdio = "stdio",
        /// Streamable HTTP.
        StreamableHttp = "streamable-http",
        /// HTTP with server-sent events, the older transport.
        Sse = "sse",
    }
    default Stdio
}

/// A directory of the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostVolume {
    /// Name of the volume.
    pub name: String,

    /// Path on the node.
    pub host_path: String,

    /// Path in the container.
    pub mount_path: String,

    /// Whether the container may only read it.
    #[serde(default)]
    pub read_only: bool,
}

/// One key of a Secret as an environment variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretEnv {
    /// Name of the Secret.
    pub name: String,

    /// Key within the Secret.
    pub key: String,

    /// Name of the environment variable. The key when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_env_name: Option<String>,
}

/// What a server may reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["name", "type"]))]
pub struct PermissionProfile {
    /// Where the profile is.
    #[serde(rename = "type", default)]
    pub type_: PermissionProfileType,

    /// For type `builtin`, `none` or `network`. For type `configmap`, the name of the ConfigMap.
    pub name: String,

    /// Key within the ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

string_enum! {
    /// Where permission profiles come from.
    pub enum PermissionProfileType {
        /// One of those that come with ToolHive.
        Builtin = "builtin",
        /// One in a ConfigMap.
        ConfigMap = "configmap",
    }
    default Builtin
}

fn default_proxy_port() -> Port {
    Port::HTTP
}
