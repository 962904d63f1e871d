//! What the configuration of a proxy is made from.

use std::collections::BTreeMap;

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::kinds::{MCPToolConfigSpec, MCPWebhookConfigSpec};
use thv_api::shared::RateLimiting;
use thv_api::value::Port;
use thv_config::authz::AuthzDocument;
use thv_config::permission::PermissionProfile;
use thv_config::{ProxyMode, Transport};

use crate::resolve::{
    Authz, CaBundle, ExternalAuthMethod, Headers, Oidc, ProfileOrigin, SessionRedis, Telemetry,
};

/// What the spec of an object says about its proxy, but for what it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a> {
    /// The name of the object.
    pub(crate) name: &'a str,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// The generation that the configuration is rendered for.
    pub(crate) generation: i64,
    /// The address to listen on.
    pub(crate) host: &'a str,
    /// The port to listen on.
    pub(crate) port: Port,
    /// What the backend speaks.
    pub(crate) transport: Transport,
    /// What clients speak, where the transport does not say it.
    pub(crate) proxy_mode: ProxyMode,
    /// Whether calls are recorded.
    pub(crate) audit: bool,
    /// Whether to believe `X-Forwarded-*` headers.
    pub(crate) trust_proxy_headers: bool,
    /// What comes before the paths that clients are given.
    pub(crate) endpoint_prefix: Option<&'a str>,
    /// Limits on calls.
    pub(crate) rate_limits: Option<&'a RateLimiting>,
    /// What is behind the proxy.
    pub(crate) target: Target<'a>,
    /// Places in the configuration, and the fields of the spec that they come from.
    pub(crate) fields: &'static [(&'static str, &'static str)],
}

/// What is behind a proxy.
#[derive(Clone, Debug)]
pub(crate) enum Target<'a> {
    /// What it brings up.
    Backend(Box<Backend<'a>>),
    /// What runs elsewhere, by its URL.
    Remote(&'a str),
}

/// What a proxy brings up.
#[derive(Clone, Debug)]
pub(crate) struct Backend<'a> {
    /// The image.
    pub(crate) image: &'a str,
    /// Its arguments.
    pub(crate) args: &'a [String],
    /// The port that it listens on.
    pub(crate) port: u16,
    /// Its environment.
    pub(crate) env: BTreeMap<String, String>,
    /// Its volumes, as `<path on the node>:<path in the container>[:ro]`.
    pub(crate) volumes: Vec<String>,
    /// What it may reach.
    pub(crate) profile: PermissionProfile,
    /// The name of that profile, or its file.
    pub(crate) profile_name: String,
    /// How many of it there are, if that is said.
    pub(crate) replicas: Option<i32>,
}

impl Backend<'_> {
    /// What stands in the configuration of a proxy that brings nothing up.
    pub(super) fn none(transport: Transport) -> Self {
        Self {
            image: "",
            args: &[],
            port: 0,
            env: BTreeMap::from([("MCP_TRANSPORT".to_owned(), transport.to_string())]),
            volumes: Vec::new(),
            profile: PermissionProfile::network(),
            profile_name: String::new(),
            replicas: None,
        }
    }
}

/// What a proxy is configured with of what its object refers to. All of it can be used: a proxy must not run without
/// what its user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Referenced<'a> {
    /// Which tools are offered.
    pub(crate) tools: Option<&'a MCPToolConfigSpec>,
    /// Where traces and metrics go.
    pub(crate) telemetry: Option<&'a Telemetry>,
    /// How credentials for the backend are obtained.
    pub(crate) external_auth: Option<&'a ExternalAuthMethod>,
    /// The authorization server in the proxy, wherever it was referred to.
    pub(crate) auth_server: Option<&'a EmbeddedAuthServer>,
    /// Webhooks that see every call.
    pub(crate) webhooks: Option<&'a MCPWebhookConfigSpec>,
    /// Whose tokens are accepted.
    pub(crate) oidc: Option<&'a Oidc>,
    /// The variable with the client secret for the identity provider, where it is not that of proxies.
    pub(crate) oidc_client_secret: Option<&'static str>,
    /// The certificate authorities of the identity provider.
    pub(crate) oidc_ca_bundle: Option<&'a CaBundle>,
    /// Who may call what, wherever it was said.
    pub(crate) authz: Option<&'a AuthzDocument>,
    /// The rules of the object itself, which are also a file.
    pub(crate) authz_file: Option<&'a Authz>,
    /// Where the permission profile comes from, which may be a file.
    pub(crate) profile: Option<&'a ProfileOrigin>,
    /// Where sessions are kept.
    pub(crate) session_redis: Option<&'a SessionRedis>,
    /// Headers that are added to every request.
    pub(crate) headers: Option<&'a Headers>,
}
