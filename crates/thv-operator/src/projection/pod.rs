//! What is kept of pods: whose they are, and how they do.

use k8s_openapi::jiff::Timestamp;
use thv_api::names::{annotations, env};
use thv_plan::{ContainerFailure, LivePod, PodHealth, PodMaker, PodSelector};

use super::metadata::{annotation, controller};
use super::partial::{PartialContainer, PartialPod};
use crate::cache::Projection;
use crate::relation::Relation;

/// The label by which a StatefulSet tells its pods apart.
const CONTROLLER_REVISION_HASH: &str = "controller-revision-hash";

/// What a container that ends again and again waits for.
const CRASH_LOOP: &str = "CrashLoopBackOff";

/// Reasons to wait that do not pass by themselves: somebody has to change something.
const NEEDS_HELP: [&str; 7] = [
    CRASH_LOOP,
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ImagePullBackOff",
    "InvalidImageName",
    "RunContainerError",
];

/// How often a container may have restarted before it counts as one that crashes again and again.
const RESTARTS: i32 = 2;

/// A pod, and the instance that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodFacts {
    /// The value of the label that names the instance.
    pub instance: String,
    /// The pod.
    pub pod: LivePod,
}

/// What is kept of a pod that this selector found.
pub(crate) fn project(selector: PodSelector, object: PartialPod) -> Option<Projection<PodFacts>> {
    let health = health(&object);
    let PartialPod { metadata, spec, status: _ } = object;
    let label = |key: &str| metadata.labels.as_ref().and_then(|all| all.get(key)).cloned();
    let instance = label(selector.instance)?;
    let variables = spec.containers.into_iter().flat_map(|container| container.env);
    let revision = variables
        .filter(|variable| variable.name == env::MCP_SERVER_REVISION)
        .find_map(|variable| variable.value)
        .or_else(|| label(CONTROLLER_REVISION_HASH))
        .or_else(|| annotation(&metadata, annotations::CONFIG_HASH).map(str::to_owned));
    let maker = match controller(&metadata).as_ref().map(|owner| owner.kind.as_str()) {
        Some("ReplicaSet") => PodMaker::Deployment,
        Some("StatefulSet") => PodMaker::StatefulSet,
        _ => PodMaker::Other,
    };
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let relation = Relation::PodOf { selector: selector.labels, instance: &instance }.id(namespace);
    let pod = LivePod {
        name: metadata.name.unwrap_or_default(),
        uid: metadata.uid.unwrap_or_default(),
        created: metadata.creation_timestamp.map_or(Timestamp::UNIX_EPOCH, |time| time.0),
        maker,
        revision,
        health,
    };
    Some(Projection { value: PodFacts { instance, pod }, relations: vec![relation], definition: None })
}

fn health(pod: &PartialPod) -> PodHealth {
    if pod.metadata.deletion_timestamp.is_some() {
        return PodHealth::Terminating;
    }
    let status = &pod.status;
    if matches!(status.phase.as_deref(), Some("Failed" | "Succeeded")) {
        return PodHealth::Ended;
    }
    let containers = &status.container_statuses;
    let failing = status.init_container_statuses.iter().chain(containers).find_map(failure);
    let is_ready = !containers.is_empty() && containers.iter().all(|container| container.ready);
    let is_unschedulable = status.conditions.iter().any(|condition| {
        condition.type_ == "PodScheduled" && condition.reason.as_deref() == Some("Unschedulable")
    });
    match (status.phase.as_deref(), failing) {
        (_, Some(failure)) => PodHealth::Failing(failure),
        (Some("Running"), None) if is_ready => PodHealth::Ready,
        _ if is_unschedulable => PodHealth::Unschedulable,
        _ => PodHealth::Pending,
    }
}

/// Why a container does not run, if it does not.
///
/// A container that ends again and again is waiting, running and ended in turns, and an image that cannot be had is pulled
/// and waited for in turns. Each counts as one thing through all of that, so that what is said of it does not change with
/// every attempt.
fn failure(container: &PartialContainer) -> Option<ContainerFailure> {
    if container.ready {
        return None;
    }
    let ended = container.state.terminated.as_ref().or(container.last_state.terminated.as_ref());
    let is_loop = ended.is_some() && container.restart_count >= RESTARTS;
    let waiting = container.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
    let reason = match (waiting, ended) {
        _ if is_loop => CRASH_LOOP,
        (Some("ErrImagePull"), _) => "ImagePullBackOff",
        (Some("ContainerCreating" | "PodInitializing"), None) => return None,
        (Some(reason), _) if !matches!(reason, "ContainerCreating" | "PodInitializing") => reason,
        (_, Some(ended)) if ended.exit_code != 0 => ended.reason.as_deref().unwrap_or("Error"),
        _ => return None,
    };
    Some(ContainerFailure {
        container: container.name.clone(),
        reason: reason.to_owned(),
        exit_code: ended.map(|ended| ended.exit_code),
        needs_help: NEEDS_HELP.contains(&reason),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(status: Value) -> PodHealth {
        let pod = json!({"metadata": {"name": "p"}, "status": status});
        health(&serde_json::from_value(pod).unwrap())
    }

    fn container(value: Value) -> PodHealth {
        let mut whole = json!({"name": "mcp", "ready": false});
        whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        of(json!({"phase": "Running", "containerStatuses": [whole]}))
    }

    fn failing(reason: &str, exit_code: Option<i32>, needs_help: bool) -> PodHealth {
        PodHealth::Failing(ContainerFailure {
            container: "mcp".to_owned(),
            reason: reason.to_owned(),
            exit_code,
            needs_help,
        })
    }

    #[test]
    fn a_crash_loop_reads_the_same_in_every_phase_of_it() {
        let ended = json!({"terminated": {"exitCode": 3, "reason": "Error"}});
        let loops = failing("CrashLoopBackOff", Some(3), true);
        for state in [
            json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}),
            json!({"state": {"running": {}}, "lastState": ended}),
            json!({"state": ended, "lastState": ended}),
            json!({"state": {"waiting": {"reason": "RunContainerError"}}, "lastState": ended}),
        ] {
            let mut state = state;
            state["restartCount"] = json!(5);
            assert_eq!(container(state.clone()), loops, "{state}");
        }
        assert_eq!(container(json!({"state": ended})), failing("Error", Some(3), false), "the first time");
        // One that ends as if all were well does not serve either.
        let done = json!({"terminated": {"exitCode": 0, "reason": "Completed"}});
        for state in [json!({"state": done}), json!({"state": {"running": {}}, "lastState": done})] {
            let mut state = state;
            state["restartCount"] = json!(5);
            assert_eq!(container(state.clone()), failing("CrashLoopBackOff", Some(0), true), "{state}");
        }
    }

    #[test]
    fn images_that_cannot_be_had_need_help() {
        for reason in ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"] {
            let state = json!({"state": {"waiting": {"reason": reason}}});
            // Whether it is being pulled or waited for alternates.
            let told = if reason == "ErrImagePull" { "ImagePullBackOff" } else { reason };
            assert_eq!(container(state), failing(told, None, true));
        }
        assert_eq!(
            container(json!({"state": {"waiting": {"reason": "ContainerCreating"}}})),
            PodHealth::Pending
        );
    }

    #[test]
    fn pods_that_have_ended_or_wait_for_a_node_are_told_apart() {
        assert_eq!(of(json!({"phase": "Failed", "reason": "Evicted"})), PodHealth::Ended);
        assert_eq!(of(json!({"phase": "Succeeded"})), PodHealth::Ended);
        let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable"});
        assert_eq!(of(json!({"phase": "Pending", "conditions": [condition]})), PodHealth::Unschedulable);
        let ready = json!([{"name": "mcp", "ready": true}]);
        assert_eq!(of(json!({"phase": "Running", "containerStatuses": ready})), PodHealth::Ready);
        assert_eq!(of(json!({})), PodHealth::Pending);
    }
}
