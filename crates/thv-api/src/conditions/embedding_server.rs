//! Conditions of `EmbeddingServer`.

pub use super::common::PodTemplateValid;
use super::condition;

condition! {
    /// Whether the model is served.
    ModelReady = Good "ModelReady" {
        /// It is.
        True Ready = "ModelReady",
        /// It is being downloaded.
        False Downloading = "ModelDownloading",
        /// It cannot be served.
        False Failed = "ModelFailed",
    }
}

condition! {
    /// Whether the volume for models is there.
    VolumeReady = Good "VolumeReady" {
        /// It is.
        True Ready = "VolumeReady",
        /// It is being made.
        False Creating = "VolumeCreating",
        /// It cannot be made.
        False Failed = "VolumeFailed",
    }
}
