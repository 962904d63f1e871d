//! What users may add to the objects of an embedding server: `spec.resourceOverrides`.

use thv_api::kinds::{EmbeddingResourceOverrides, StatefulSetOverrides};
use thv_api::shared::MetadataOverrides;

use crate::invalid::InvalidList;
use crate::metadata::{OnClaims, OnPods, OnService, OnStatefulSet, UserMetadata};
use crate::proxy::validate::{check_annotations, check_labels, check_metadata};

/// The field about the StatefulSet.
const STATEFUL_SET: &str = "spec.resourceOverrides.statefulSet";
/// The field about its pods.
const PODS: &str = "spec.resourceOverrides.statefulSet.podTemplateMetadataOverrides";
/// The field about the Service.
const SERVICE: &str = "spec.resourceOverrides.service";
/// The field about the claims.
pub(super) const CLAIMS: &str = "spec.resourceOverrides.persistentVolumeClaim";

/// What users may add, each at its level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overrides<'a> {
    pub(super) stateful_set: UserMetadata<'a, OnStatefulSet>,
    pub(super) pods: UserMetadata<'a, OnPods>,
    pub(super) service: UserMetadata<'a, OnService>,
    pub(super) claims: UserMetadata<'a, OnClaims>,
}

impl<'a> Overrides<'a> {
    /// What stands in the spec.
    pub(super) fn new(all: Option<&'a EmbeddingResourceOverrides>) -> Self {
        let mut overrides = Self {
            stateful_set: UserMetadata::new(STATEFUL_SET, None, None),
            pods: UserMetadata::new(PODS, None, None),
            service: UserMetadata::new(SERVICE, None, None),
            claims: UserMetadata::new(CLAIMS, None, None),
        };
        let Some(EmbeddingResourceOverrides { stateful_set, service, persistent_volume_claim }) = all else {
            return overrides;
        };
        if let Some(MetadataOverrides { annotations, labels }) = service {
            overrides.service = UserMetadata::new(SERVICE, labels.as_ref(), annotations.as_ref());
        }
        if let Some(MetadataOverrides { annotations, labels }) = persistent_volume_claim {
            overrides.claims = UserMetadata::new(CLAIMS, labels.as_ref(), annotations.as_ref());
        }
        let Some(StatefulSetOverrides { annotations, labels, pod_template_metadata_overrides }) =
            stateful_set
        else {
            return overrides;
        };
        overrides.stateful_set = UserMetadata::new(STATEFUL_SET, labels.as_ref(), annotations.as_ref());
        if let Some(MetadataOverrides { annotations, labels }) = pod_template_metadata_overrides {
            overrides.pods = UserMetadata::new(PODS, labels.as_ref(), annotations.as_ref());
        }
        overrides
    }
}

/// What the API server would refuse of it.
pub(super) fn check(overrides: &EmbeddingResourceOverrides, invalid: &mut InvalidList) {
    let EmbeddingResourceOverrides { stateful_set, service, persistent_volume_claim } = overrides;
    if let Some(StatefulSetOverrides { annotations, labels, pod_template_metadata_overrides }) = stateful_set
    {
        check_labels(STATEFUL_SET, labels.as_ref(), invalid);
        check_annotations(STATEFUL_SET, annotations.as_ref(), invalid);
        check_metadata(PODS, pod_template_metadata_overrides.as_ref(), invalid);
    }
    check_metadata(SERVICE, service.as_ref(), invalid);
    check_metadata(CLAIMS, persistent_volume_claim.as_ref(), invalid);
}
