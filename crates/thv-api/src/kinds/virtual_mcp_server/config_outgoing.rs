//! `spec.config.outgoingAuth`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::PlainInt;

/// How to sign in to the servers, as the configuration file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigOutgoingAuth {
    /// Where the settings come from: `discovered` or `inline`.
    pub source: String,

    /// For servers that have no settings of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<AuthStrategy>,

    /// For single servers, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backends: Option<BTreeMap<String, AuthStrategy>>,
}

/// A way to sign in to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStrategy {
    /// Which way: `unauthenticated`, `header_injection`, `token_exchange`, `upstream_inject`, `aws_sts`,
    /// `obo` or `xaa`.
    #[serde(rename = "type")]
    pub type_: String,

    /// Settings for `header_injection`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_injection: Option<HeaderInjectionStrategy>,

    /// Settings for `token_exchange`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_exchange: Option<TokenExchangeStrategy>,

    /// Settings for `upstream_inject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_inject: Option<UpstreamInjectStrategy>,

    /// Settings for `aws_sts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws_sts: Option<AwsStsStrategy>,

    /// Settings for `obo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obo: Option<OnBehalfOfStrategy>,

    /// Settings for `xaa`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xaa: Option<CrossAppAccessStrategy>,
}

/// A fixed header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeaderInjectionStrategy {
    /// Name of the header.
    pub header_name: String,

    /// Value of the header. Prefer `headerValueEnv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_value: Option<String>,

    /// Environment variable with the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_value_env: Option<String>,
}

/// Token exchange (RFC 8693).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenExchangeStrategy {
    /// Token endpoint that exchanges tokens.
    pub token_url: String,

    /// Our client identifier there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Our client secret there. Prefer `clientSecretEnv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,

    /// Environment variable with our client secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_env: Option<String>,

    /// Audience to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Type of the token that is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_token_type: Option<String>,

    /// Upstream provider whose token is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,
}

/// The token of an upstream provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpstreamInjectStrategy {
    /// Name of the upstream provider.
    pub provider_name: String,
}

/// AWS credentials from the caller's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsStsStrategy {
    /// AWS region.
    pub region: String,

    /// Name of the AWS service to sign requests for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,

    /// Role for callers that no mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_role_arn: Option<String>,

    /// Which callers get which role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub role_mappings: Option<Vec<RoleMappingStrategy>>,

    /// Claim of the token that the mappings look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_claim: Option<String>,

    /// How long the credentials are valid, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_duration: Option<i32>,

    /// Claim of the token that names the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name_claim: Option<String>,

    /// Upstream provider whose token is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,
}

/// A role for some callers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleMappingStrategy {
    /// Value of the role claim that the mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,

    /// CEL expression over the claims that says whether the mapping fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,

    /// Role to assume.
    pub role_arn: String,

    /// Which mapping comes first when several fit: the one with the lowest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub priority: Option<i64>,
}

/// Microsoft Entra's on-behalf-of flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnBehalfOfStrategy {
    /// Token endpoint of the tenant.
    pub token_url: String,

    /// Our client identifier in the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Our client secret in the tenant. Prefer `clientSecretEnv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,

    /// Environment variable with our client secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_env: Option<String>,

    /// Audience to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Upstream provider whose token is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_token_provider_name: Option<String>,

    /// How long before its end a token is renewed, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_skew_seconds: Option<i32>,
}

/// Cross-app access: the identity provider vouches for the user at the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrossAppAccessStrategy {
    /// Token endpoint of the identity provider.
    pub idp_token_url: String,

    /// Our client identifier at the identity provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idp_client_id: Option<String>,

    /// Our client secret at the identity provider. Prefer `idpClientSecretEnv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idp_client_secret: Option<String>,

    /// Environment variable with our client secret at the identity provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idp_client_secret_env: Option<String>,

    /// Token endpoint of the target.
    pub target_token_url: String,

    /// Whether the token endpoint of the target may be plain http. For tests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_target_token_url: Option<bool>,

    /// Our client identifier at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_client_id: Option<String>,

    /// Our client secret at the target. Prefer `targetClientSecretEnv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_client_secret: Option<String>,

    /// Environment variable with our client secret at the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_client_secret_env: Option<String>,

    /// Audience that the assertion is for: the issuer of the target.
    pub target_audience: String,

    /// Resource to ask the target for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_resource: Option<String>,

    /// Scopes to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub scopes: Option<Vec<String>>,

    /// Upstream provider whose token is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_provider_name: Option<String>,

    /// Type of the token that is handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_token_type: Option<String>,
}
