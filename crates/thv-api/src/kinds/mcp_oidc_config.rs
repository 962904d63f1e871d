//! `MCPOIDCConfig`: an identity provider to share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::schema::cel;
use crate::shared::{CABundleSource, ConfigStatus, SecretKeyRef};
use crate::value::string_enum;

/// An identity provider that several servers share.
pub type MCPOIDCConfig = Object<MCPOIDCConfigSpec>;

impl Kind for MCPOIDCConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPOIDCConfig";
    const PLURAL: &'static str = "mcpoidcconfigs";
    const SINGULAR: &'static str = "mcpoidcconfig";
    const SHORT_NAMES: &'static [&'static str] = &["mcpoidc"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Source", "string", ".spec.type"),
        Column::VALID,
        Column::REFERENCED,
        Column::REFERRERS,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "An identity provider whose tokens servers accept. Servers refer to \
         it by oidcConfigRef.";
}

/// Who issues the tokens that servers accept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.type == 'kubernetesServiceAccount' ? has(self.kubernetesServiceAccount) : \
         !has(self.kubernetesServiceAccount)",
        "type kubernetesServiceAccount and the field kubernetesServiceAccount go together: set \
         both or neither",
    ),
    (
        "self.type == 'inline' ? has(self.inline) : !has(self.inline)",
        "type inline and the field inline go together: set both or neither",
    ),
])))]
pub struct MCPOIDCConfigSpec {
    /// Which of the following settings apply.
    #[serde(rename = "type")]
    pub type_: OIDCSource,

    /// Accept service account tokens of the cluster. For type `kubernetesServiceAccount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes_service_account: Option<KubernetesServiceAccountOIDC>,

    /// Accept tokens of any OpenID Connect provider. For type `inline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<InlineOIDC>,
}

string_enum! {
    /// Kinds of identity providers.
    pub enum OIDCSource {
        /// The Kubernetes cluster itself.
        KubernetesServiceAccount = "kubernetesServiceAccount",
        /// An OpenID Connect provider, described here.
        Inline = "inline",
    }
}

/// The cluster as an identity provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesServiceAccountOIDC {
    /// Service account whose tokens are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,

    /// Namespace of the service account. That of the server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,

    /// Issuer of the service account tokens.
    #[serde(default = "default_issuer")]
    pub issuer: String,

    /// Where the keys are. Found by discovery when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,

    /// Where to ask about tokens that cannot be verified by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introspection_url: Option<String>,

    /// Whether to use the cluster's own certificate authority and token to fetch the keys. Yes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_cluster_auth: Option<bool>,
}

/// An OpenID Connect provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineOIDC {
    /// Issuer URL, as in the `iss` claim.
    pub issuer: String,

    /// Where the keys are. Found by discovery when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,

    /// Where to ask about opaque tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introspection_url: Option<String>,

    /// Client identifier, for introspection and to check tokens against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,

    /// Client secret for introspection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretKeyRef>,

    /// Certificate authorities to trust when talking to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle_ref: Option<CABundleSource>,

    /// File in the proxy with a bearer token to fetch the keys with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_auth_token_path: Option<String>,

    /// Whether the keys may be fetched from a private address.
    #[serde(rename = "jwksAllowPrivateIP", default)]
    pub jwks_allow_private_ip: bool,

    /// Whether the protected resource metadata may name a private address.
    #[serde(rename = "protectedResourceAllowPrivateIP", default)]
    pub protected_resource_allow_private_ip: bool,

    /// Whether a plain http issuer is fine. For tests only.
    #[serde(rename = "insecureAllowHTTP", default)]
    pub insecure_allow_http: bool,
}

fn default_issuer() -> String {
    "https://kubernetes.default.svc".to_owned()
}
