//! The settings of the ways to sign in to a server.
//!
//! Credentials come by environment variable, whose name is here. One that stands in the document itself is
//! read, never shown and never written.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::value::is_zero;

/// A fixed header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HeaderInjection {
    /// Name of the header.
    pub header_name: String,

    /// Value of the header.
    #[serde(skip_serializing_if = "is_zero")]
    pub header_value: Secret,

    /// Environment variable with the value.
    #[serde(skip_serializing_if = "is_zero")]
    pub header_value_env: String,
}

/// An exchange of the caller's token for one that the server accepts (RFC 8693).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TokenExchange {
    /// Where tokens are exchanged.
    pub token_url: String,

    /// Client that exchanges.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_id: String,

    /// Secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret: Secret,

    /// Environment variable with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env: String,

    /// Audience of the new token.
    #[serde(skip_serializing_if = "is_zero")]
    pub audience: String,

    /// Scopes of the new token.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Type of the token that is handed in. `access_token` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_token_type: String,

    /// Upstream provider whose token is handed in. The caller's when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_provider_name: String,
}

/// The token of an upstream provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct UpstreamInject {
    /// The upstream provider.
    pub provider_name: String,
}

/// Signatures with credentials of an AWS role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AwsSts {
    /// AWS region.
    pub region: String,

    /// AWS service to sign for. `aws-mcp` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub service: String,

    /// Role for callers whom no mapping matches.
    #[serde(skip_serializing_if = "is_zero")]
    pub fallback_role_arn: String,

    /// Which caller gets which role.
    #[serde(skip_serializing_if = "is_zero")]
    pub role_mappings: Vec<RoleMapping>,

    /// Claim that mappings look at. `groups` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub role_claim: String,

    /// How many seconds credentials live. 3600 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub session_duration: i32,

    /// Claim that names the session. `sub` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub session_name_claim: String,

    /// Upstream provider whose token is used. The caller's when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_provider_name: String,
}

/// A role for the callers with a claim, or for those whom an expression matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RoleMapping {
    /// Value that the claim must contain.
    #[serde(skip_serializing_if = "is_zero")]
    pub claim: String,

    /// Expression over the claims.
    #[serde(skip_serializing_if = "is_zero")]
    pub matcher: String,

    /// The role.
    pub role_arn: String,

    /// Lower ones come first; absent ones last.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: Option<i64>,
}

/// The on-behalf-of flow of Microsoft Entra.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OnBehalfOf {
    /// Token endpoint of the tenant.
    pub token_url: String,

    /// Client that we are in the tenant.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_id: String,

    /// Secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret: Secret,

    /// Environment variable with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env: String,

    /// Audience of the new token.
    #[serde(skip_serializing_if = "is_zero")]
    pub audience: String,

    /// Scopes of the new token.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Upstream provider whose token is handed in. The caller's when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_token_provider_name: String,

    /// How many seconds before its end a token is renewed.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_skew_seconds: Option<i32>,
}

/// Cross-app access: the identity provider vouches for the user at the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CrossAppAccess {
    /// Token endpoint of the identity provider.
    pub idp_token_url: String,

    /// Client that we are at the identity provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub idp_client_id: String,

    /// Secret of that client.
    #[serde(skip_serializing_if = "is_zero")]
    pub idp_client_secret: Secret,

    /// Environment variable with the secret of that client.
    #[serde(skip_serializing_if = "is_zero")]
    pub idp_client_secret_env: String,

    /// Token endpoint of the target.
    pub target_token_url: String,

    /// Whether the token endpoint of the target may be plain http. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_target_token_url: bool,

    /// Client that we are at the target.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_client_id: String,

    /// Secret of that client.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_client_secret: Secret,

    /// Environment variable with the secret of that client.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_client_secret_env: String,

    /// Audience of the assertion: the issuer of the target.
    pub target_audience: String,

    /// Resource to ask the target for.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_resource: String,

    /// Scopes to ask for.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Upstream provider whose token is handed in.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_provider_name: String,

    /// Type of the token that is handed in: that of an identity token.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_token_type: String,
}
