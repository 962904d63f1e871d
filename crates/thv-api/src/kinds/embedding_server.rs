//! `EmbeddingServer`: a model that turns text into vectors.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::schema::Conditions;
use crate::shared::{EnvVar, MetadataOverrides, ResourceRequirements, SecretKeyRef};
use crate::value::{Port, RawObject, string_enum};

/// A server for text embeddings, which tool search needs.
pub type EmbeddingServer = Object<EmbeddingServerSpec>;

impl Kind for EmbeddingServerSpec {
    type Status = EmbeddingServerStatus;

    const KIND: &'static str = "EmbeddingServer";
    const PLURAL: &'static str = "embeddingservers";
    const SINGULAR: &'static str = "embeddingserver";
    const SHORT_NAMES: &'static [&'static str] = &["emb", "embedding"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Status", "string", ".status.phase"),
        Column::new("Model", "string", ".spec.model"),
        Column::new("Ready", "integer", ".status.readyReplicas"),
        Column::new("URL", "string", ".status.url"),
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "A server for text embeddings (Hugging Face Text Embeddings \
         Inference). A VirtualMCPServer uses it to find tools by meaning.";
}

/// What an embedding server should be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingServerSpec {
    /// Model to serve, by its name on Hugging Face.
    #[serde(default = "default_model")]
    pub model: String,

    /// Token for Hugging Face, for models that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hf_token_secret_ref: Option<SecretKeyRef>,

    /// Image of the server.
    #[serde(default = "default_image")]
    pub image: String,

    /// When to pull the image.
    #[serde(default)]
    pub image_pull_policy: ImagePullPolicy,

    /// Port that the server listens on.
    #[serde(default = "default_port")]
    pub port: Port,

    /// Further arguments for the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,

    /// Environment variables of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub env: Option<Vec<EnvVar>>,

    /// How much CPU and memory the server may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,

    /// A volume for downloaded models, so that a restart need not download again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_cache: Option<ModelCache>,

    /// Changes to the pods, in the form of a pod template that is merged in. The server is the container
    /// `embedding`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_spec: Option<RawObject>,

    /// Labels and annotations to add to the objects behind the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_overrides: Option<EmbeddingResourceOverrides>,

    /// How many pods to run.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 1))]
    pub replicas: i32,
}

string_enum! {
    /// When to pull an image.
    pub enum ImagePullPolicy {
        /// On every start.
        Always = "Always",
        /// Never: the image is on the node already.
        Never = "Never",
        /// When the node does not have it.
        IfNotPresent = "IfNotPresent",
    }
    default IfNotPresent
}

/// A volume for downloaded models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCache {
    /// Whether to have one.
    #[serde(default = "default_enabled")]
    pub enabled: bool,

    /// Storage class of the volume. The default of the cluster when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,

    /// Size of the volume, as a Kubernetes quantity.
    #[serde(default = "default_size")]
    pub size: String,

    /// Who may mount the volume.
    #[serde(default)]
    pub access_mode: VolumeAccessMode,
}

string_enum! {
    /// Who may mount a volume.
    pub enum VolumeAccessMode {
        /// One node, for reading and writing.
        ReadWriteOnce = "ReadWriteOnce",
        /// Many nodes, for reading and writing.
        ReadWriteMany = "ReadWriteMany",
        /// Many nodes, for reading.
        ReadOnlyMany = "ReadOnlyMany",
    }
    default ReadWriteOnce
}

/// Labels and annotations to add to the objects behind an embedding server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingResourceOverrides {
    /// For the StatefulSet and its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stateful_set: Option<StatefulSetOverrides>,

    /// For the Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<MetadataOverrides>,

    /// For the volume claims of the model cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim: Option<MetadataOverrides>,
}

/// Labels and annotations to add to a StatefulSet and its pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatefulSetOverrides {
    /// Annotations to add to the StatefulSet itself. Its pods do not get them: annotations for sidecar
    /// injection belong in `podTemplateMetadataOverrides`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,

    /// Labels to add to the StatefulSet itself, not to its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,

    /// Labels and annotations to add to the pods. This is the place for annotations of sidecar injectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_metadata_overrides: Option<MetadataOverrides>,
}

/// What is known about an embedding server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingServerStatus {
    /// What has been found out about the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// More about the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Where the server stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<EmbeddingServerPhase>,

    /// How many pods are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,

    /// Address of the server within the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

string_enum! {
    /// Where an embedding server stands.
    pub enum EmbeddingServerPhase {
        /// Nothing runs yet.
        Pending = "Pending",
        /// Pods run but are not ready, most likely because the model is being downloaded.
        Downloading = "Downloading",
        /// At least one pod is ready.
        Ready = "Ready",
        /// It cannot run; see the message.
        Failed = "Failed",
        /// It is being deleted.
        Terminating = "Terminating",
    }
}

fn default_model() -> String {
    "BAAI/bge-small-en-v1.5".to_owned()
}

fn default_image() -> String {
    "ghcr.io/huggingface/text-embeddings-inference:cpu-latest".to_owned()
}

fn default_port() -> Port {
    Port::HTTP
}

fn default_replicas() -> i32 {
    1
}

fn default_enabled() -> bool {
    true
}

fn default_size() -> String {
    "10Gi".to_owned()
}
