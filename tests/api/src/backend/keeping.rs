//! Staying with a backend: what others do to it, and what happens when nobody does anything.

use anyhow::Result;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::annotations::KUBECTL_RESTARTED_AT;
use thv_testbed::{Pattern, Verb, in_namespace, wait};

use super::proxy::{Proxy, revision};
use super::stage::{NAME, Stage, image, image_of};
use crate::fixture::{json_of, resource_version};

fn by(manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() }
}

async fn edit_set(stage: &Stage, patch: &Value) -> Result<StatefulSet> {
    Ok(stage.sets().patch(NAME, &by("kubectl-edit"), &Patch::Strategic(patch)).await?)
}

async fn versions(stage: &Stage) -> Result<Vec<Value>> {
    let mut all = vec![json!(stage.backend().await?.metadata.generation)];
    for name in ["mcp-web", "mcp-web-headless"] {
        all.push(resource_version(&stage.services().get(name).await?).into());
    }
    Ok(all)
}

/// Returns when the proxy has dealt with everything that has happened before: a label of ours that somebody changes now
/// is back.
async fn outlast(stage: &Stage) -> Result<()> {
    edit_set(stage, &json!({"metadata": {"labels": {"toolhive": "false"}}})).await?;
    wait::until(&stage.sets(), NAME, "the label is back", |set| set.labels()["toolhive"] == "true").await?;
    Ok(())
}

#[tokio::test]
async fn what_is_deleted_comes_back() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let _proxy = stage.bound(&revision(1)).await?;
        let first = stage.backend().await?;
        stage.sets().delete(NAME, &DeleteParams::background()).await?;
        let is_new = |set: &StatefulSet| set.uid() != first.uid();
        let second = wait::until(&stage.sets(), NAME, "it is back", is_new).await?;
        assert_eq!(second.owner_references()[0].uid, stage.uid);
        // The Services follow, whether the garbage collector was faster or we.
        for name in ["mcp-web", "mcp-web-headless"] {
            let what = "it belongs to the new one";
            let follows = |service: &k8s_openapi::api::core::v1::Service| {
                service.metadata.deletion_timestamp.is_none()
                    && service
                        .owner_references()
                        .iter()
                        .any(|owner| Some(&owner.uid) == second.metadata.uid.as_ref())
            };
            wait::until(&stage.services(), name, what, follows).await?;
        }
        let before = stage.services().get("mcp-web").await?;
        stage.services().delete("mcp-web", &DeleteParams::default()).await?;
        let is_new = |service: &k8s_openapi::api::core::v1::Service| service.uid() != before.uid();
        wait::until(&stage.services(), "mcp-web", "it is back", is_new).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_is_edited_is_put_right_and_nothing_else_is_touched() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let _proxy = stage.bound(&revision(1)).await?;
        let container = json!({"name": "mcp", "image": "evil", "workingDir": "/theirs"});
        let foreign = json!({
            "metadata": {"annotations": {"somebody": "else"}},
            "spec": {"minReadySeconds": 3, "template": {"spec": {"containers": [container]}}},
        });
        edit_set(&stage, &foreign).await?;
        let right = |set: &StatefulSet| image(set) == image_of(1);
        let set = json_of(&wait::until(&stage.sets(), NAME, "the image is right", right).await?);
        assert_eq!(set["metadata"]["annotations"]["somebody"], "else");
        assert_eq!(set["spec"]["minReadySeconds"], 3);
        assert_eq!(set["spec"]["template"]["spec"]["containers"][0]["workingDir"], "/theirs");

        let patch = json!({"spec": {"selector": {"app": "other"}}});
        stage.services().patch("mcp-web", &by("kubectl-edit"), &Patch::Merge(&patch)).await?;
        let right = |service: &k8s_openapi::api::core::v1::Service| {
            let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            selector.is_some_and(|selector| selector["app"] == NAME)
        };
        wait::until(&stage.services(), "mcp-web", "the selector is right", right).await?;

        edit_set(&stage, &json!({"metadata": {"labels": {"toolhive": null}}})).await?;
        let right = |set: &StatefulSet| set.labels().get("toolhive").is_some_and(|value| value == "true");
        wait::until(&stage.sets(), NAME, "the label is back", right).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn g1_nothing_is_written_when_nothing_changes() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let first = stage.bound(&revision(1).replicas(2)).await?;
        let before = (versions(&stage).await?, stage.everything().await?);
        assert_eq!(applies(&first), 3);

        // Another proxy of the same revision, and one that was started again, look once and change nothing.
        let second = stage.bound(&revision(1).replicas(2)).await?;
        assert_eq!(applies(&second), 3);
        first.backend.stop().await;
        let third = stage.bound(&revision(1).replicas(2)).await?;
        assert_eq!((versions(&stage).await?, stage.everything().await?), before);

        // Changes of the status are no reason to write.
        let (mark, other) = (second.recorder.mark(), third.recorder.mark());
        let status = json!({"status": {"replicas": 2, "readyReplicas": 1}});
        stage.sets().patch_status(NAME, &by("controller"), &Patch::Merge(&status)).await?;
        let annotation = json!({"metadata": {"annotations": {"somebody": "else"}}});
        edit_set(&stage, &annotation).await?;
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        second.recorder.since(mark).writes().assert_empty("write");
        third.recorder.since(other).writes().assert_empty("write");
        Ok(())
    })
    .await;
}

fn applies(proxy: &Proxy) -> usize {
    proxy.recorder.log().assert_no_put();
    proxy.recorder.log().only(&Pattern::verb(Verb::Apply)).len()
}

#[tokio::test]
async fn a_restart_by_kubectl_survives_repairs_and_new_proxies() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let proxy = stage.bound(&revision(1)).await?;
        let restart =
            json!({"spec": {"template": {"metadata": {"annotations": {KUBECTL_RESTARTED_AT: "now"}}}}});
        stage.sets().patch(NAME, &by("kubectl-rollout"), &Patch::Strategic(&restart)).await?;
        let restarted_at = async || {
            let set = json_of(&stage.backend().await?);
            let annotations = &set["spec"]["template"]["metadata"]["annotations"];
            anyhow::Ok(annotations[KUBECTL_RESTARTED_AT].as_str().map(str::to_owned))
        };
        outlast(&stage).await?;
        assert_eq!(restarted_at().await?.as_deref(), Some("now"));
        proxy.backend.stop().await;
        let again = stage.bound(&revision(1)).await?;
        assert_eq!(restarted_at().await?.as_deref(), Some("now"));
        again.backend.stop().await;
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        assert_eq!(restarted_at().await?.as_deref(), Some("now"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_03_a_proxy_writes_only_with_the_file_that_it_was_made_for() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1)).await?.backend.stop().await;
        let before = stage.everything().await?;
        stage.mint(2).await?;

        // Its file is late: it waits, and then applies what it was made for.
        let mut late = revision(2);
        late.file = Some(revision(1).bytes());
        let mut proxy = stage.start(&late).await?;
        proxy.until("unbound").await?;
        proxy.assert_wrote_nothing();
        assert_eq!(stage.everything().await?, before);
        std::fs::write(&proxy.file, late.bytes())?;
        proxy.until("bound").await?;
        assert_eq!(stage.image().await?, image_of(2));

        // Its file has moved on: it stops to write, and gives way when the next revision is there.
        std::fs::write(&proxy.file, revision(3).bytes())?;
        proxy.until("unbound").await?;
        let mark = proxy.recorder.mark();
        edit_set(&stage, &json!({"metadata": {"labels": {"toolhive": "false"}}})).await?;
        stage.mint(3).await?;
        proxy.until("superseded").await?;
        proxy.recorder.since(mark).writes().assert_empty("write");
        let _new = stage.bound(&revision(3)).await?;
        assert_eq!(stage.backend().await?.labels()["toolhive"], "true");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn somebody_who_keeps_changing_it_is_told_of_and_left_alone() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut proxy = stage.bound(&revision(1)).await?;
        for _ in 0..2 {
            outlast(&stage).await?;
        }
        edit_set(&stage, &json!({"metadata": {"labels": {"toolhive": "false"}}})).await?;
        proxy.until("waiting").await?;
        let events = space.api::<k8s_openapi::api::events::v1::Event>();
        let events = events.list(&kube::api::ListParams::default()).await?.items;
        assert!(events.iter().any(|event| event.reason.as_deref() == Some("BackendContested")));
        // A newer revision is no repair.
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        assert_eq!(stage.backend().await?.labels()["toolhive"], "true");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_api_server_that_fails_is_asked_again() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let recorder = thv_testbed::Recorder::start(space.bed()).await?;
        for (pattern, code) in [
            (Pattern::verb(Verb::Get).of("statefulsets"), 503),
            (Pattern::verb(Verb::Get).of("mcpservers"), 500),
            (Pattern::verb(Verb::Apply).of("statefulsets"), 429),
            (Pattern::verb(Verb::Apply).of("services"), 409),
        ] {
            recorder.fail(pattern, 1, thv_testbed::Fault::Answer(code));
        }
        recorder.fail(Pattern::verb(Verb::Apply), 1, thv_testbed::Fault::CommitThenCut);
        let mut proxy = stage.start_with(recorder, &revision(1)).await?;
        proxy.until("bound").await?;
        assert_eq!(stage.image().await?, image_of(1));
        Ok(())
    })
    .await;
}
