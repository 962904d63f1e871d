//! The parts of objects that we look at. Everything else is skipped while it is being read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::Deserialize;
use serde_json::Value;
use thv_api::{lenient_metadata, part_of};

part_of!(PartialDeployment, Deployment);
part_of!(PartialStatefulSet, StatefulSet);
part_of!(PartialPod, Pod);
part_of!(PartialAutoscaler, HorizontalPodAutoscaler);

/// An object of which only the metadata is asked for, and sent.
#[derive(Deserialize)]
#[serde(bound = "")]
pub(crate) struct MetadataOnly<K> {
    #[serde(deserialize_with = "lenient_metadata")]
    pub metadata: ObjectMeta,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for MetadataOnly<K> {
    fn clone(&self) -> Self {
        Self { metadata: self.metadata.clone(), kind: PhantomData }
    }
}

impl<K> fmt::Debug for MetadataOnly<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetadataOnly").field("name", &self.metadata.name).finish_non_exhaustive()
    }
}

impl<K: Resource> Resource for MetadataOnly<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn metadata_api() -> bool {
        true
    }

    fn kind(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn plural(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// A Deployment.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PartialDeployment {
    #[serde(deserialize_with = "lenient_metadata")]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PartialWorkload,
    #[serde(default)]
    pub status: PartialWorkloadStatus,
}

/// A StatefulSet.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PartialStatefulSet {
    #[serde(deserialize_with = "lenient_metadata")]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PartialStatefulSetSpec,
    #[serde(default)]
    pub status: PartialWorkloadStatus,
}

/// The spec of a StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialStatefulSetSpec {
    pub replicas: Option<i32>,
    #[serde(default)]
    pub service_name: String,
    #[serde(default)]
    pub selector: Value,
    #[serde(default)]
    pub volume_claim_templates: Vec<Value>,
}

/// The spec of a Deployment.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialWorkload {
    pub replicas: Option<i32>,
    #[serde(default)]
    pub template: PartialTemplate,
}

/// A pod template.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialTemplate {
    #[serde(default)]
    pub metadata: PartialTemplateMetadata,
}

/// The metadata of a pod template.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialTemplateMetadata {
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// The status of a Deployment or StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialWorkloadStatus {
    pub observed_generation: Option<i64>,
    #[serde(default)]
    pub replicas: i32,
    #[serde(default)]
    pub updated_replicas: i32,
    #[serde(default)]
    pub available_replicas: i32,
    #[serde(default)]
    pub ready_replicas: i32,
    pub update_revision: Option<String>,
    #[serde(default)]
    pub conditions: Vec<PartialCondition>,
}

/// A condition of an object of Kubernetes.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialCondition {
    #[serde(rename = "type", default)]
    pub type_: String,
    #[serde(default)]
    pub status: String,
    pub reason: Option<String>,
}

/// A pod.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PartialPod {
    #[serde(deserialize_with = "lenient_metadata")]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PartialPodSpec,
    #[serde(default)]
    pub status: PartialPodStatus,
}

/// The spec of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialPodSpec {
    #[serde(default)]
    pub containers: Vec<PartialContainerSpec>,
}

/// A container as it is asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialContainerSpec {
    #[serde(default)]
    pub env: Vec<PartialVariable>,
}

/// A variable of a container.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialVariable {
    #[serde(default)]
    pub name: String,
    pub value: Option<String>,
}

/// The status of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialPodStatus {
    pub phase: Option<String>,
    #[serde(default)]
    pub conditions: Vec<PartialCondition>,
    #[serde(default)]
    pub init_container_statuses: Vec<PartialContainer>,
    #[serde(default)]
    pub container_statuses: Vec<PartialContainer>,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialContainer {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub ready: bool,
    #[serde(default)]
    pub restart_count: i32,
    #[serde(default)]
    pub state: PartialContainerState,
    #[serde(default)]
    pub last_state: PartialContainerState,
}

/// What a container is doing.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialContainerState {
    pub waiting: Option<PartialWaiting>,
    pub terminated: Option<PartialTerminated>,
}

/// Why a container waits.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialWaiting {
    pub reason: Option<String>,
}

/// How a container ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialTerminated {
    #[serde(default)]
    pub exit_code: i32,
    pub reason: Option<String>,
}

/// An autoscaler.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PartialAutoscaler {
    #[serde(deserialize_with = "lenient_metadata")]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PartialAutoscalerSpec,
}

/// The spec of an autoscaler.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartialAutoscalerSpec {
    #[serde(default)]
    pub scale_target_ref: PartialTarget,
}

/// What an autoscaler scales.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartialTarget {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_that_our_types_do_not_know_keeps_nobody_from_being_read() {
        let object = json!({"metadata": {
            "name": "c", "namespace": "n", "uid": "u", "resourceVersion": "7",
            "deletionTimestamp": "9999-12-31T23:59:59Z",
            "managedFields": [
                {"manager": "toolhive-operator", "operation": "Apply", "time": "9999-12-31T23:59:59Z"},
                {"manager": "kubectl", "operation": "Update", "time": "2026-11-15T10:00:00Z"},
            ],
        }});
        let read: MetadataOnly<ConfigMap> = serde_json::from_value(object).unwrap();
        let entries = read.metadata.managed_fields.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.time.is_some()).collect::<Vec<_>>(), [false, true]);
        assert_eq!(entries[0].manager.as_deref(), Some("toolhive-operator"));
        assert!(read.metadata.deletion_timestamp.is_some() && read.metadata.uid.as_deref() == Some("u"));
    }
}
