//! What users may add to the objects that we create.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::PullSecretRef;

/// Labels and annotations to add to an object. Those that ToolHive sets itself stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOverrides {
    /// Annotations to add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,

    /// Labels to add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// Changes to the objects behind a proxy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceOverrides {
    /// Changes to the Deployment of the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_deployment: Option<ProxyDeploymentOverrides>,

    /// Labels and annotations to add to the Service of the proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_service: Option<MetadataOverrides>,
}

/// Changes to the Deployment of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProxyDeploymentOverrides {
    /// Annotations to add to the Deployment itself. Its pods do not get them: annotations for sidecar
    /// injection (Vault Agent, Istio, Linkerd) belong in `podTemplateMetadataOverrides`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,

    /// Labels to add to the Deployment itself, not to its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,

    /// Labels and annotations to add to the pods. This is the place for annotations of sidecar injectors,
    /// such as `vault.hashicorp.com/agent-inject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_metadata_overrides: Option<MetadataOverrides>,

    /// Environment variables to add to the proxy container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub env: Option<Vec<EnvVar>>,

    /// Credentials to pull the image of the proxy with, besides those set for the whole operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub image_pull_secrets: Option<Vec<PullSecretRef>>,
}

/// An environment variable with a literal value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvVar {
    /// Name of the variable.
    pub name: String,

    /// Value of the variable.
    pub value: String,
}

/// How much of a node a container may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequirements {
    /// The most it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceList>,

    /// What is set aside for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<ResourceList>,
}

/// Amounts of CPU and memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceList {
    /// CPU, as a Kubernetes quantity such as `500m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,

    /// Memory, as a Kubernetes quantity such as `128Mi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}
