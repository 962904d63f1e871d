//! Standard input and output belong to one process: a `stdio` server has one proxy at most.

use std::collections::BTreeMap;

use serde_json::json;
use thv_api::conditions::mcp_server::{SessionStorageWarning, StdioReplicaCapped};
use thv_api::names::env;
use thv_api::names::field_managers::HANDOFF;
use thv_testbed::{Mark, in_namespace};

use super::scene::{NAME, Scene, assert_says, condition, sent, status_apply};

#[tokio::test]
async fn s2_04_more_replicas_of_a_stdio_server_are_capped_with_a_condition_that_clears() {
    let ways_out =
        [json!({"replicas": 1}), json!({"replicas": null}), json!({"transport": "streamable-http"})];
    for way_out in ways_out {
        in_namespace(async |space| {
            let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
            let before = scene.children().await?;
            let mark = scene.operator.recorder.mark();
            let server = scene.edit(json!({"replicas": 3})).await?;
            assert_says(&server, StdioReplicaCapped::CapAt1);
            let message = condition::<StdioReplicaCapped>(&server).message;
            assert!(message.contains('3') && message.contains("stdio"), "{message}");
            assert_eq!(scene.sent(mark), [Some(1)]);
            scene.assert_changed(&before, []).await?;

            let mark = scene.operator.recorder.mark();
            let server = scene.edit(way_out.clone()).await?;
            assert_says(&server, StdioReplicaCapped::NotActive);
            let expected = if way_out.get("transport").is_some() { 3 } else { 1 };
            assert_eq!(scene.live().await?, expected, "{way_out}");
            assert!(scene.operator.recorder.since(mark).only(&status_apply()).len() == 1);
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn s2_04_a_capped_server_is_made_and_not_refused() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio", "replicas": 3})).await?;
        let server = scene.operator.servers().get(NAME).await?;
        assert_says(&server, StdioReplicaCapped::CapAt1);
        assert_eq!(scene.sent(Mark::default()), [Some(1)]);
        assert_eq!(scene.live().await?, 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_05_a_stdio_server_that_was_scaled_from_outside_goes_back_to_one_and_is_otherwise_left_alone() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
        let before = scene.children().await?;
        let mark = scene.operator.recorder.mark();
        scene.scale(3).await?;
        scene.until_live(1).await?;
        let applies = scene.applies(mark);
        let counts: Vec<_> =
            applies.iter().map(|apply| (apply.field_manager().unwrap(), sent(apply))).collect();
        assert_eq!(counts[0], (HANDOFF, Some(1)), "{counts:?}");
        assert!(counts[1..].iter().all(|count| *count == ("toolhive-operator", None)), "{counts:?}");
        scene.assert_changed(&before, []).await?;
        // Nobody asked for more in the spec, so nothing is said to be capped.
        let server = scene.operator.servers().get(NAME).await?;
        assert_says(&server, StdioReplicaCapped::NotActive);

        assert_one_look_is_one_pass(&scene).await
    })
    .await;
}

/// Fails the test if a server at rest is written, or looked at more often than there is a reason to.
///
/// The controllers of Kubernetes may still have something to say about its Deployment, which is a reason; so there are
/// a few tries.
async fn assert_one_look_is_one_pass(scene: &Scene) -> anyhow::Result<()> {
    let mut counts = Vec::new();
    for _ in 0..4 {
        let mark = scene.operator.recorder.mark();
        scene.look_again().await?;
        let writes = scene.writes(mark);
        assert!(writes.is_empty(), "{writes:?}");
        counts.push(scene.passes(mark));
        if counts.last() == Some(&1) {
            return Ok(());
        }
    }
    panic!("one change should lead to one pass; there were {counts:?}")
}

#[tokio::test]
async fn s2_14_a_cap_converges_in_one_pass() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
        let mark = scene.operator.recorder.mark();
        scene.edit(json!({"replicas": 3})).await?;
        scene.look_again().await?;
        let mut writes = scene.writes(mark);
        // A controller of Kubernetes may have been faster; then there was another pass in its place.
        writes.retain(|write| write.answered != Some(409));
        let places: Vec<_> =
            writes.iter().map(|write| (write.resource.as_str(), write.subresource.as_deref())).collect();
        assert_eq!(places, [("deployments", None), ("mcpservers", Some("status"))], "{writes:?}");
        assert_one_look_is_one_pass(&scene).await
    })
    .await;
}

#[tokio::test]
async fn s2_19_cap_and_warning_can_be_true_at_once() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"replicas": 3})).await?;
        assert_says(&server, StdioReplicaCapped::CapAt1);
        assert_says(&server, SessionStorageWarning::Missing);
        assert_eq!(scene.operator.recorder.since(mark).only(&status_apply()).len(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_19_a_redis_of_the_whole_operator_counts_as_shared_storage() {
    in_namespace(async |space| {
        let environment = BTreeMap::from([(env::DEFAULT_REDIS_ADDR, "redis.shared:6379")]);
        let scene = Scene::empty(&space, &environment).await?;
        scene.make(json!({"transport": "stdio"})).await?;
        let server = scene.edit(json!({"replicas": 3})).await?;
        assert_says(&server, StdioReplicaCapped::CapAt1);
        assert_says(&server, SessionStorageWarning::Configured);
        // A server that wants its sessions in memory does not share them.
        let server = scene.edit(json!({"sessionStorage": {"provider": "memory"}})).await?;
        assert_says(&server, StdioReplicaCapped::CapAt1);
        assert_says(&server, SessionStorageWarning::Missing);
        Ok(())
    })
    .await;
}
