//! Keys of Secrets and ConfigMaps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One key of a Secret in the namespace of the object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyRef {
    /// Name of the Secret.
    pub name: String,

    /// Key within the Secret.
    pub key: String,
}

/// One key of a ConfigMap or Secret, in the form that pods use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct KeySelector {
    /// Name of the ConfigMap or Secret.
    #[serde(default)]
    pub name: String,

    /// Key within it.
    pub key: String,

    /// Whether the key, or the whole object, may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// Certificates to trust besides those of the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CABundleSource {
    /// ConfigMap and key that hold the certificates in PEM form. The name can have at most 48 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_ref: Option<KeySelector>,
}

/// A Secret with credentials for an image registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct PullSecretRef {
    /// Name of the Secret.
    #[serde(default)]
    pub name: String,
}
