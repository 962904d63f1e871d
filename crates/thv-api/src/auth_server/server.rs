//! The embedded OAuth authorization server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth_server::{AuthServerStorage, TrustedIssuer, UpstreamProvider};
use crate::pattern::{DNS_LABEL, ISSUER_URL};
use crate::schema::{PlainInt, cel};
use crate::shared::SecretKeyRef;
use crate::value::GoDuration;

/// An OAuth authorization server inside the proxy. Clients sign in with it; it signs them in with the
/// upstream providers and keeps their upstream tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!(has(self.allowConfidentialClientRegistration) && self.allowConfidentialClientRegistration \
         && has(self.insecureAllowHTTP) && self.insecureAllowHTTP)",
        "turn off either allowConfidentialClientRegistration or insecureAllowHTTP: together \
         they would send client secrets unencrypted",
    ),
    (
        "!has(self.delegateClients) || size(self.delegateClients) == 0 || \
         !self.issuer.startsWith('http://')",
        "delegateClients send secrets to the issuer: it must be an https:// URL",
    ),
    (
        "(!has(self.forceConfidentialRedirectUris) || size(self.forceConfidentialRedirectUris) == 0) \
         || (has(self.allowConfidentialClientRegistration) && \
         self.allowConfidentialClientRegistration)",
        "forceConfidentialRedirectUris needs allowConfidentialClientRegistration: true",
    ),
])))]
pub struct EmbeddedAuthServer {
    /// URL of this authorization server, which goes into the tokens it issues. No query, no fragment, no
    /// trailing slash. Use https anywhere but on a laptop.
    #[schemars(regex(pattern = ISSUER_URL))]
    pub issuer: String,

    /// Base URL to advertise for the authorization endpoint where browsers reach it by another address than
    /// the issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ISSUER_URL))]
    pub authorization_endpoint_base_url: Option<String>,

    /// Identity providers that users sign in with. Only a `VirtualMCPServer` can use more than one.
    #[schemars(
        length(min = 1),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub upstream_providers: Vec<UpstreamProvider>,

    /// Name of the upstream provider whose claims authorization rules see. The first one when absent. Only a
    /// `VirtualMCPServer` heeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = DNS_LABEL))]
    pub primary_upstream_provider: Option<String>,

    /// Private keys that tokens are signed with. The first one signs; the others still verify, so that keys
    /// can be rotated. Without any, a new key is made on every start and old tokens become invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 5), extend("x-kubernetes-list-type" = "atomic"))]
    pub signing_key_secret_refs: Option<Vec<SecretKeyRef>>,

    /// Secrets that authorization codes and refresh tokens are bound with. The first one is current; the
    /// others still verify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub hmac_secret_refs: Option<Vec<SecretKeyRef>>,

    /// How long tokens and codes are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_lifespans: Option<TokenLifespans>,

    /// Where the server keeps clients, codes and tokens. In memory when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<AuthServerStorage>,

    /// Whether to leave the upstream token out of requests to the MCP server.
    #[serde(default)]
    pub disable_upstream_token_injection: bool,

    /// Whether to accept a plain http issuer that is not on this machine. For tests only.
    #[serde(rename = "insecureAllowHTTP", default)]
    pub insecure_allow_http: bool,

    /// Whether clients that register themselves may ask for a secret.
    #[serde(default)]
    pub allow_confidential_client_registration: bool,

    /// Whether secrets may be issued over plain http on the loopback interface. For tests only.
    #[serde(rename = "insecureAllowConfidentialOverLoopbackHTTP", default)]
    pub insecure_allow_confidential_over_loopback_http: bool,

    /// Redirect URIs whose clients get a secret even if they do not ask for one. Needs
    /// `allowConfidentialClientRegistration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 10),
        inner(regex(pattern = r"^https://[^\s?#]+$")),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub force_confidential_redirect_uris: Option<Vec<String>>,

    /// Scopes that every client that registers itself gets, besides those it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 10),
        inner(length(min = 1), regex(pattern = r"^[\x21\x23-\x5B\x5D-\x7E]+$")),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub baseline_client_scopes: Option<Vec<String>>,

    /// Clients, known in advance, that may act for users by token exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10), extend("x-kubernetes-list-type" = "atomic"))]
    pub delegate_clients: Option<Vec<DelegateClient>>,

    /// Other issuers whose tokens this server accepts in exchange for its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub trusted_issuers: Option<Vec<TrustedIssuer>>,

    /// Clients that identify themselves by the URL of a metadata document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cimd: Option<ClientIdMetadata>,
}

/// How long tokens and codes are valid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenLifespans {
    /// Of access tokens. One hour when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_token_lifespan: Option<GoDuration>,

    /// Of refresh tokens. Seven days when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token_lifespan: Option<GoDuration>,

    /// Of authorization codes. Ten minutes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_code_lifespan: Option<GoDuration>,
}

/// A client that may exchange tokens on behalf of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "has(self.clientSecretRef) && size(self.clientSecretRef.name) > 0 && \
         size(self.clientSecretRef.key) > 0",
        "clientSecretRef needs the name of a Secret and a key in it",
    ),
])))]
pub struct DelegateClient {
    /// Identifier of the client.
    #[schemars(length(min = 1, max = 256))]
    pub client_id: String,

    /// Secret that the client authenticates with.
    pub client_secret_ref: SecretKeyRef,

    /// Scopes it may ask for.
    #[schemars(
        length(min = 1, max = 10),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub scopes: Vec<String>,

    /// Audiences it may ask for.
    #[schemars(
        length(min = 1, max = 10),
        inner(length(min = 1, max = 2048)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub audiences: Vec<String>,
}

/// Clients whose identifier is the URL of a document about them, so that they need not register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["enabled"]))]
pub struct ClientIdMetadata {
    /// Whether such clients are accepted.
    #[serde(default)]
    pub enabled: bool,

    /// How many documents to remember.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>", range(min = 1))]
    pub cache_max_size: Option<i64>,

    /// How long to remember a document that does not say so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_fallback_ttl: Option<GoDuration>,
}
