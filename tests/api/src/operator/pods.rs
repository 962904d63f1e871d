//! Pods of the server, as a kubelet would report them. Here no node runs them.

use std::time::Duration;

use anyhow::{Result, bail};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::annotations;
use thv_testbed::{Space, wait};

use super::rollout::Birth;
use super::scene::{NAME, Scene};
use crate::fixture::{apply, stateful_set};

/// The container of the backend.
pub(super) const BACKEND: &str = "main";

/// Waits until the pods of a server's proxy are as they should be, and returns them.
pub(super) async fn proxies(space: &Space, server: &str, done: impl Fn(&[Pod]) -> bool) -> Result<Vec<Pod>> {
    let selector = ListParams::default().labels(&format!("toolhive-name={server}"));
    let is_proxy = |pod: &Pod| pod.owner_references().iter().any(|owner| owner.kind == "ReplicaSet");
    let deadline = tokio::time::Instant::now() + wait::DEADLINE;
    while tokio::time::Instant::now() < deadline {
        let mut pods = space.api::<Pod>().list(&selector).await?.items;
        pods.retain(is_proxy);
        if done(&pods) {
            return Ok(pods);
        }
        // There is no name yet that a watch could be for.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("the pods of the proxy have not become what they should be")
}

/// Waits until this many pods of the proxy are there.
pub(super) async fn count_of_proxies(space: &Space, count: usize) -> Result<Vec<Pod>> {
    proxies(space, NAME, |pods| pods.len() == count).await
}

/// Waits until this many are there, and all of them are older than what anybody asks for from now on. The API server
/// counts seconds, so that a pod of this second might be newer.
pub(super) async fn older_proxies(space: &Space, server: &str, count: usize) -> Result<Vec<Pod>> {
    #[expect(clippy::disallowed_methods, reason = "the API server runs on the clock of this machine")]
    let now = || Timestamp::now().as_second();
    let is_older = |pod: &Pod| {
        pod.metadata.creation_timestamp.as_ref().is_some_and(|created| created.0.as_second() < now())
    };
    proxies(space, server, |pods| pods.len() == count && pods.iter().all(is_older)).await
}

/// Reports the status of a pod.
pub(super) async fn report(space: &Space, pod: &str, status: Value) -> Result<()> {
    let patch = Patch::Merge(json!({ "status": status }));
    space.api::<Pod>().patch_status(pod, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// The status of a pod whose container runs and is ready.
pub(super) fn ready(container: &str) -> Value {
    let state = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let status = json!({
        "name": container, "ready": true, "restartCount": 0, "image": "i", "imageID": "i", "state": state,
    });
    json!({"phase": "Running", "conditions": conditions("True"), "containerStatuses": [status]})
}

fn conditions(ready: &str) -> Value {
    let condition =
        |kind: &str| json!({"type": kind, "status": ready, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    json!([condition("Ready"), condition("ContainersReady")])
}

/// The status of a pod whose container is in `state` and has been started anew this often; the last time it ended with
/// exit code 3.
pub(super) fn restarted(container: &str, restarts: i32, state: Value) -> Value {
    let status = json!({
        "name": container, "ready": false, "restartCount": restarts, "image": "i", "imageID": "i",
        "state": state, "lastState": ended(),
    });
    json!({"phase": "Running", "conditions": conditions("False"), "containerStatuses": [status]})
}

/// The state of a container that has ended with exit code 3.
pub(super) fn ended() -> Value {
    let (started, finished) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");
    json!({"terminated": {"exitCode": 3, "reason": "Error", "startedAt": started, "finishedAt": finished}})
}

/// Applies the backend as a proxy of the newest revision does, and waits for its pod.
pub(super) async fn apply_backend(scene: &Scene, image: &str) -> Result<Pod> {
    let server = scene.operator.servers().get(NAME).await?;
    let uid = server.metadata.uid.unwrap();
    let revision = Birth::of(&scene.deployment().await?).revision;
    let mut body = stateful_set(NAME, image);
    body["metadata"] = json!({
        "name": NAME,
        "labels": {"toolhive": "true"},
        "annotations": {annotations::APPLIED_REVISION: format!("{uid}/{revision}/digest")},
        "ownerReferences": [{
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "name": NAME, "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
    });
    body["spec"]["template"]["metadata"]["labels"] =
        json!({"app": NAME, "toolhive": "true", "toolhive-name": NAME});
    let set = apply(&scene.space.api::<StatefulSet>(), NAME, "toolhive-proxyrunner", &body).await?;
    let name = format!("{}-0", set.name_any());
    wait::until(&scene.space.api::<Pod>(), &name, "it is of this image", |pod| {
        let image_of = |pod: &Pod| pod.spec.as_ref()?.containers.first()?.image.clone();
        image_of(pod).as_deref() == Some(image) && pod.metadata.deletion_timestamp.is_none()
    })
    .await
}
