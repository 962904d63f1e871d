//! Ways to sign in that trade one token for another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{DNS_LABEL, HTTPS_ENDPOINT_URL, ROLE_ARN, SUBJECT_TOKEN_TYPE, TENANT};
use crate::shared::SecretKeyRef;
use crate::value::{GoDuration, string_enum};

/// Token exchange (RFC 8693).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenExchange {
    /// Token endpoint that exchanges tokens.
    pub token_url: String,

    /// Our client identifier there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Our client secret there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretKeyRef>,

    /// Audience to ask for.
    pub audience: String,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Type of the token that is handed in: `access_token`, `id_token` or `jwt`, short or as a URN.
    /// `access_token` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SUBJECT_TOKEN_TYPE))]
    pub subject_token_type: Option<String>,

    /// Header to put the new token in. It replaces `Authorization` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_token_header_name: Option<String>,

    /// Upstream provider of the authorization server whose token is handed in. Only a `VirtualMCPServer`
    /// heeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,
}

/// AWS credentials from the caller's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsSts {
    /// AWS region.
    #[schemars(length(min = 1), regex(pattern = r"^[a-z]{2}(-[a-z]+)+-\d+$"))]
    pub region: String,

    /// Name of the AWS service to sign requests for.
    #[serde(default = "default_service")]
    pub service: String,

    /// Role for callers that no mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = ROLE_ARN))]
    pub fallback_role_arn: Option<String>,

    /// Which callers get which role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub role_mappings: Option<Vec<AwsRoleMapping>>,

    /// Claim of the token that the mappings look at.
    #[serde(default = "default_role_claim")]
    pub role_claim: String,

    /// How long the credentials are valid, in seconds.
    #[serde(default = "default_session_duration")]
    #[schemars(range(min = 900, max = 43200))]
    pub session_duration: i32,

    /// Claim of the token that names the session.
    #[serde(default = "default_session_name_claim")]
    pub session_name_claim: String,

    /// Upstream provider of the authorization server whose token is used. Only a `VirtualMCPServer` heeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,
}

/// A role for some callers. Give either `claim` or `matcher`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsRoleMapping {
    /// Value of the role claim that the mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub claim: Option<String>,

    /// CEL expression over the claims that says whether the mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub matcher: Option<String>,

    /// Role to assume.
    #[schemars(regex(pattern = ROLE_ARN))]
    pub role_arn: String,

    /// Which mapping comes first when several fit: the one with the lowest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub priority: Option<i32>,
}

/// Microsoft Entra's on-behalf-of flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnBehalfOf {
    /// Tenant, as an identifier or a domain. Aliases such as `common` are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = TENANT))]
    pub tenant_id: Option<String>,

    /// Authority to ask, where it is not the public cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https://[^\s?#@]+[^/\s?#@]$"))]
    pub authority: Option<String>,

    /// Our client identifier in the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Our client secret in the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretKeyRef>,

    /// Audience to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 20),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub scopes: Option<Vec<String>>,

    /// Upstream provider of the authorization server whose token is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = DNS_LABEL))]
    pub subject_token_provider_name: Option<String>,

    /// How long before its end a token is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub cache_skew: Option<GoDuration>,
}

/// Cross-app access: the identity provider vouches for the user at the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrossAppAccess {
    /// Token endpoint of the identity provider.
    #[schemars(regex(pattern = HTTPS_ENDPOINT_URL))]
    pub idp_token_url: String,

    /// Our client identifier at the identity provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idp_client_id: Option<String>,

    /// Our client secret at the identity provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idp_client_secret_ref: Option<SecretKeyRef>,

    /// Token endpoint of the target.
    pub target_token_url: String,

    /// Whether the token endpoint of the target may be plain http. For tests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_target_token_url: Option<bool>,

    /// Our client identifier at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_client_id: Option<String>,

    /// Our client secret at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_client_secret_ref: Option<SecretKeyRef>,

    /// Audience that the assertion is for: the issuer of the target.
    pub target_audience: String,

    /// Resource to ask the target for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_resource: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Upstream provider of the authorization server whose token is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,

    /// Type of the token that is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_token_type: Option<XaaSubjectTokenType>,
}

string_enum! {
    /// Token types that cross-app access starts from.
    pub enum XaaSubjectTokenType {
        /// An ID token.
        IdToken = "urn:ietf:params:oauth:token-type:id_token",
    }
}

fn default_service() -> String {
    "aws-mcp".to_owned()
}

fn default_role_claim() -> String {
    "groups".to_owned()
}

fn default_session_duration() -> i32 {
    3_600
}

fn default_session_name_claim() -> String {
    "sub".to_owned()
}
