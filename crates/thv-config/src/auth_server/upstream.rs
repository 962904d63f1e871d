//! Identity providers that users sign in with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::secret::Guarded;
use crate::value::is_zero;

string_enum! {
    /// Kinds of identity providers.
    pub enum UpstreamType {
        /// One that speaks OIDC.
        Oidc = "oidc",
        /// One that speaks OAuth 2.0 only.
        Oauth2 = "oauth2",
    }
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Name of the provider. `default` when empty.
    #[serde(default)]
    pub name: String,

    /// Kind of provider.
    #[serde(rename = "type")]
    pub type_: UpstreamType,

    /// For type `oidc`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oidc_config: Option<OidcUpstream>,

    /// For type `oauth2`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oauth2_config: Option<Oauth2Upstream>,
}

/// A provider that speaks OIDC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OidcUpstream {
    /// URL of the issuer.
    pub issuer_url: String,

    /// Client that we are there.
    pub client_id: String,

    /// File with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_file: String,

    /// Environment variable with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env_var: String,

    /// Where the provider sends users back to.
    pub redirect_uri: String,

    /// Scopes to ask for.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Another way to find out who the user is.
    #[serde(skip_serializing_if = "is_zero")]
    pub userinfo_override: Option<UserInfo>,

    /// Further parameters of the authorization request.
    #[serde(skip_serializing_if = "is_zero")]
    pub additional_authorization_params: Guarded<BTreeMap<String, String>>,

    /// Claim that identifies the user. `sub` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_claim: String,

    /// Whether the provider may have a private address.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_private_ips: bool,

    /// Whether the provider may be reached without TLS.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_http: bool,
}

/// A provider that speaks OAuth 2.0 only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Oauth2Upstream {
    /// Where users sign in.
    pub authorization_endpoint: String,

    /// Where tokens are issued.
    pub token_endpoint: String,

    /// Client that we are there. Empty when we register ourselves.
    pub client_id: String,

    /// File with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_file: String,

    /// Environment variable with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env_var: String,

    /// Where the provider sends users back to.
    pub redirect_uri: String,

    /// Scopes to ask for.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// How to find out who the user is.
    #[serde(skip_serializing_if = "is_zero")]
    pub userinfo: Option<UserInfo>,

    /// Where things are in the answer of the token endpoint.
    #[serde(skip_serializing_if = "is_zero")]
    pub token_response_mapping: Option<TokenResponseMapping>,

    /// Where the user is in the answer of the token endpoint.
    #[serde(skip_serializing_if = "is_zero")]
    pub identity_from_token: Option<IdentityFromToken>,

    /// Further parameters of the authorization request.
    #[serde(skip_serializing_if = "is_zero")]
    pub additional_authorization_params: Guarded<BTreeMap<String, String>>,

    /// How we register ourselves.
    #[serde(skip_serializing_if = "is_zero")]
    pub dcr_config: Option<ClientRegistration>,

    /// Whether the provider may have a private address.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_private_ips: bool,

    /// Whether the provider may be reached without TLS.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_http: bool,
}

/// How to find out who the user is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// Where to ask.
    pub endpoint_url: String,

    /// Method of the request. `GET` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub http_method: String,

    /// Further headers of the request.
    #[serde(skip_serializing_if = "is_zero")]
    pub additional_headers: Guarded<BTreeMap<String, String>>,

    /// Where things are in the answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub field_mapping: Option<UserInfoFields>,
}

/// Where things are in an answer about a user. The first field that is there counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfoFields {
    /// Fields with the identifier.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_fields: Vec<String>,

    /// Fields with the name.
    #[serde(skip_serializing_if = "is_zero")]
    pub name_fields: Vec<String>,

    /// Fields with the email address.
    #[serde(skip_serializing_if = "is_zero")]
    pub email_fields: Vec<String>,
}

/// Where things are in an answer of the token endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenResponseMapping {
    /// Path of the access token.
    pub access_token_path: String,

    /// Path of the scopes.
    #[serde(skip_serializing_if = "is_zero")]
    pub scope_path: String,

    /// Path of the refresh token.
    #[serde(skip_serializing_if = "is_zero")]
    pub refresh_token_path: String,

    /// Path of the lifetime.
    #[serde(skip_serializing_if = "is_zero")]
    pub expires_in_path: String,
}

/// Where the user is in an answer of the token endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdentityFromToken {
    /// Path of the identifier.
    pub subject_path: String,

    /// Path of the name.
    #[serde(skip_serializing_if = "is_zero")]
    pub name_path: String,

    /// Path of the email address.
    #[serde(skip_serializing_if = "is_zero")]
    pub email_path: String,
}

/// How we register ourselves as a client (RFC 7591).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientRegistration {
    /// Document that says where to register.
    #[serde(skip_serializing_if = "is_zero")]
    pub discovery_url: String,

    /// Where to register.
    #[serde(skip_serializing_if = "is_zero")]
    pub registration_endpoint: String,

    /// File with a token that registering needs.
    #[serde(skip_serializing_if = "is_zero")]
    pub initial_access_token_file: String,

    /// Environment variable with a token that registering needs.
    #[serde(skip_serializing_if = "is_zero")]
    pub initial_access_token_env_var: String,

    /// Identifier of our software.
    #[serde(skip_serializing_if = "is_zero")]
    pub software_id: String,

    /// Signed statement about our software.
    #[serde(skip_serializing_if = "is_zero")]
    pub software_statement: Guarded<String>,
}
