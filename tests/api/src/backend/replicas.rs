//! How many instances there are, and who says so.

use anyhow::Result;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::annotations::REPLICAS_BEFORE_STOP;
use thv_api::names::field_managers::HANDOFF;
use thv_testbed::{in_namespace, wait};

use super::proxy::revision;
use super::stage::{NAME, Stage, image, image_of};
use crate::fixture::{apply, json_of};

async fn replicas(stage: &Stage) -> Result<Option<i32>> {
    Ok(stage.backend().await?.spec.and_then(|spec| spec.replicas))
}

/// What an autoscaler does.
async fn scale(stage: &Stage, count: i32) -> Result<()> {
    let scale = Patch::Merge(json!({"spec": {"replicas": count}}));
    stage.sets().patch_scale(NAME, &PatchParams::default(), &scale).await?;
    Ok(())
}

/// Has the proxy put something right, and with it whatever else it would put right.
async fn provoke(stage: &Stage) -> Result<()> {
    let container = json!({"name": "mcp", "image": "evil"});
    let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
    stage.sets().patch(NAME, &PatchParams::default(), &Patch::Strategic(&patch)).await?;
    wait::until(&stage.sets(), NAME, "it is right again", |set| image(set) != "evil").await?;
    Ok(())
}

fn owns_replicas(set: &Value) -> bool {
    let entries = set["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut ours = entries.filter(|entry| entry["manager"] == "toolhive-proxyrunner");
    ours.any(|entry| entry["fieldsV1"].pointer("/f:spec/f:replicas").is_some())
}

#[tokio::test]
async fn s2_08_a_number_that_nobody_asked_for_is_left_to_autoscalers() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let proxy = stage.bound(&revision(1)).await?;
        assert_eq!(replicas(&stage).await?, Some(1));
        scale(&stage, 4).await?;
        provoke(&stage).await?;
        assert_eq!(replicas(&stage).await?, Some(4));
        proxy.backend.stop().await;
        stage.bound(&revision(1)).await?.backend.stop().await;
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        assert_eq!((replicas(&stage).await?, stage.image().await?), (Some(4), image_of(2)));
        assert!(!owns_replicas(&json_of(&stage.backend().await?)));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_09_a_number_that_is_given_up_stays_as_it_is() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1).replicas(3)).await?.backend.stop().await;
        assert_eq!(replicas(&stage).await?, Some(3));
        assert!(owns_replicas(&json_of(&stage.backend().await?)));
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        assert_eq!(replicas(&stage).await?, Some(3), "and does not fall to one");
        assert!(!owns_replicas(&json_of(&stage.backend().await?)));
        scale(&stage, 5).await?;
        provoke(&stage).await?;
        assert_eq!(replicas(&stage).await?, Some(5));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_number_that_was_asked_for_is_kept() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let _proxy = stage.bound(&revision(1).replicas(2)).await?;
        scale(&stage, 7).await?;
        let is_back = |set: &k8s_openapi::api::apps::v1::StatefulSet| {
            set.spec.as_ref().and_then(|spec| spec.replicas) == Some(2)
        };
        wait::until(&stage.sets(), NAME, "it has two replicas", is_back).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_11_a_backend_that_the_operator_has_stopped_stays_stopped() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let proxy = stage.bound(&revision(1).replicas(2)).await?;
        let stop = json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": NAME, "annotations": {REPLICAS_BEFORE_STOP: "2"}}, "spec": {"replicas": 0},
        });
        apply(&stage.sets(), NAME, HANDOFF, &stop).await?;
        provoke(&stage).await?;
        assert_eq!(replicas(&stage).await?, Some(0), "its proxies are about to go as well");
        proxy.backend.stop().await;

        // When it is started again, the number is ours again.
        let mut start = stop.clone();
        start["metadata"] = json!({"name": NAME});
        start["spec"]["replicas"] = json!(1);
        apply(&stage.sets(), NAME, HANDOFF, &start).await?;
        let _again = stage.bound(&revision(1).replicas(2)).await?;
        assert_eq!(replicas(&stage).await?, Some(2));
        Ok(())
    })
    .await;
}
