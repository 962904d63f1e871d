//! Revisions and stamps: what binds a pod to what it was rendered from.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;
use thv_api::kinds::MCPToolConfigSpec;
use thv_testbed::{Pattern, Verb, in_namespace};

use super::difference::{changes, places};
use super::rollout::{Birth, REVISION, STAMP, config, edited, minted, patch, reconfigured};
use super::{Operator, minimal, pod_annotations};

/// A server with a choice of tools that stands elsewhere.
fn with_tools() -> serde_json::Value {
    json!({"image": "localhost/server:1", "transport": "streamable-http", "toolConfigRef": {"name": "tools"}})
}

#[tokio::test]
async fn s0_02_a_new_image_moves_the_stamp_with_the_generation() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let old = operator.server("s", minimal()).await?;
        let before = operator.children().await?;
        let old_pods = pod_annotations(&operator.deployment("s").await?)[STAMP].parse::<i64>()?;
        let mark = operator.recorder.mark();
        let new = operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;

        assert_eq!(new.metadata.generation.unwrap(), old.metadata.generation.unwrap() + 1);
        let deployment = operator.deployment("s").await?;
        // This also says that the variables are still wired to the annotations.
        assert_eq!(Birth::of(&deployment).stamp, new.metadata.generation.unwrap());
        assert!(Birth::of(&deployment).stamp > old_pods);
        let expected = edited([
            "Deployment/s spec.template.spec.containers[toolhive].args[2]",
            "ConfigMap/s-runconfig data[runconfig.json].image",
        ]);
        assert_eq!(before.changes(&operator.children().await?), expected);
        operator.assert_applies(mark, 1);

        let sets = operator.replica_sets("s").await?;
        let stamps: Vec<i64> = sets
            .iter()
            .map(|set| set.spec.as_ref().unwrap().template.as_ref().unwrap())
            .map(|pods| pods.metadata.as_ref().unwrap().annotations.as_ref().unwrap()[STAMP].parse().unwrap())
            .collect();
        assert_eq!(stamps, [old.metadata.generation.unwrap(), new.metadata.generation.unwrap()]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_06_a_config_that_changes_elsewhere_mints_a_revision() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["echo"]})).await?;
        let server = operator.server("s", with_tools()).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);
        let mark = operator.recorder.mark();
        config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["add"]})).await?;

        let new = operator.rolled(&old).await?;
        let (old, new) = (Birth::of(&old), Birth::of(&new));
        assert!(new.revision > old.revision);
        assert_ne!((&new.content, &new.checksum), (&old.content, &old.checksum));
        assert_eq!((new.stamp, Some(new.stamp)), (old.stamp, server.metadata.generation));
        let swap = operator.recorder.seen(mark, &Pattern::verb(Verb::MergePatch).of("mcpservers")).await?;
        let body = swap.body.clone().unwrap();
        assert_eq!(body["metadata"]["annotations"][REVISION], format!("{}/{}", new.revision, new.content));
        assert!(body["metadata"]["resourceVersion"].is_string());
        let expected = reconfigured([
            "ConfigMap/s-runconfig data[runconfig.json].tools_filter[0]",
            "ConfigMap/s-runconfig data[runconfig.json].middleware_configs[tool-filter].parameters.filter_tools[0]",
            "ConfigMap/s-runconfig data[runconfig.json].middleware_configs[tool-call-filter].parameters.filter_tools[0]",
        ]);
        let changed = before.changes(&operator.children().await?);
        assert_eq!(changed, expected);
        assert_eq!(operator.rollouts("s").await?, 2);

        // Content that returns gets a number of its own.
        let again = operator.deployment("s").await?;
        config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["echo"]})).await?;
        let third = Birth::of(&operator.rolled(&again).await?);
        assert_eq!(third.content, old.content);
        assert!(third.revision > new.revision);
        Ok(())
    })
    .await;
}

/// The environment of an operator with this image for its proxies.
fn runner(image: &str) -> BTreeMap<&str, &str> {
    BTreeMap::from([("TOOLHIVE_RUNNER_IMAGE", image)])
}

#[tokio::test]
async fn s0_06_an_upgrade_of_the_operator_mints_a_revision() {
    in_namespace(async |space| {
        let mut operator = Operator::start_with(&space, &runner("localhost/runner:1")).await?;
        let server = operator.server("s", minimal()).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);
        let mark = operator.recorder.mark();
        operator.restart_with(&runner("localhost/runner:2")).await?;

        let new = operator.rolled(&old).await?;
        assert!(Birth::of(&new).revision > Birth::of(&old).revision);
        assert_eq!(Some(Birth::of(&new).stamp), server.metadata.generation);
        let mut expected = minted();
        expected.insert("Deployment/s spec.template.spec.containers[toolhive].image".to_owned());
        let changed = before.changes(&operator.children().await?);
        assert_eq!(changed, expected);
        operator.assert_applies(mark, 1);
        assert_eq!(operator.rollouts("s").await?, 2);
        Ok(())
    })
    .await;
}

/// What a default of the API server was made from can change, and then the default has to change with it.
#[tokio::test]
async fn g2_after_an_upgrade_the_pods_are_those_that_a_new_server_would_get() {
    in_namespace(async |space| {
        let mut operator = Operator::start_with(&space, &runner("localhost/runner:1")).await?;
        operator.server("s", minimal()).await?;
        let old = operator.deployment("s").await?;
        operator.restart_with(&runner("localhost/runner:latest")).await?;
        let upgraded = operator.rolled(&old).await?;
        operator.server("new", minimal()).await?;
        let policy = |deployment: &Deployment| {
            let container =
                deployment.spec.as_ref().unwrap().template.spec.as_ref().unwrap().containers[0].clone();
            (container.image, container.image_pull_policy)
        };
        assert_eq!(policy(&upgraded), policy(&operator.deployment("new").await?));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_06_an_edit_that_changes_no_pod_moves_neither_stamp_nor_revision() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["echo"]})).await?;
        let mut spec = with_tools();
        spec["replicas"] = json!(2);
        operator.server("s", spec).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);
        let mark = operator.recorder.mark();
        let server = operator.edit("s", json!({"spec": {"replicas": 3}})).await?;

        assert_eq!(server.metadata.generation, Some(2));
        assert_eq!(before.changes(&operator.children().await?), places(["Deployment/s spec.replicas"]));
        operator.assert_applies(mark, 1);
        let scaled = operator.deployment("s").await?;
        assert_eq!((Birth::of(&scaled), Birth::of(&scaled).stamp), (Birth::of(&old), 1));
        assert_eq!(operator.rollouts("s").await?, 1);

        // The next change of content, wherever it comes from, brings the stamp up to the generation.
        config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["add"]})).await?;
        let new = Birth::of(&operator.rolled(&scaled).await?);
        assert_eq!(new.stamp, 2);
        assert!(new.revision > Birth::of(&old).revision);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_06_a_lost_annotation_rolls_nothing_and_an_old_one_is_overruled() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);
        patch(&operator.servers(), "s", json!({"metadata": {"annotations": {REVISION: null}}})).await?;
        operator.outlast("lost").await?;
        assert_eq!(before.versions(), operator.children().await?.versions());

        patch(&operator.servers(), "s", json!({"metadata": {"annotations": {REVISION: "1/old"}}})).await?;
        operator.outlast("old").await?;
        assert_eq!(before.versions(), operator.children().await?.versions());

        let mark = operator.recorder.mark();
        operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        assert!(Birth::of(&operator.deployment("s").await?).revision > Birth::of(&old).revision);
        operator.assert_applies(mark, 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_15_generations_are_those_that_the_api_server_counts() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let server = operator.server("s", minimal()).await?;
        // The operator has written finalizer, annotation and status, none of which counts.
        let log = operator.recorder.log();
        for pattern in [
            Pattern::verb(Verb::JsonPatch).of("mcpservers"),
            Pattern::verb(Verb::MergePatch).of("mcpservers"),
            Pattern::verb(Verb::Apply).of("mcpservers").subresource("status"),
        ] {
            assert!(!log.only(&pattern).is_empty(), "{pattern:?}");
        }
        assert_eq!(server.metadata.generation, Some(1));
        assert_eq!(server.status.as_ref().unwrap().observed_generation, Some(1));

        let labelled = operator.edit("s", json!({"metadata": {"labels": {"a": "b"}}})).await?;
        assert_eq!(labelled.metadata.generation, Some(1));
        let same = operator.edit("s", json!({"spec": {"image": "localhost/server:1"}})).await?;
        assert_eq!(same.metadata.generation, Some(1));
        for (generation, image) in [(2, "localhost/server:2"), (3, "localhost/server:3")] {
            let edited = operator.edit("s", json!({"spec": {"image": image}})).await?;
            assert_eq!(edited.metadata.generation, Some(generation));
            assert_eq!(Birth::of(&operator.deployment("s").await?).stamp, generation);
        }

        // A Deployment counts changes of its spec and of its annotations, but not those of its labels and status.
        let deployments = space.api::<Deployment>();
        let deployment = operator.deployment("s").await?;
        let generation = deployment.metadata.generation.unwrap();
        let labelled =
            patch(&deployments, "s", json!({"metadata": {"labels": {"somebody": "else"}}})).await?;
        assert_eq!(labelled.metadata.generation, Some(generation));
        assert_eq!(changes(&deployment, &labelled), places(["metadata.labels.somebody"]));
        let noted =
            patch(&deployments, "s", json!({"metadata": {"annotations": {"somebody": "else"}}})).await?;
        assert_eq!(noted.metadata.generation, Some(generation + 1));
        operator.edit("s", json!({"spec": {"replicas": 2}})).await?;
        let scaled = operator.deployment("s").await?;
        assert_eq!(scaled.metadata.generation, Some(generation + 2));
        assert_eq!(
            changes(&deployment, &scaled),
            places(["metadata.annotations.somebody", "metadata.labels.somebody", "spec.replicas"])
        );
        Ok(())
    })
    .await;
}
