//! `MCPRegistry`: a registry of servers (deprecated).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object, Served, Version};
use crate::schema::Conditions;
use crate::shared::{KeySelector, PullSecretRef};
use crate::value::{RawObject, RawValue, string_enum};

/// A registry of MCP servers.
pub type MCPRegistry = Object<MCPRegistrySpec>;

impl Kind for MCPRegistrySpec {
    type Status = MCPRegistryStatus;

    const KIND: &'static str = "MCPRegistry";
    const PLURAL: &'static str = "mcpregistries";
    const SINGULAR: &'static str = "mcpregistry";
    const SHORT_NAMES: &'static [&'static str] = &["mcpreg", "registry"];
    const VERSIONS: &'static [Served] = &[
        Served { version: Version::V1Alpha1, deprecation: Some(DEPRECATION) },
        Served { version: Version::V1Beta1, deprecation: Some(DEPRECATION) },
    ];
    const COLUMNS: &'static [Column] = &[
        Column::new("Status", "string", ".status.phase"),
        Column::READY,
        Column::new("Replicas", "integer", ".status.readyReplicas"),
        Column::new("URL", "string", ".status.url"),
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "A registry of MCP servers. Deprecated: install the registry server \
         with its own Helm chart.";
}

/// What clients are told, in either version: the whole kind is deprecated.
const DEPRECATION: &str = "MCPRegistry will go away: install the registry server with the chart \
     toolhive-registry-server of https://github.com/stacklok/toolhive-registry-server";

/// What a registry should be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPRegistrySpec {
    /// Configuration of the registry server, as YAML text. It is handed over unread.
    #[serde(rename = "configYAML")]
    #[schemars(length(min = 1))]
    pub config_yaml: String,

    /// Volumes to add to the pod, as in a pod spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic", "x-kubernetes-preserve-unknown-fields" = true))]
    pub volumes: Option<Vec<RawValue>>,

    /// Mounts to add to the container of the registry server, as in a pod spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic", "x-kubernetes-preserve-unknown-fields" = true))]
    pub volume_mounts: Option<Vec<RawValue>>,

    /// Password file for PostgreSQL, in the pgpass format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgpass_secret_ref: Option<KeySelector>,

    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,

    /// Changes to the pods, in the form of a pod template. The server is the container `registry-api`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_spec: Option<RawObject>,

    /// Credentials to pull images with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub image_pull_secrets: Option<Vec<PullSecretRef>>,
}

/// What is known about a registry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPRegistryStatus {
    /// What has been found out about the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// More about the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Where the registry stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<MCPRegistryPhase>,

    /// How many pods are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,

    /// Address of the registry within the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

string_enum! {
    /// Where a registry stands.
    pub enum MCPRegistryPhase {
        /// No pod is ready yet.
        Pending = "Pending",
        /// At least one pod is ready.
        Ready = "Ready",
        /// It cannot run; see the message.
        Failed = "Failed",
        /// It is being deleted.
        Terminating = "Terminating",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_deprecated_kind_warns() {
        let warnings: Vec<_> = crate::crd::<MCPRegistrySpec>()
            .spec
            .versions
            .into_iter()
            .map(|version| (version.deprecated, version.deprecation_warning))
            .collect();
        assert_eq!(warnings, vec![(Some(true), Some(DEPRECATION.to_owned())); 2]);
    }
}
