//! An autoscaler beside a number in the spec.

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use thv_api::conditions::Reason;
use thv_api::conditions::mcp_server::AutoscalerConflict;
use thv_api::kinds::MCPServer;
use thv_testbed::{Exchange, in_namespace, wait};

use super::minimal;
use super::scene::{NAME, Scene, assert_says, condition, conditions};
use crate::fixture::apply;

#[tokio::test]
async fn s2_12_an_autoscaler_beside_set_replicas_is_reported() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let autoscalers = space.api::<HorizontalPodAutoscaler>();
        let other = autoscaler("of-another", "another");
        apply(&autoscalers, "of-another", "test", &other).await?;
        scene.look_again().await?;
        let server = scene.operator.servers().get(NAME).await?;
        let (before, said) = (scene.children().await?, conditions(&server));
        assert!(!said.contains_key(AutoscalerConflict::TYPE), "{said:?}");

        let mark = scene.operator.recorder.mark();
        apply(&autoscalers, "busy", "test", &autoscaler("busy", NAME)).await?;
        let conflict = "the conflict is reported";
        let server = wait::until(&scene.operator.servers(), NAME, conflict, has_conflict).await?;
        assert_says(&server, AutoscalerConflict::ReplicasSet);
        let message = condition::<AutoscalerConflict>(&server).message;
        assert!(message.contains("busy") && !message.contains("of-another"), "{message}");
        scene.look_again().await?;
        let writes = scene.writes(mark);
        assert!(writes.len() == 1 && writes[0].subresource.as_deref() == Some("status"), "{writes:?}");
        scene.assert_changed(&before, []).await?;
        let mut others = conditions(&server);
        others.remove(AutoscalerConflict::TYPE);
        assert_eq!(others, said, "nothing else is said");

        // Either of the two can give way.
        let server = scene.edit(json!({"replicas": null})).await?;
        assert!(!has_conflict(&server), "{server:?}");
        let server = scene.edit(json!({"replicas": 2})).await?;
        assert_says(&server, AutoscalerConflict::ReplicasSet);
        autoscalers.delete("busy", &DeleteParams::default()).await?;
        let no_conflict = |server: &_| !has_conflict(server);
        wait::until(&scene.operator.servers(), NAME, "nothing is in conflict", no_conflict).await?;
        scene.assert_changed(&before, []).await
    })
    .await;
}

#[tokio::test]
async fn s2_12_an_autoscaler_of_a_stdio_server_is_reported() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
        let autoscalers = space.api::<HorizontalPodAutoscaler>();
        apply(&autoscalers, "busy", "test", &autoscaler("busy", NAME)).await?;
        let conflict = "the conflict is reported";
        let server = wait::until(&scene.operator.servers(), NAME, conflict, has_conflict).await?;
        assert_says(&server, AutoscalerConflict::StdioTransport);
        let server = scene.edit(json!({"transport": "sse"})).await?;
        assert!(!has_conflict(&server), "{server:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_autoscaler_that_is_retargeted_takes_its_conflict_from_one_server_to_the_other() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let mut spec = minimal();
        spec["replicas"] = json!(2);
        scene.operator.server("other", spec).await?;
        let (autoscalers, servers) = (space.api::<HorizontalPodAutoscaler>(), scene.operator.servers());
        for (target, rest) in [(NAME, "other"), ("other", NAME), (NAME, "other")] {
            let before = (scene.children().await?, scene.operator.recorder.mark());
            apply(&autoscalers, "busy", "test", &autoscaler("busy", target)).await?;
            let server = wait::until(&servers, target, "the conflict is reported", has_conflict).await?;
            assert_says(&server, AutoscalerConflict::ReplicasSet);
            let none = |server: &MCPServer| !has_conflict(server);
            wait::until(&servers, rest, "the conflict is over", none).await?;
            let writes = scene.writes(before.1);
            let is_status = |write: &Exchange| write.subresource.as_deref() == Some("status");
            assert!(writes.iter().all(is_status), "{writes:?}");
            scene.assert_changed(&before.0, []).await?;
        }
        Ok(())
    })
    .await;
}

fn has_conflict(server: &MCPServer) -> bool {
    conditions(server).contains_key(AutoscalerConflict::TYPE)
}

fn autoscaler(name: &str, target: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
            "minReplicas": 1, "maxReplicas": 5,
        },
    })
}
