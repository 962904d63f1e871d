//! What users may add to the objects of a proxy: `spec.resourceOverrides`.

use thv_api::shared::{
    EnvVar, MetadataOverrides, ProxyDeploymentOverrides, PullSecretRef, ResourceOverrides,
};

use crate::metadata::{OnDeployment, OnPods, OnService, UserMetadata};

/// The field about the Deployment.
pub(super) const DEPLOYMENT: &str = "spec.resourceOverrides.proxyDeployment";
/// The field about its pods.
pub(super) const PODS: &str = "spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides";
/// The field about their variables.
pub(super) const ENV: &str = "spec.resourceOverrides.proxyDeployment.env";
/// The field about the Service.
pub(super) const SERVICE: &str = "spec.resourceOverrides.proxyService";

/// What users may add, each at its level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overrides<'a> {
    pub(crate) deployment: UserMetadata<'a, OnDeployment>,
    pub(crate) pods: UserMetadata<'a, OnPods>,
    pub(crate) service: UserMetadata<'a, OnService>,
    pub(crate) env: &'a [EnvVar],
    pull_secrets: &'a [PullSecretRef],
}

impl<'a> Overrides<'a> {
    /// What stands in the spec.
    pub(crate) fn new(all: Option<&'a ResourceOverrides>) -> Self {
        let mut overrides = Self {
            deployment: UserMetadata::new(DEPLOYMENT, None, None),
            pods: UserMetadata::new(PODS, None, None),
            service: UserMetadata::new(SERVICE, None, None),
            env: &[],
            pull_secrets: &[],
        };
        let Some(ResourceOverrides { proxy_deployment, proxy_service }) = all else { return overrides };
        if let Some(MetadataOverrides { annotations, labels }) = proxy_service {
            overrides.service = UserMetadata::new(SERVICE, labels.as_ref(), annotations.as_ref());
        }
        let Some(ProxyDeploymentOverrides {
            annotations,
            labels,
            pod_template_metadata_overrides,
            env,
            image_pull_secrets,
        }) = proxy_deployment
        else {
            return overrides;
        };
        overrides.deployment = UserMetadata::new(DEPLOYMENT, labels.as_ref(), annotations.as_ref());
        overrides.env = env.as_deref().unwrap_or_default();
        overrides.pull_secrets = image_pull_secrets.as_deref().unwrap_or_default();
        if let Some(MetadataOverrides { annotations, labels }) = pod_template_metadata_overrides {
            overrides.pods = UserMetadata::new(PODS, labels.as_ref(), annotations.as_ref());
        }
        overrides
    }

    /// The pull secrets that the user names.
    pub(crate) fn pull_secrets(&self) -> impl Iterator<Item = &'a str> {
        self.pull_secrets.iter().map(|secret| secret.name.as_str())
    }
}
