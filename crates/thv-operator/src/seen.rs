//! The parts of objects that we look at. Everything else is skipped while it is being read.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use thv_api::part_of;

part_of!(SeenDeployment, Deployment);
part_of!(SeenStatefulSet, StatefulSet);
part_of!(SeenPod, Pod);
part_of!(SeenAutoscaler, HorizontalPodAutoscaler);

/// A Deployment.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenDeployment {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SeenWorkload,
}

/// A StatefulSet.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenStatefulSet {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SeenWorkload,
    #[serde(default)]
    pub status: SeenWorkloadStatus,
}

/// The spec of a Deployment or StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenWorkload {
    pub replicas: Option<i32>,
    #[serde(default)]
    pub template: SeenTemplate,
}

/// A pod template.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenTemplate {
    #[serde(default)]
    pub metadata: SeenTemplateMetadata,
}

/// The metadata of a pod template.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenTemplateMetadata {
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// The status of a StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenWorkloadStatus {
    pub ready_replicas: Option<i32>,
}

/// A pod.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenPod {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub status: SeenPodStatus,
}

/// The status of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenPodStatus {
    pub phase: Option<String>,
    #[serde(default)]
    pub container_statuses: Vec<SeenContainer>,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenContainer {
    #[serde(default)]
    pub ready: bool,
    #[serde(default)]
    pub state: SeenContainerState,
}

/// What a container is doing.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenContainerState {
    pub waiting: Option<SeenWaiting>,
    pub terminated: Option<SeenTerminated>,
}

/// Why a container waits.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenWaiting {
    pub reason: Option<String>,
}

/// How a container ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenTerminated {
    #[serde(default)]
    pub exit_code: i32,
}

/// An autoscaler.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenAutoscaler {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SeenAutoscalerSpec,
}

/// The spec of an autoscaler.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenAutoscalerSpec {
    #[serde(default)]
    pub scale_target_ref: SeenTarget,
}

/// What an autoscaler scales.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct SeenTarget {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
}
