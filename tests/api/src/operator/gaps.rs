//! Changes that no watch tells: they are found when everything is listed anew, or at the next resync.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::DeleteParams;
use kube::core::NamespaceResourceScope;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::MCPServerPhase;
use thv_testbed::{Exchange, Mark, Pattern, Verb, WatchGate, in_namespace, wait};

use super::rollout::patch;
use super::scene::{NAME, PULSE, Scene, assert_says, pass, pulse};

/// Deletes an object in a gap of the watch of its kind, which ends with the watch having to start anew. Returns when in
/// the log that was.
async fn delete_in_a_gap<K>(scene: &Scene, gate: &WatchGate, name: &str) -> Result<Mark>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned
        + Send
        + 'static,
{
    gate.hold();
    let mark = scene.operator.recorder.mark();
    let objects = scene.space.api::<K>();
    objects.delete(name, &DeleteParams::default()).await?;
    wait::gone(&objects, name).await?;
    gate.holds_one().await?;
    assert!(objects.get_opt(name).await?.is_none(), "the operator has heard of it");
    gate.expire();
    let list = Pattern::verb(Verb::List).of(&K::plural(&()));
    scene.operator.recorder.seen(mark, &list).await?;
    gate.release();
    Ok(mark)
}

/// Deletes a child in a gap, waits until it is there again, and shows that nothing else was written.
async fn comes_back<K>(scene: &Scene, gate: &WatchGate, name: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned
        + Send
        + 'static,
{
    let before = scene.children().await?;
    let mark = delete_in_a_gap::<K>(scene, gate, name).await?;
    wait::until(&scene.space.api::<K>(), name, "it is there again", |_| true).await?;
    scene.calm().await?;
    let child = format!("{}/{name}", K::kind(&()));
    let changed = before.changes(&scene.children().await?);
    assert!(changed.contains(&format!("{child} metadata.uid")), "{changed:?}");
    assert!(changed.iter().all(|place| place.starts_with(&child)), "{changed:?}");
    let made = Pattern::verb(Verb::Apply).of(&K::plural(&())).named(name).whole();
    let answers: Vec<_> = scene.done(mark, &made).iter().map(|write| write.answered).collect();
    assert_eq!(answers, [Some(201)], "it was made once");
    Ok(())
}

/// A server at rest, and gates that hold the watches of these kinds.
async fn with_gates<const N: usize>(
    space: &thv_testbed::Space,
    kinds: [&str; N],
) -> Result<(Scene, [WatchGate; N])> {
    let mut scene = Scene::empty(space, &BTreeMap::new()).await?;
    let gates = kinds.map(|kind| scene.operator.recorder.gate(Pattern::verb(Verb::Watch).of(kind)));
    // A gate holds the watches that begin after it is there.
    scene.operator.subject.restart().await?;
    scene.make(json!({})).await?;
    scene.operator.at_rest().await?;
    scene.calm().await?;
    Ok((scene, gates))
}

#[tokio::test]
async fn a_child_that_is_deleted_while_its_watch_is_broken_comes_back() {
    in_namespace(async |space| {
        let (scene, [deployments, services, config_maps, pods]) =
            with_gates(&space, ["deployments", "services", "configmaps", "pods"]).await?;
        // Pods come and go with a Deployment, which is not to give it away.
        pods.hold();
        comes_back::<Service>(&scene, &services, "mcp-s-proxy").await?;
        comes_back::<ConfigMap>(&scene, &config_maps, "s-runconfig").await?;
        comes_back::<Deployment>(&scene, &deployments, NAME).await
    })
    .await;
}

#[tokio::test]
async fn a_referenced_secret_that_is_deleted_while_its_watch_is_broken_is_missed() {
    in_namespace(async |space| {
        let (scene, [secrets]) = with_gates(&space, ["secrets"]).await?;
        let before = scene.children().await?;
        let mark = delete_in_a_gap::<Secret>(&scene, &secrets, PULSE).await?;
        let servers = scene.operator.servers();
        let server = wait::until(&servers, NAME, "the Secret is missed", |server| {
            let status = server.status.as_ref();
            status.is_some_and(|status| status.phase == Some(MCPServerPhase::Failed))
        })
        .await?;
        assert_says(&server, Ready::NotReady);
        let message = server.status.unwrap().message.unwrap();
        assert!(message.contains(PULSE), "{message}");
        scene.assert_changed(&before, []).await?;
        let writes = scene.writes(mark);
        assert!(writes.len() == 1 && writes[0].subresource.as_deref() == Some("status"), "{writes:?}");

        pulse(&space, PULSE).await?;
        scene.make(json!({})).await?;
        scene.assert_changed(&before, []).await
    })
    .await;
}

#[tokio::test]
async fn owner_references_that_are_stripped_from_a_child_are_restored_by_one_apply() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        scene.operator.at_rest().await?;
        scene.calm().await?;
        let before = scene.children().await?;
        let (none, mark) = (json!({"metadata": {"ownerReferences": null}}), scene.operator.recorder.mark());
        patch(&space.api::<Deployment>(), NAME, none.clone()).await?;
        patch(&space.api::<Service>(), "mcp-s-proxy", none.clone()).await?;
        patch(&space.api::<ConfigMap>(), "s-runconfig", none).await?;
        wait::until(&space.api::<Deployment>(), NAME, "it has its owner", has_owner).await?;
        wait::until(&space.api::<Service>(), "mcp-s-proxy", "it has its owner", has_owner).await?;
        wait::until(&space.api::<ConfigMap>(), "s-runconfig", "it has its owner", has_owner).await?;
        scene.look_again().await?;
        scene.assert_changed(&before, []).await?;
        let mut written: Vec<_> = scene
            .done(mark, &Pattern::write())
            .into_iter()
            .filter(|write| !write.path.contains("probe-") && write.resource != "events")
            .map(|write| (write.verb, write.resource, write.subresource))
            .collect();
        written.sort();
        let apply = |resource: &str| (Verb::Apply, resource.to_owned(), None);
        assert_eq!(written, ["configmaps", "deployments", "services"].map(apply));
        Ok(())
    })
    .await;
}

fn has_owner<K: Resource>(object: &K) -> bool {
    object.owner_references().iter().any(|owner| owner.controller == Some(true))
}

#[tokio::test]
async fn a_resync_looks_at_a_server_again_and_writes_nothing() {
    in_namespace(async |space| {
        let scene = Scene::start(&space, &BTreeMap::new(), &["--resync-period", "1s"]).await?;
        scene.make(json!({})).await?;
        scene.operator.at_rest().await?;
        scene.calm().await?;
        let start = scene.operator.recorder.mark();
        // Nothing happens but time.
        for _ in 0..3 {
            let mark = scene.operator.recorder.mark();
            scene.operator.recorder.seen(mark, &pass()).await?;
        }
        scene.operator.recorder.since(start).writes().assert_empty("write");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn of_secrets_config_maps_and_rights_only_the_metadata_is_watched() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let log = scene.operator.recorder.log();
        for resource in ["secrets", "configmaps", "serviceaccounts", "roles", "rolebindings"] {
            for verb in [Verb::List, Verb::Watch] {
                let asked = log.only(&Pattern::verb(verb).of(resource));
                let is_metadata = |request: &Exchange| request.accept.contains("as=PartialObjectMetadata");
                assert!(!asked.is_empty() && asked.iter().all(is_metadata), "{resource}: {asked}");
            }
        }
        // The content of the one Secret that the server uses is read by its name.
        let read = log.only(&Pattern::verb(Verb::Get).of("secrets"));
        assert!(
            !read.is_empty() && read.iter().all(|request| request.name.as_deref() == Some(PULSE)),
            "{read}"
        );
        Ok(())
    })
    .await;
}
