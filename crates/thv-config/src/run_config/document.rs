//! The keys of the document, in the order in which they are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

use crate::audit::AuditConfig;
use crate::auth_server::AuthServerConfig;
use crate::json::Json;
use crate::middleware::MiddlewareConfig;
use crate::oidc::OidcConfig;
use crate::outgoing::{AwsStsConfig, TokenExchangeConfig, UpstreamSwapConfig};
use crate::permission::PermissionProfile;
use crate::rate_limit::RateLimitConfig;
use crate::remote::{HeaderForwardConfig, RemoteAuthConfig};
use crate::scaling::ScalingConfig;
use crate::secret::Guarded;
use crate::telemetry::TelemetryConfig;
use crate::tool::ToolOverride;
use crate::transport::{ProxyMode, Transport};
use crate::value::{empty_is_none, is_zero, port};
use crate::webhook::WebhookConfig;

/// What a proxy in front of one MCP server runs by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunConfig {
    /// Version of the form of the document.
    pub schema_version: String,

    /// Stamp of the revision that the document was rendered for. Zero: no revision.
    #[serde(skip_serializing_if = "is_zero")]
    pub mcpserver_generation: i64,

    /// Image of the MCP server. Empty for a remote one.
    pub image: String,

    /// URL of a remote MCP server, in place of an image.
    #[serde(skip_serializing_if = "is_zero")]
    pub remote_url: Guarded<String>,

    /// Where the server was found. For information.
    #[serde(skip_serializing_if = "is_zero")]
    pub registry_api_url: String,

    /// Where the server was found. For information.
    #[serde(skip_serializing_if = "is_zero")]
    pub registry_url: String,

    /// Under which name the server was found. For information.
    #[serde(skip_serializing_if = "is_zero")]
    pub registry_server_name: String,

    /// How to sign in at a remote server.
    #[serde(skip_serializing_if = "is_zero")]
    pub remote_auth_config: Option<RemoteAuthConfig>,

    /// Arguments of the MCP server.
    #[serde(skip_serializing_if = "is_zero")]
    pub cmd_args: Guarded<Vec<String>>,

    /// Name of the MCP server.
    pub name: String,

    /// Name of its container, and of its `StatefulSet` in a cluster.
    #[serde(skip_serializing_if = "is_zero")]
    pub container_name: String,

    /// Name that its state is kept under.
    #[serde(skip_serializing_if = "is_zero")]
    pub base_name: String,

    /// How the proxy reaches the MCP server.
    pub transport: Transport,

    /// Address that the proxy listens on.
    pub host: String,

    /// Port that the proxy listens on.
    #[serde(deserialize_with = "port")]
    pub port: u16,

    /// Port of the MCP server.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "port")]
    pub target_port: u16,

    /// Host of the MCP server. Empty in a cluster.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_host: String,

    /// Origins that browsers may come from.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed_origins: Vec<String>,

    /// Further ports of the container, as `host:container`. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub publish: Vec<String>,

    /// Where the permission profile came from.
    #[serde(skip_serializing_if = "is_zero")]
    pub permission_profile_name_or_path: String,

    /// What the MCP server may touch. Local only.
    pub permission_profile: Option<PermissionProfile>,

    /// Environment of the MCP server.
    #[serde(skip_serializing_if = "is_zero")]
    pub env_vars: Guarded<BTreeMap<String, String>>,

    /// Folder of files with further environment variables.
    #[serde(skip_serializing_if = "is_zero")]
    pub env_file_dir: String,

    /// Whether the proxy logs more.
    #[serde(skip_serializing_if = "is_zero")]
    pub debug: bool,

    /// Mounts of the container, as `host:container` or `host:container:ro`. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub volumes: Vec<String>,

    /// Labels of what the proxy makes.
    #[serde(skip_serializing_if = "is_zero")]
    pub container_labels: BTreeMap<String, String>,

    /// How callers prove who they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub oidc_config: Option<OidcConfig>,

    /// An exchange of the caller's token for one that the backend accepts.
    #[serde(skip_serializing_if = "is_zero")]
    pub token_exchange_config: Option<TokenExchangeConfig>,

    /// Use of a token of an upstream provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub upstream_swap_config: Option<UpstreamSwapConfig>,

    /// Signing of requests with credentials of an AWS role.
    #[serde(skip_serializing_if = "is_zero")]
    pub aws_sts_config: Option<AwsStsConfig>,

    /// Who may do what: an [`AuthzDocument`](crate::authz::AuthzDocument), or one of another authorizer.
    #[serde(skip_serializing_if = "is_zero")]
    pub authz_config: Option<Json>,

    /// File with such a document.
    #[serde(skip_serializing_if = "is_zero")]
    pub authz_config_path: String,

    /// What is recorded about requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub audit_config: Option<AuditConfig>,

    /// File with the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub audit_config_path: String,

    /// Traces and metrics.
    #[serde(skip_serializing_if = "is_zero")]
    pub telemetry_config: Option<TelemetryConfig>,

    /// Limits on calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub rate_limit_config: Option<RateLimitConfig>,

    /// Namespace under which calls are counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub rate_limit_namespace: String,

    /// Secrets for the environment of the MCP server, as `NAME,target=VARIABLE`.
    #[serde(skip_serializing_if = "is_zero")]
    pub secrets: Vec<String>,

    /// Patch for the pod template of the MCP server, in JSON.
    #[serde(skip_serializing_if = "is_zero")]
    pub k8s_pod_template_patch: Guarded<String>,

    /// Whether the container has a network of its own. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub isolate_network: bool,

    /// Whether the container may reach the machine. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_docker_gateway: bool,

    /// Whether `X-Forwarded-*` headers are believed.
    #[serde(skip_serializing_if = "is_zero")]
    pub trust_proxy_headers: bool,

    /// Whether requests with an unknown protocol version are refused.
    #[serde(skip_serializing_if = "is_zero")]
    pub strict_protocol_validation: bool,

    /// Whether the MCP server has no sessions.
    #[serde(skip_serializing_if = "is_zero")]
    pub stateless: bool,

    /// After which idle time a session ends. Two hours when absent or zero.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub session_ttl: Option<GoDuration>,

    /// How clients reach the proxy. See [`Self::effective_mode`].
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub proxy_mode: Option<ProxyMode>,

    /// Nobody heeds this: see `oidc_config`.
    #[serde(skip_serializing_if = "is_zero")]
    pub thv_ca_bundle: String,

    /// Nobody heeds this: see `oidc_config`.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwks_auth_token_file: String,

    /// Group of the server. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub group: String,

    /// Tools that clients may see. All when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools_filter: Vec<String>,

    /// Other faces for tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools_override: BTreeMap<String, ToolOverride>,

    /// Files to hide from the MCP server. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignore_config: Option<IgnoreConfig>,

    /// What requests pass through, outermost first. When empty, the proxy computes it.
    #[serde(skip_serializing_if = "is_zero")]
    pub middleware_configs: Vec<MiddlewareConfig>,

    /// Further entries for the computed list.
    #[serde(skip_serializing_if = "is_zero")]
    pub additional_middleware_configs: Vec<MiddlewareConfig>,

    /// Webhooks that may refuse requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub validating_webhooks: Vec<WebhookConfig>,

    /// Webhooks that may change requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub mutating_webhooks: Vec<WebhookConfig>,

    /// Prefix of paths that clients are told.
    #[serde(skip_serializing_if = "is_zero")]
    pub endpoint_prefix: String,

    /// How an image is built. Local only.
    #[serde(skip_serializing_if = "is_zero")]
    pub runtime_config: Option<RuntimeConfig>,

    /// Headers to add to requests to a remote server.
    #[serde(skip_serializing_if = "is_zero")]
    pub header_forward: Option<HeaderForwardConfig>,

    /// The embedded OAuth authorization server.
    #[serde(skip_serializing_if = "is_zero")]
    pub embedded_auth_server_config: Option<AuthServerConfig>,

    /// Replicas, and the sessions that they share.
    #[serde(skip_serializing_if = "is_zero")]
    pub scaling_config: Option<ScalingConfig>,
}

impl RunConfig {
    /// The version that is written.
    pub const SCHEMA_VERSION: &str = "v0.1.0";

    /// How clients reach the proxy: as the transport implies; for `stdio` as `proxy_mode` says, and over
    /// streamable HTTP if it does not.
    pub fn effective_mode(&self) -> ProxyMode {
        self.transport.implied_mode().or(self.proxy_mode).unwrap_or(ProxyMode::StreamableHttp)
    }

    /// Whether the MCP server is a remote one, which nobody has to bring up.
    pub fn is_remote(&self) -> bool {
        !self.remote_url.is_empty()
    }
}

/// Files to hide from the MCP server. The keys are spelled as Go spells its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct IgnoreConfig {
    /// Whether the patterns of the user's configuration count.
    pub load_global: bool,

    /// Whether hidden files are listed.
    pub print_overlays: bool,
}

/// How an image is built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuntimeConfig {
    /// Image to build with.
    #[serde(skip_serializing_if = "is_zero")]
    pub builder_image: String,

    /// Packages to install.
    #[serde(skip_serializing_if = "is_zero")]
    pub additional_packages: Vec<String>,

    /// What to build with.
    #[serde(skip_serializing_if = "is_zero")]
    pub build_with: Json,

    /// Environment at run time.
    #[serde(skip_serializing_if = "is_zero")]
    pub runtime_env: Json,
}
