//! Pods that can never start and stand in the way of those that could.
//!
//! A StatefulSet replaces its pods one by one and waits for each to be ready. When one of them cannot start, for
//! example because its image does not exist, the StatefulSet waits for ever, even when the image has been put right
//! long since (kubernetes/kubernetes#67250). Somebody has to delete the pod.

use crate::pods::PodSight;
use crate::seen::SeenPod;

/// What is known about the StatefulSet of the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetSight {
    /// Its uid.
    pub(crate) uid: String,
    /// Whether it is what this very proxy would apply.
    pub(crate) is_mine: bool,
    /// The controller revision that its pods should have, if its status is up to date.
    pub(crate) update_revision: Option<String>,
}

/// Why a container that never ran does not run.
const HOPELESS: [&str; 8] = [
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImageInspectError",
    "ImagePullBackOff",
    "InvalidImageName",
    "RegistryUnavailable",
];

/// Whether nothing of a pod has ever run, and nothing of it can run as things are.
pub(crate) fn cannot_start(pod: &SeenPod) -> bool {
    let status = &pod.status;
    let mut containers = status.init_container_statuses.iter().chain(&status.container_statuses);
    let waits = containers
        .any(|container| container.state.waiting.as_ref().is_some_and(|it| HOPELESS.contains(&&*it.reason)));
    let is_homeless = status.conditions.iter().any(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason == "Unschedulable"
    });
    status.phase == "Pending" && (waits || is_homeless)
}

/// Whether a pod is to be deleted, so that its StatefulSet makes one that can start: it cannot start itself, and it is
/// not what its StatefulSet would make today.
pub(crate) fn stands_in_the_way(pod: &PodSight, set: &SetSight) -> bool {
    let SetSight { uid, is_mine, update_revision } = set;
    let is_outdated = match (update_revision, &pod.revision) {
        (Some(wanted), Some(has)) => wanted != has,
        _ => false,
    };
    *is_mine && pod.set == *uid && is_outdated && pod.cannot_start && !pod.ready && !pod.terminating
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pods::sight;

    fn set() -> SetSight {
        SetSight { uid: "set".to_owned(), is_mine: true, update_revision: Some("web-new".to_owned()) }
    }

    fn pod(status: &Value) -> PodSight {
        let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "set", "controller": true});
        let pod = json!({
            "metadata": {
                "name": "web-0", "uid": "p", "ownerReferences": [owner],
                "labels": {"controller-revision-hash": "web-old"},
            },
            "status": status,
        });
        sight(&serde_json::from_value(pod).unwrap(), "web").unwrap()
    }

    fn waiting(phase: &str, reason: &str) -> Value {
        json!({"phase": phase, "containerStatuses": [{"name": "mcp", "state": {"waiting": {"reason": reason}}}]})
    }

    #[test]
    fn s0_13_a_pod_that_cannot_start_makes_way_for_one_that_can() {
        for reason in HOPELESS {
            assert!(stands_in_the_way(&pod(&waiting("Pending", reason)), &set()), "{reason}");
        }
        let init = json!({"phase": "Pending", "initContainerStatuses": [
            {"name": "i", "state": {"waiting": {"reason": "ErrImagePull"}}},
        ]});
        assert!(stands_in_the_way(&pod(&init), &set()));
        let homeless = json!({"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
        ]});
        assert!(stands_in_the_way(&pod(&homeless), &set()));
    }

    #[test]
    fn s0_13_no_pod_that_runs_or_may_run_soon_is_touched() {
        let still = |status: Value| assert!(!stands_in_the_way(&pod(&status), &set()), "{status}");
        still(waiting("Running", "CrashLoopBackOff"));
        still(waiting("Running", "ImagePullBackOff"));
        still(waiting("Pending", "ContainerCreating"));
        still(waiting("Pending", "PodInitializing"));
        still(json!({"phase": "Pending"}));
        still(json!({}));
        still(json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}));
    }

    #[test]
    fn s0_13_only_an_outdated_pod_of_our_own_set_is_touched() {
        let stuck = pod(&waiting("Pending", "ErrImagePull"));
        let untouched =
            |pod: &PodSight, set: &SetSight| assert!(!stands_in_the_way(pod, set), "{pod:?} {set:?}");
        untouched(&PodSight { revision: Some("web-new".to_owned()), ..stuck.clone() }, &set());
        untouched(&PodSight { revision: None, ..stuck.clone() }, &set());
        untouched(&PodSight { terminating: true, ..stuck.clone() }, &set());
        untouched(&PodSight { set: "other".to_owned(), ..stuck.clone() }, &set());
        untouched(&stuck, &SetSight { is_mine: false, ..set() });
        untouched(&stuck, &SetSight { update_revision: None, ..set() });
    }
}
