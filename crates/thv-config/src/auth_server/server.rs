//! The server as a whole.

use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

use super::{AuthServerStorage, TrustedIssuer, Upstream};
use crate::value::{empty_is_none, is_zero};

/// The embedded OAuth authorization server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthServerConfig {
    /// Version of the form of this object.
    pub schema_version: String,

    /// URL of this server, which goes into the tokens that it issues.
    pub issuer: String,

    /// Base URL to advertise for the authorization endpoint, where it is not the issuer.
    #[serde(skip_serializing_if = "is_zero")]
    pub authorization_endpoint_base_url: String,

    /// Keys that tokens are signed with. A new one on every start when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub signing_key_config: Option<SigningKeys>,

    /// Files with the secrets that codes and refresh tokens are bound with. The first one is current.
    #[serde(skip_serializing_if = "is_zero")]
    pub hmac_secret_files: Vec<String>,

    /// How long tokens and codes are valid.
    #[serde(skip_serializing_if = "is_zero")]
    pub token_lifespans: Option<TokenLifespans>,

    /// How long a token is valid that was issued to a delegate. 15 minutes when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub delegation_token_lifespan: Option<GoDuration>,

    /// Identity providers that users sign in with.
    pub upstreams: Vec<Upstream>,

    /// Scopes to advertise.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes_supported: Vec<String>,

    /// Scopes that every client gets that registers itself.
    #[serde(skip_serializing_if = "is_zero")]
    pub baseline_client_scopes: Vec<String>,

    /// Resources that tokens can be for.
    pub allowed_audiences: Vec<String>,

    /// Where the server keeps its state. In memory when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub storage: Option<AuthServerStorage>,

    /// Whether the upstream token stays out of requests to the MCP server.
    #[serde(skip_serializing_if = "is_zero")]
    pub disable_upstream_token_injection: bool,

    /// Clients that identify themselves by the URL of a document.
    #[serde(skip_serializing_if = "is_zero")]
    pub cimd: Option<ClientIdMetadata>,

    /// Whether a plain http issuer that is not on this machine is accepted. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_http: bool,

    /// Other issuers whose tokens this server accepts in exchange for its own.
    #[serde(skip_serializing_if = "is_zero")]
    pub trusted_issuers: Vec<TrustedIssuer>,

    /// Whether clients that register themselves may ask for a secret.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_confidential_client_registration: bool,

    /// Redirect URIs whose clients get a secret even if they do not ask for one.
    #[serde(skip_serializing_if = "is_zero")]
    pub force_confidential_redirect_uris: Vec<String>,

    /// Whether secrets may be issued over plain http on the loopback interface. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_confidential_over_loopback_http: bool,

    /// Clients, known in advance, that may act for users.
    #[serde(skip_serializing_if = "is_zero")]
    pub delegate_clients: Vec<DelegateClient>,
}

impl AuthServerConfig {
    /// The version that is written.
    pub const SCHEMA_VERSION: &str = "v0.1.0";

    /// The name that an upstream without a name goes by.
    pub const DEFAULT_UPSTREAM: &str = "default";

    /// The name of the first upstream, whose tokens and claims are used.
    pub fn first_upstream(&self) -> &str {
        match self.upstreams.first().map(|upstream| upstream.name.as_str()) {
            None | Some("") => Self::DEFAULT_UPSTREAM,
            Some(name) => name,
        }
    }
}

/// Keys that tokens are signed with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SigningKeys {
    /// Folder of the files.
    #[serde(skip_serializing_if = "is_zero")]
    pub key_dir: String,

    /// The file whose key signs.
    #[serde(skip_serializing_if = "is_zero")]
    pub signing_key_file: String,

    /// The files whose keys still verify.
    #[serde(skip_serializing_if = "is_zero")]
    pub fallback_key_files: Vec<String>,
}

/// How long tokens and codes are valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenLifespans {
    /// Of access tokens. One hour when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub access_token_lifespan: Option<GoDuration>,

    /// Of refresh tokens. Seven days when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub refresh_token_lifespan: Option<GoDuration>,

    /// Of authorization codes. Ten minutes when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub auth_code_lifespan: Option<GoDuration>,
}

/// Clients whose identifier is the URL of a document about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientIdMetadata {
    /// Whether such clients are accepted.
    pub enabled: bool,

    /// How many documents to remember. 256 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_max_size: i64,

    /// How long to remember a document that does not say so itself. Five minutes when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub cache_fallback_ttl: Option<GoDuration>,
}

/// A client that may act for users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegateClient {
    /// Identifier of the client.
    pub client_id: String,

    /// File with its secret.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_file: String,

    /// Environment variable with its secret.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env_var: String,

    /// Scopes it may ask for.
    pub scopes: Vec<String>,

    /// Audiences it may ask for.
    pub audiences: Vec<String>,
}
