//! What can be wrong with what a spec says about the objects of a proxy. The schema lets all of this pass, and the API
//! server would refuse the objects that come of it.

use thv_api::shared::{
    EnvVar, MetadataOverrides, ProxyDeploymentOverrides, ResourceList, ResourceOverrides,
    ResourceRequirements,
};

use super::overrides::{DEPLOYMENT, ENV, PODS, SERVICE};
use crate::invalid::InvalidList;
use crate::metadata::Pairs;
use crate::quantity::is_amount;
use crate::syntax;

/// How much the proxy may use.
pub(crate) fn resources(requirements: &ResourceRequirements, invalid: &mut InvalidList) {
    let ResourceRequirements { limits, requests } = requirements;
    for (half, list) in [("limits", limits), ("requests", requests)] {
        let Some(ResourceList { cpu, memory }) = list else { continue };
        for (resource, amount) in [("cpu", cpu), ("memory", memory)] {
            let Some(amount) = amount.as_deref().filter(|text| !text.is_empty()) else { continue };
            let message = format!("{amount:?} is no amount: write it like 500m or 128Mi");
            invalid.unless(is_amount(amount), format!("spec.resources.{half}.{resource}"), message);
        }
    }
}

/// What users add to the objects.
pub(crate) fn overrides(overrides: &ResourceOverrides, invalid: &mut InvalidList) {
    let ResourceOverrides { proxy_deployment, proxy_service } = overrides;
    if let Some(deployment) = proxy_deployment {
        let ProxyDeploymentOverrides {
            annotations,
            labels,
            pod_template_metadata_overrides,
            env,
            image_pull_secrets: _,
        } = deployment;
        check_labels(DEPLOYMENT, labels.as_ref(), invalid);
        check_annotations(DEPLOYMENT, annotations.as_ref(), invalid);
        check_metadata(PODS, pod_template_metadata_overrides.as_ref(), invalid);
        variables(ENV, env.as_deref().unwrap_or_default(), invalid);
    }
    check_metadata(SERVICE, proxy_service.as_ref(), invalid);
}

/// Variables that a user adds to a container.
pub(crate) fn variables(field: &str, all: &[EnvVar], invalid: &mut InvalidList) {
    for EnvVar { name, value: _ } in all {
        let message = format!("{name:?} cannot be the name of a variable: rename it");
        invalid.unless(syntax::is_variable(name), field, message);
    }
}

/// Labels and annotations that a user adds to an object.
pub(crate) fn check_metadata(field: &str, metadata: Option<&MetadataOverrides>, invalid: &mut InvalidList) {
    let Some(MetadataOverrides { annotations, labels }) = metadata else { return };
    check_labels(field, labels.as_ref(), invalid);
    check_annotations(field, annotations.as_ref(), invalid);
}

pub(crate) fn check_labels(field: &str, labels: Option<&Pairs>, invalid: &mut InvalidList) {
    for (key, value) in labels.into_iter().flatten() {
        let fine = syntax::is_label_key(key) && syntax::is_label_value(value);
        let message = format!("{key:?}: {value:?} is no label: use letters, digits and `-_.`");
        invalid.unless(fine, format!("{field}.labels"), message);
    }
}

pub(crate) fn check_annotations(field: &str, annotations: Option<&Pairs>, invalid: &mut InvalidList) {
    for key in annotations.into_iter().flat_map(Pairs::keys) {
        let message = format!("{key:?} cannot be the key of an annotation: rename it");
        invalid.unless(syntax::is_annotation_key(key), format!("{field}.annotations"), message);
    }
}
