//! What a plan for a registry has to know of the objects around it.

use thv_api::names::children::mcp_registry;
use thv_api::names::labels;

use crate::live::{LiveDeployment, LivePod, Observe, PodMaker, PodSelector};

/// The pods of registries.
pub(super) const PODS: PodSelector =
    PodSelector { labels: "app.kubernetes.io/component=registry-api", instance: labels::REGISTRY_NAME };

/// The objects that belong to a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Its Deployment.
    pub deployment: Option<LiveDeployment>,
    /// Its pods.
    pub pods: Vec<LivePod>,
}

impl Live {
    /// Looks everything up.
    pub(super) fn of(name: &str, observe: &mut dyn Observe) -> Self {
        let pods = observe.pods(PODS, name).into_iter();
        Self {
            deployment: observe.deployment(&mcp_registry::api(name)),
            pods: pods.filter(|pod| pod.maker == PodMaker::Deployment).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_found_by_labels_that_they_have() {
        let labels = labels::registry("r-api", "r");
        let (key, value) = PODS.labels.split_once('=').unwrap();
        assert_eq!(labels.get(key).map(String::as_str), Some(value));
        assert_eq!(labels.get(PODS.instance).map(String::as_str), Some("r"));
    }
}
