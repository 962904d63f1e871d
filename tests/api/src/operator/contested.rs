//! Somebody who keeps changing what the operator writes.

use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_testbed::{Exchange, Mark, Pattern, Verb, in_namespace, wait};

use super::rollout::patch;
use super::scene::{NAME, Scene, condition, status_apply};

const SERVICE: &str = "mcp-s-proxy";
const LABEL: &str = "toolhive-name";

/// The Events that tell of it.
fn told(scene: &Scene, mark: Mark) -> Vec<Exchange> {
    let events = scene.operator.recorder.since(mark).only(&Pattern::verb(Verb::Create).of("events"));
    let is_told = |event: &&Exchange| event.body.as_ref().is_some_and(|body| body["reason"] == "Contested");
    events.iter().filter(is_told).cloned().collect()
}

#[tokio::test]
async fn a_child_that_somebody_keeps_changing_is_repaired_twice_and_then_left_alone_and_told() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let services = space.api::<Service>();
        let mark = scene.operator.recorder.mark();
        for round in ["one", "two", "three"] {
            patch(&services, SERVICE, json!({"metadata": {"labels": {LABEL: round}}})).await?;
            if round != "three" {
                let is_repaired = |service: &Service| service.labels()[LABEL] == NAME;
                wait::until(&services, SERVICE, "it is repaired", is_repaired).await?;
            }
        }
        let is_told = |server: &MCPServer| condition::<Ready>(server).status == "Unknown";
        let server = wait::until(&scene.operator.servers(), NAME, "the status tells", is_told).await?;
        let message = condition::<Ready>(&server).message;
        assert!(message.contains("somebody keeps changing Service mcp-s-proxy"), "{message}");

        // Passes go on, and none of them writes.
        scene.look_again().await?;
        scene.look_again().await?;
        assert_eq!(services.get(SERVICE).await?.labels()[LABEL], "three");
        let applies = scene.done(mark, &Pattern::verb(Verb::Apply).of("services").named(SERVICE));
        assert_eq!(applies.len(), 2, "{applies:?}");
        let told = told(&scene, mark);
        assert_eq!(told.len(), 1, "{told:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_status_that_somebody_keeps_changing_is_repaired_twice_and_then_left_alone_and_told() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let servers = scene.operator.servers();
        let mark = scene.operator.recorder.mark();
        for round in 1..=3 {
            let theirs =
                Patch::Merge(json!({"status": {"phase": "Failed", "message": format!("theirs {round}")}}));
            servers.patch_status(NAME, &PatchParams::default(), &theirs).await?;
            if round < 3 {
                let is_repaired = |server: &MCPServer| {
                    server.status.as_ref().and_then(|status| status.phase) == Some(MCPServerPhase::Pending)
                };
                wait::until(&servers, NAME, "it is repaired", is_repaired).await?;
            }
        }
        let events = Pattern::verb(Verb::Create).of("events");
        scene.operator.recorder.seen(mark, &events).await?;
        scene.look_again().await?;
        let statuses = scene.done(mark, &status_apply());
        assert_eq!(statuses.len(), 2, "{statuses:?}");
        let told = told(&scene, mark);
        assert_eq!(told.len(), 1, "{told:?}");
        Ok(())
    })
    .await;
}
