//! Conditions of `EmbeddingServer`.

pub use super::common::PodTemplateValid;
pub use super::mcp_server::{OverridesAccepted, Ready, SpecValid};
use super::{condition, polarities};

condition! {
    /// Whether everything that the spec says is applied. Some of it cannot be changed in a StatefulSet that is there; the
    /// rest is applied in spite of that.
    FullyApplied = Good "FullyApplied" {
        /// It is.
        True Applied = "AllFieldsApplied",
        /// Something stays as it is. The message says what.
        False ImmutableField = "ImmutableFieldChanged",
    }
}

condition! {
    /// Whether the model is served. `Ready` tells of it when that turns.
    ModelReady = Neutral "ModelReady" {
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

polarities![FullyApplied, ModelReady, OverridesAccepted, PodTemplateValid, Ready, SpecValid, VolumeReady,];
