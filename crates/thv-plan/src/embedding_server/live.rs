//! What a plan for an embedding server has to know of the objects around it.

use thv_api::names::children::embedding_server;
use thv_api::names::labels;

use crate::live::{LivePod, LiveStatefulSet, Observe, PodMaker, PodSelector};

/// The pods of embedding servers.
pub(super) const PODS: PodSelector =
    PodSelector { labels: "app.kubernetes.io/component=embedding-server", instance: labels::APP_INSTANCE };

/// The objects that belong to an embedding server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Its StatefulSet.
    pub stateful_set: Option<LiveStatefulSet>,
    /// Its pods.
    pub pods: Vec<LivePod>,
}

impl Live {
    /// Looks everything up.
    pub(super) fn of(name: &str, observe: &mut dyn Observe) -> Self {
        let pods = observe.pods(PODS, name).into_iter();
        Self {
            stateful_set: observe.stateful_set(&embedding_server::stateful_set(name)),
            pods: pods.filter(|pod| pod.maker == PodMaker::StatefulSet).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_found_by_labels_that_they_have() {
        let labels = labels::embedding_server("e");
        let (key, value) = PODS.labels.split_once('=').unwrap();
        assert_eq!(labels.get(key).map(String::as_str), Some(value));
        assert_eq!(labels.get(PODS.instance).map(String::as_str), Some("e"));
    }
}
