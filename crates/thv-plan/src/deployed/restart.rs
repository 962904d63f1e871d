//! Restarts that a user asks for with an annotation.
//!
//! The time on the pods is that of the request, not that at which it was carried out: doing it again after a crash
//! then changes nothing.

use k8s_openapi::jiff::Timestamp;
use thv_api::names::annotations;

use super::{Deployed, deployment_of, workload};
use crate::live::{LivePod, PodHealth};
use crate::snapshot::Snapshot;

/// What is to be done about restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restart {
    /// The annotation of the pods: changing it rolls them, and so does losing it.
    pub(crate) on_pods: Option<String>,
    /// What there is to carry out.
    pub(crate) request: Option<Request>,
}

/// A request that has not been carried out yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The request, to be noted as carried out.
    pub(crate) at: String,
    /// Pods to delete: name and uid. None of them for a rolling restart.
    pub(crate) pods_to_delete: Vec<(String, String)>,
}

/// What is to be done about restarts of the pods of an object.
pub(crate) fn restart<S: Deployed>(snapshot: &Snapshot<S>) -> Restart {
    let deployment = deployment_of(snapshot);
    let before = deployment.and_then(|live| live.restarted_at.clone());
    let Some(at) = requested(snapshot) else { return Restart { on_pods: before, request: None } };
    if annotation(snapshot, annotations::RESTART_STRATEGY) == Some("immediate") {
        let request = Request { pods_to_delete: pods(snapshot, &at), at };
        return Restart { on_pods: before, request: Some(request) };
    }
    // Pods that are not there yet need no restart.
    let on_pods = deployment.map(|_| at.clone());
    Restart { on_pods, request: Some(Request { at, pods_to_delete: Vec::new() }) }
}

/// Why a request does nothing, if it does not.
pub(crate) fn misunderstanding<S: Deployed>(snapshot: &Snapshot<S>) -> Option<String> {
    let text = annotation(snapshot, annotations::RESTARTED_AT)?;
    let key = annotations::RESTARTED_AT;
    let Ok(at) = text.parse::<Timestamp>() else {
        return Some(format!(
            "metadata.annotations[{key}]: {text:?} is no time like 2006-01-02T15:04:05Z: nothing is restarted"
        ));
    };
    let done = annotation(snapshot, annotations::LAST_PROCESSED_RESTART)?;
    let is_earlier = done.parse::<Timestamp>().is_ok_and(|done| at < done);
    is_earlier.then(|| {
        format!(
            "metadata.annotations[{key}]: {text} is before the last restart, {done}: nothing is restarted; write a later \
             time"
        )
    })
}

/// The time of a request that has not been carried out.
fn requested<S: Deployed>(snapshot: &Snapshot<S>) -> Option<String> {
    let text = annotation(snapshot, annotations::RESTARTED_AT)?;
    let at: Timestamp = text.parse().ok()?;
    let done = annotation(snapshot, annotations::LAST_PROCESSED_RESTART).and_then(|text| text.parse().ok());
    done.is_none_or(|done: Timestamp| at > done).then(|| text.to_owned())
}

fn annotation<'a, S: Deployed>(snapshot: &'a Snapshot<S>, key: &str) -> Option<&'a str> {
    snapshot.owner.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

/// The pods that were there when the request was made, by the clock of the API server. Those that have replaced them
/// since are left alone, should the request be carried out twice because it could not be noted.
fn pods<S: Deployed>(snapshot: &Snapshot<S>, at: &str) -> Vec<(String, String)> {
    let requested = snapshot.requested.get(annotations::RESTARTED_AT).copied();
    let Some(requested) = requested.or_else(|| at.parse().ok()) else { return Vec::new() };
    let is_meant = |pod: &&LivePod| {
        let is_there = !matches!(pod.health, PodHealth::Terminating | PodHealth::Ended);
        is_there && pod.created < requested
    };
    let meant = workload(snapshot).pods.iter().filter(is_meant);
    let mut pods: Vec<_> = meant.map(|pod| (pod.name.clone(), pod.uid.clone())).collect();
    pods.sort();
    pods
}
