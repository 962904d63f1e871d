//! `spec.config.incomingAuth`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::HTTP_URL;

/// Who may call, as the configuration file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigIncomingAuth {
    /// How callers are identified: `anonymous`, `local` or `oidc`.
    #[serde(rename = "type")]
    pub type_: String,

    /// Whose tokens callers must bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc: Option<ConfigOidc>,

    /// Who may call what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz: Option<ConfigAuthz>,
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigOidc {
    /// Issuer URL.
    #[schemars(regex(pattern = HTTP_URL))]
    pub issuer: String,

    /// Audience that tokens must have.
    pub audience: String,

    /// Client identifier.
    pub client_id: String,

    /// Environment variable with the client secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_env: Option<String>,

    /// URL by which clients know the virtual server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,

    /// Scopes to advertise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,

    /// Where the keys are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,

    /// Where to ask about opaque tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introspection_url: Option<String>,

    /// File with certificate authorities to trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle_path: Option<String>,

    /// Whether a plain http issuer is fine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_allow_http: Option<bool>,

    /// Whether the keys may be fetched from a private address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_allow_private_ip: Option<bool>,

    /// Whether the protected resource metadata may name a private address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected_resource_allow_private_ip: Option<bool>,
}

/// Authorization rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigAuthz {
    /// What evaluates the rules: `cedar` or `none`.
    #[serde(rename = "type")]
    pub type_: String,

    /// Cedar policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,

    /// Cedar entities, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entities_json: Option<String>,

    /// Upstream provider whose claims the rules see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_upstream_provider: Option<String>,

    /// Claim of the token that lists the groups of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_claim_name: Option<String>,

    /// Claim of the token that lists the roles of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_claim_name: Option<String>,

    /// Cedar entity type that groups become. `THVGroup` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_entity_type: Option<String>,
}
