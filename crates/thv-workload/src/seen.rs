//! The parts of objects that we look at. Everything else is skipped while it is being read.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use thv_api::part_of;

part_of!(SeenSet, StatefulSet);
part_of!(SeenPod, Pod);
part_of!(SeenService, Service);

/// A StatefulSet.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenSet {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub status: SeenSetStatus,
}

/// The status of a StatefulSet.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SeenSetStatus {
    pub observed_generation: Option<i64>,
    pub update_revision: Option<String>,
}

/// A Service.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SeenService {
    pub metadata: ObjectMeta,
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
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SeenPodStatus {
    pub phase: String,
    #[serde(rename = "podIP")]
    pub pod_ip: String,
    pub conditions: Vec<SeenCondition>,
    pub init_container_statuses: Vec<SeenContainer>,
    pub container_statuses: Vec<SeenContainer>,
}

/// A condition of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SeenCondition {
    #[serde(rename = "type")]
    pub type_: String,
    pub status: String,
    pub reason: String,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SeenContainer {
    pub name: String,
    #[serde(rename = "containerID")]
    pub container_id: String,
    pub state: SeenContainerState,
}

/// What a container does.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SeenContainerState {
    pub waiting: Option<SeenWaiting>,
}

/// Why a container does not run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SeenWaiting {
    pub reason: String,
}
