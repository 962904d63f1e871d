//! The end of a server, when something goes wrong at it.

use anyhow::Result;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use thv_api::names::finalizers;
use thv_testbed::{Exchange, Fault, Moment, Pattern, Verb, in_namespace, wait};

use super::rollout::patch;
use super::scene::{NAME, Scene, status_apply};

/// What removes the finalizer.
fn removal() -> Pattern {
    Pattern::verb(Verb::JsonPatch).of("mcpservers").named(NAME)
}

#[tokio::test]
async fn a_server_goes_although_its_status_is_refused() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        for code in [403, 500] {
            scene.make(json!({})).await?;
            let mark = scene.operator.recorder.mark();
            scene.operator.recorder.fail(status_apply(), usize::MAX, Fault::Answer(code));
            scene.operator.servers().delete(NAME, &DeleteParams::default()).await?;
            wait::gone(&scene.operator.servers(), NAME).await?;
            scene.operator.recorder.seen(mark, &removal()).await?;
            let log = scene.operator.recorder.since(mark);
            let statuses = log.only(&status_apply());
            let is_refused = |write: &Exchange| write.told == Some(code);
            assert!(!statuses.is_empty() && statuses.iter().all(is_refused), "{log}");
            let removals: Vec<_> = log.only(&removal()).iter().map(|write| write.answered).collect();
            assert_eq!(removals.first(), Some(&Some(200)), "{log}");
            scene.operator.recorder.heal();
        }
        Ok(())
    })
    .await;
}

/// Deletes the server, and has somebody else write its finalizers when the operator is about to.
async fn overtaken(scene: &Scene, finalizers: Value) -> Result<()> {
    let mut removing = scene.operator.recorder.breakpoint(removal(), 0, Moment::Before);
    scene.operator.servers().delete(NAME, &DeleteParams::default()).await?;
    removing.hit().await?;
    patch(&scene.operator.servers(), NAME, json!({"metadata": {"finalizers": finalizers}})).await?;
    removing.release();
    scene.calm().await
}

#[tokio::test]
async fn a_finalizer_that_is_gone_already_is_no_failure() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let mark = scene.operator.recorder.mark();
        overtaken(&scene, Value::Null).await?;
        wait::gone(&scene.operator.servers(), NAME).await?;
        let answers: Vec<_> =
            scene.operator.recorder.since(mark).only(&removal()).iter().map(|write| write.answered).collect();
        assert_eq!(answers, [Some(404)]);

        // Only ours is gone, and somebody else's keeps the server.
        scene.make(json!({})).await?;
        let other = "example.com/other";
        let both = json!({"metadata": {"finalizers": [other, finalizers::MCP_SERVER]}});
        patch(&scene.operator.servers(), NAME, both).await?;
        scene.calm().await?;
        let mark = scene.operator.recorder.mark();
        overtaken(&scene, json!([other])).await?;
        let log = scene.operator.recorder.since(mark).only(&removal());
        assert!(log.len() == 1 && log.iter().all(|write| write.answered != Some(200)), "{log}");
        assert_eq!(scene.operator.servers().get(NAME).await?.finalizers(), [other]);
        let output = scene.operator.subject.output();
        assert!(!output.contains("WARN"), "{output}");
        Ok(())
    })
    .await;
}
