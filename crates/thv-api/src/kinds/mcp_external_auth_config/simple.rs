//! Ways to sign in that send something fixed or something already there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::SecretKeyRef;

/// A fixed header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeaderInjection {
    /// Name of the header.
    #[schemars(length(min = 1))]
    pub header_name: String,

    /// Where the value is.
    pub value_secret_ref: SecretKeyRef,
}

/// A fixed bearer token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BearerToken {
    /// Where the token is.
    pub token_secret_ref: SecretKeyRef,
}

/// The token of an upstream provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpstreamInject {
    /// Name of the upstream provider in the authorization server.
    #[schemars(length(min = 1))]
    pub provider_name: String,
}
