//! How callers prove who they are.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// How tokens of callers are checked.
///
/// The keys are spelled as Go spells its fields, and all of them are always there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OidcConfig {
    /// Issuer that tokens must name.
    #[serde(rename = "Issuer")]
    pub issuer: String,

    /// Audience that tokens must name.
    #[serde(rename = "Audience")]
    pub audience: String,

    /// Where the keys of the issuer are. Discovered when empty.
    #[serde(rename = "JWKSURL")]
    pub jwks_url: String,

    /// Client for introspection.
    #[serde(rename = "ClientID")]
    pub client_id: String,

    /// Secret of the client. Comes by environment variable; never written.
    #[serde(rename = "ClientSecret")]
    pub client_secret: Secret,

    /// File with the certificate authorities to trust.
    #[serde(rename = "CACertPath")]
    pub ca_cert_path: String,

    /// File with a token for requests to the issuer.
    #[serde(rename = "AuthTokenFile")]
    pub auth_token_file: String,

    /// Whether the issuer may have a private address.
    #[serde(rename = "AllowPrivateIP")]
    pub allow_private_ip: bool,

    /// Whether the issuer may be reached without TLS.
    #[serde(rename = "InsecureAllowHTTP")]
    pub insecure_allow_http: bool,

    /// Where opaque tokens are looked up.
    #[serde(rename = "IntrospectionURL")]
    pub introspection_url: String,

    /// The resource that this server is, for protected resource metadata.
    #[serde(rename = "ResourceURL")]
    pub resource_url: String,

    /// Scopes to advertise; `null` when there are none.
    #[serde(rename = "Scopes")]
    pub scopes: Option<Vec<String>>,
}
