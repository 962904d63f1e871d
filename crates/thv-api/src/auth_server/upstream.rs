//! Upstream identity providers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{DNS_LABEL, ENDPOINT_URL, HTTPS_BASE_URL, HTTPS_ENDPOINT_URL};
use crate::schema::cel;
use crate::shared::SecretKeyRef;
use crate::value::string_enum;

/// An identity provider that users sign in with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.type == 'oidc' ? (has(self.oidcConfig) && !has(self.oauth2Config)) : self.type == \
         'oauth2' ? (has(self.oauth2Config) && !has(self.oidcConfig)) : false",
        "type oidc takes an oidcConfig and type oauth2 an oauth2Config, and neither takes both",
    ),
])))]
pub struct UpstreamProvider {
    /// Name to refer to the provider by.
    #[schemars(length(min = 1, max = 63), regex(pattern = DNS_LABEL))]
    pub name: String,

    /// What the provider speaks.
    #[serde(rename = "type")]
    pub type_: UpstreamType,

    /// Settings for type `oidc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config: Option<OidcUpstream>,

    /// Settings for type `oauth2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2_config: Option<OAuth2Upstream>,
}

string_enum! {
    /// What an upstream provider speaks.
    pub enum UpstreamType {
        /// OpenID Connect, with discovery and ID tokens.
        Oidc = "oidc",
        /// Plain OAuth 2.0.
        OAuth2 = "oauth2",
    }
}

/// An OpenID Connect provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OidcUpstream {
    /// Issuer URL of the provider.
    #[schemars(regex(pattern = HTTPS_ENDPOINT_URL))]
    pub issuer_url: String,

    /// Our client identifier at the provider.
    pub client_id: String,

    /// Our client secret at the provider. Without it we are a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretKeyRef>,

    /// Where the provider sends users back to. The path `/oauth/callback` of this server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Claim of the ID token that identifies the user. `sub` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), regex(pattern = "^([a-zA-Z_][a-zA-Z0-9_]*)?$"))]
    pub subject_claim: Option<String>,

    /// Where to ask who the user is, in place of the discovered endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_info_override: Option<UserInfo>,

    /// Further parameters for the authorization request. Those that OAuth itself sets are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 16))]
    pub additional_authorization_params: Option<BTreeMap<String, String>>,
}

/// An OAuth 2.0 provider. Give either `clientId` or `dcrConfig`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "(has(self.clientId) && size(self.clientId) > 0) ? !has(self.dcrConfig) : has(self.dcrConfig)",
        "set either clientId or dcrConfig",
    ),
    (
        "!(has(self.dcrConfig) && has(self.clientSecretRef))",
        "with dcrConfig the secret comes from the registration: remove clientSecretRef",
    ),
])))]
pub struct OAuth2Upstream {
    /// Authorization endpoint of the provider.
    #[schemars(regex(pattern = ENDPOINT_URL))]
    pub authorization_endpoint: String,

    /// Token endpoint of the provider.
    #[schemars(regex(pattern = ENDPOINT_URL))]
    pub token_endpoint: String,

    /// Our client identifier at the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Our client secret at the provider. Without it we are a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretKeyRef>,

    /// Register with the provider on start, in place of a fixed client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dcr_config: Option<DynamicRegistration>,

    /// Where the provider sends users back to. The path `/oauth/callback` of this server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Where to ask who the user is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_info: Option<UserInfo>,

    /// Where in the token response it says who the user is, for providers without such an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_from_token: Option<IdentityFromToken>,

    /// Where to find the parts of a token response that does not follow the standard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_response_mapping: Option<TokenResponseMapping>,

    /// Further parameters for the authorization request. Those that OAuth itself sets are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 16))]
    pub additional_authorization_params: Option<BTreeMap<String, String>>,

    /// Whether plain http endpoints are fine. For tests only.
    #[serde(rename = "insecureAllowHTTP", default, skip_serializing_if = "Option::is_none")]
    pub insecure_allow_http: Option<bool>,

    /// Whether the endpoints may have private addresses.
    #[serde(rename = "allowPrivateIPs", default, skip_serializing_if = "Option::is_none")]
    pub allow_private_ips: Option<bool>,
}

/// Dynamic client registration (RFC 7591). Give either `discoveryUrl` or `registrationEndpoint`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "has(self.discoveryUrl) != has(self.registrationEndpoint)",
        "set either discoveryUrl or registrationEndpoint",
    ),
])))]
pub struct DynamicRegistration {
    /// Metadata document of the provider that names its registration endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048), regex(pattern = HTTPS_BASE_URL))]
    pub discovery_url: Option<String>,

    /// Registration endpoint of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048), regex(pattern = HTTPS_BASE_URL))]
    pub registration_endpoint: Option<String>,

    /// Token that the provider asks for before it registers anyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_access_token_ref: Option<SecretKeyRef>,

    /// Identifier of our software at the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub software_id: Option<String>,

    /// Signed statement about our software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub software_statement: Option<String>,
}

/// Where in a token response it says who the user is. Paths have dots between their parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityFromToken {
    /// Path of the identifier of the user.
    #[schemars(length(min = 1, max = 256))]
    pub subject_path: String,

    /// Path of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub name_path: Option<String>,

    /// Path of the email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub email_path: Option<String>,
}

/// Where to find the parts of a token response. Paths have dots between their parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenResponseMapping {
    /// Path of the access token.
    #[schemars(length(min = 1))]
    pub access_token_path: String,

    /// Path of the refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token_path: Option<String>,

    /// Path of the lifetime in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_path: Option<String>,

    /// Path of the scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
}

/// Where to ask who the user is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserInfo {
    /// URL to ask.
    #[schemars(regex(pattern = ENDPOINT_URL))]
    pub endpoint_url: String,

    /// Method to ask with. `GET` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_method: Option<UserInfoMethod>,

    /// Headers to ask with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_headers: Option<BTreeMap<String, String>>,

    /// Which fields of the answer to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_mapping: Option<UserInfoFields>,
}

string_enum! {
    /// Methods for the user info request.
    pub enum UserInfoMethod {
        /// A GET request.
        Get = "GET",
        /// A POST request.
        Post = "POST",
    }
}

/// Fields of the answer, in order of preference: the first that is there counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserInfoFields {
    /// Fields with the identifier of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub subject_fields: Option<Vec<String>>,

    /// Fields with the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub name_fields: Option<Vec<String>>,

    /// Fields with the email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub email_fields: Option<Vec<String>>,
}
