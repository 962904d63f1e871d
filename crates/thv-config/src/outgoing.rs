//! How the proxy proves to a backend who calls.

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::secret::Secret;
use crate::value::{empty_is_none, is_zero};

string_enum! {
    /// Where a token for the backend goes.
    pub enum HeaderStrategy {
        /// Into `Authorization`, in place of the caller's.
        Replace = "replace",
        /// Into a header of its own.
        Custom = "custom",
    }
}

/// An exchange of the caller's token for one that the backend accepts (RFC 8693).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenExchangeConfig {
    /// Where tokens are exchanged.
    pub token_url: String,

    /// Client that exchanges.
    pub client_id: String,

    /// Secret of the client. Comes by environment variable; never written.
    pub client_secret: Secret,

    /// Audience of the new token.
    pub audience: String,

    /// Scopes of the new token.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Type of the caller's token.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_token_type: String,

    /// Where the new token goes. `replace` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub header_strategy: Option<HeaderStrategy>,

    /// The header for `custom`.
    #[serde(skip_serializing_if = "is_zero")]
    pub external_token_header_name: String,
}

/// Use of a token that the embedded authorization server got from an upstream provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpstreamSwapConfig {
    /// Where the token goes. `replace` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub header_strategy: Option<HeaderStrategy>,

    /// The header for `custom`.
    #[serde(skip_serializing_if = "is_zero")]
    pub custom_header_name: String,

    /// The upstream provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub provider_name: String,
}

/// Signing of requests with credentials of an AWS role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AwsStsConfig {
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

    /// Upstream provider whose token is used. Only vMCP heeds it.
    #[serde(skip_serializing_if = "is_zero")]
    pub subject_provider_name: String,
}

/// A role for the callers with a claim, or for those whom an expression matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    pub priority: Option<i32>,
}
