//! A server that is scaled to zero, and its backend, which the proxy makes.

use anyhow::Result;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_api::names::annotations;
use thv_api::names::field_managers::HANDOFF;
use thv_testbed::{Pattern, in_namespace, wait};

use super::difference::{changes, places};
use super::pods;
use super::scene::{NAME, Scene, assert_says, sent};
use crate::fixture::{apply, managers, stateful_set};

#[tokio::test]
async fn s2_11_zero_replicas_stop_server_and_backend_and_the_former_count_comes_back() {
    in_namespace(async |space| {
        let mut scene = Scene::with(&space, json!({"replicas": 1})).await?;
        let (before, backend) = (scene.children().await?, make_backend(&scene).await?);
        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"replicas": 0})).await?;
        assert_eq!(server.status.as_ref().unwrap().phase, Some(MCPServerPhase::Stopped));
        assert_says(&server, Ready::NotReady);
        scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await?;
        assert_eq!(scene.sent(mark), [Some(0)]);

        let stopped = until_backend(&scene, 0).await?;
        let note = format!("metadata.annotations[{}]", annotations::REPLICAS_BEFORE_STOP);
        assert_eq!(changes(&backend, &stopped), places(["spec.replicas", &note]));
        assert_eq!(stopped.annotations()[annotations::REPLICAS_BEFORE_STOP], "3");
        scene.calm().await?;
        let stops = scene.done(mark, &backend_write());
        assert_eq!((stops.len(), stops[0].field_manager(), sent(&stops[0])), (1, Some(HANDOFF), Some(0)));
        // A proxy that still runs would bring its backend back, so it goes first.
        assert!(scene.applies(mark)[0].number < stops[0].number);
        let metadata = &stops[0].body.as_ref().unwrap()["metadata"];
        assert_eq!(metadata["uid"].as_str(), backend.metadata.uid.as_deref());
        assert!(metadata["resourceVersion"].is_string(), "{metadata}");

        // It stays so, and remembers, also for another operator.
        scene.operator.subject.restart().await?;
        scene.look_again().await?;
        assert_eq!(scene.done(mark, &backend_write()).len(), 1);
        assert_eq!(changes(&stopped, &space.api::<StatefulSet>().get(NAME).await?), places([]));

        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"replicas": 1})).await?;
        assert_eq!(server.status.unwrap().phase, Some(MCPServerPhase::Pending));
        scene.assert_changed(&before, []).await?;
        let started = until_backend(&scene, 3).await?;
        assert_eq!(changes(&backend, &started), places([]));
        scene.calm().await?;
        let starts = scene.done(mark, &backend_write());
        assert_eq!((starts.len(), starts[0].field_manager(), sent(&starts[0])), (1, Some(HANDOFF), Some(3)));

        // The count is parked: whoever scales next takes it over.
        assert!(managers(&started).contains(&HANDOFF.to_owned()), "{:?}", managers(&started));
        scale_backend(&scene, 4).await?;
        scene.look_again().await?;
        let scaled = until_backend(&scene, 4).await?;
        assert!(!managers(&scaled).contains(&HANDOFF.to_owned()), "{:?}", managers(&scaled));
        assert_eq!(scene.done(mark, &backend_write()).len(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_11_a_stopped_server_that_is_handed_over_starts_when_somebody_scales_it() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 0})).await?;
        make_backend(&scene).await?;
        until_backend(&scene, 0).await?;
        let before = scene.children().await?;
        let server = scene.edit(json!({"replicas": null})).await?;
        assert_eq!(server.status.unwrap().phase, Some(MCPServerPhase::Stopped));
        scene.look_again().await?;
        scene.assert_changed(&before, []).await?;
        until_backend(&scene, 0).await?;

        scene.scale(2).await?;
        let started = until_backend(&scene, 3).await?;
        assert!(!started.annotations().contains_key(annotations::REPLICAS_BEFORE_STOP));
        scene.look_again().await?;
        scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await?;
        assert_eq!(scene.live().await?, 2);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_11_zero_replicas_stop_the_backend_although_an_evicted_pod_of_the_proxy_is_left() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 1})).await?;
        make_backend(&scene).await?;
        let evicted = pods::count_of_proxies(&space, 1).await?[0].name_any();
        pods::report(&space, &evicted, json!({"phase": "Failed", "reason": "Evicted"})).await?;
        pods::count_of_proxies(&space, 2).await?;
        let mark = scene.operator.recorder.mark();
        scene.edit(json!({"replicas": 0})).await?;
        until_backend(&scene, 0).await?;
        assert_eq!(scene.done(mark, &backend_write()).len(), 1);
        let left = space.api::<Pod>().get(&evicted).await?;
        assert_eq!(left.status.unwrap().phase.as_deref(), Some("Failed"), "it is still there");
        Ok(())
    })
    .await;
}

fn backend_write() -> Pattern {
    Pattern::write().of("statefulsets").named(NAME)
}

/// The backend as a proxy makes it, scaled to three by somebody.
async fn make_backend(scene: &Scene) -> Result<StatefulSet> {
    let server = scene.operator.servers().get(NAME).await?;
    let uid = server.metadata.uid.unwrap();
    let mut body = stateful_set(NAME, "localhost/server:1");
    body["metadata"] = json!({
        "name": NAME,
        "labels": {"toolhive": "true"},
        "annotations": {annotations::APPLIED_REVISION: format!("{uid}/1")},
        "ownerReferences": [{
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "name": NAME, "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
    });
    apply(&scene.space.api::<StatefulSet>(), NAME, "toolhive-proxyrunner", &body).await?;
    scale_backend(scene, 3).await?;
    Ok(scene.space.api::<StatefulSet>().get(NAME).await?)
}

async fn scale_backend(scene: &Scene, count: i32) -> Result<()> {
    let scale = Patch::Merge(json!({"spec": {"replicas": count}}));
    scene.space.api::<StatefulSet>().patch_scale(NAME, &PatchParams::default(), &scale).await?;
    Ok(())
}

async fn until_backend(scene: &Scene, count: i32) -> Result<StatefulSet> {
    let what = format!("the backend has {count} replicas");
    wait::until(&scene.space.api::<StatefulSet>(), NAME, &what, |set| {
        set.spec.as_ref().and_then(|spec| spec.replicas) == Some(count)
    })
    .await
}
