//! Errors that pass, and errors that stay.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use serde_json::{Value, json};
use thv_api::conditions::Reason;
use thv_api::conditions::mcp_server::Ready;
use thv_testbed::{Exchange, Fault, Mark, Pattern, RequestLog, Verb, in_namespace, wait};

use super::rollout::patch;
use super::scene::{NAME, Scene, condition, deployment_apply, pass, status_apply};

/// What the statuses that were sent since `mark` say of being ready.
fn said(scene: &Scene, mark: Mark) -> Vec<Value> {
    let log = scene.operator.recorder.since(mark).only(&status_apply());
    let ready = |write: &Exchange| {
        let conditions = write.body.as_ref()?.pointer("/status/conditions")?.as_array()?.clone();
        conditions.into_iter().find(|condition| condition["type"] == Ready::TYPE)
    };
    log.iter().filter_map(ready).map(|condition| condition["status"].clone()).collect()
}

#[tokio::test]
async fn an_error_that_passes_changes_no_condition() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let recorder = &scene.operator.recorder;
        let dry_run = || Pattern::verb(Verb::DryRun).of("deployments").named(NAME);
        let faults = [
            (deployment_apply(), Fault::Answer(500)),
            (deployment_apply(), Fault::Cut),
            (deployment_apply(), Fault::CommitThenCut),
            (dry_run(), Fault::Answer(500)),
            (pass(), Fault::Answer(500)),
        ];
        for (number, (pattern, fault)) in faults.into_iter().enumerate() {
            let before = scene.operator.servers().get(NAME).await?;
            let mark = recorder.mark();
            recorder.fail(pattern.clone(), 1, fault);
            scene.edit(json!({"image": format!("localhost/server:{}", number + 2)})).await?;
            let log = recorder.since(mark).only(&pattern);
            let first = log.iter().next().unwrap();
            assert_ne!(first.told, Some(200), "{log}");
            assert!(log.len() > 1, "it was tried again: {log}");
            let said = said(&scene, mark);
            assert!(!said.is_empty() && said.iter().all(|status| status == "False"), "{fault:?}: {said:?}");
            let after = scene.operator.servers().get(NAME).await?;
            assert_eq!(
                condition::<Ready>(&before).last_transition_time,
                condition::<Ready>(&after).last_transition_time
            );
        }
        Ok(())
    })
    .await;
}

/// A child that nobody but the operator writes.
const SERVICE: &str = "mcp-s-proxy";

/// So many attempts are looked at. The waits between them double from 200 ms on.
const ATTEMPTS: usize = 6;

#[tokio::test]
async fn an_error_in_words_that_vary_is_told_once_and_tried_less_and_less_often() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        scene.operator.at_rest().await?;
        scene.calm().await?;
        let recorder = &scene.operator.recorder;
        let mark = recorder.mark();
        recorder.fail(service_apply(), usize::MAX, Fault::Answer(500));
        // The first attempt to tell of it fails as well, which is no reason to be silent for ever.
        recorder.fail(status_apply(), 1, Fault::Answer(500));
        // Nobody else writes a Service, so that nothing but the backoff decides when it is tried again.
        let drift = json!({"metadata": {"labels": {"toolhive-name": "edited"}}});
        patch(&space.api::<Service>(), SERVICE, drift).await?;
        let last = attempts(&scene, mark, ATTEMPTS).await?;
        let waits: Vec<Duration> =
            last.windows(2).map(|pair| pair[1].at.duration_since(pair[0].at)).collect();
        for (number, wait) in waits.iter().enumerate() {
            let backoff = Duration::from_millis(200) * 2_u32.pow(number.try_into()?);
            assert!(*wait >= backoff, "attempt {number} came after {wait:?}: {waits:?}");
        }
        let told = |status: &thv_api::kinds::MCPServer| condition::<Ready>(status).status == "Unknown";
        let server = wait::until(&scene.operator.servers(), NAME, "it is told", told).await?;
        let message = condition::<Ready>(&server).message;
        assert!(message.contains("was refused by a test"), "{message}");
        let statuses = recorder.since(mark).only(&status_apply());
        let answers: Vec<_> = statuses.iter().map(|write| write.told).collect();
        assert_eq!(answers, [Some(500), Some(200)], "{statuses}");
        assert_eq!(server.status.as_ref().unwrap().observed_generation, server.metadata.generation);

        recorder.heal();
        let is_mended = |server: &thv_api::kinds::MCPServer| condition::<Ready>(server).status == "False";
        wait::until(&scene.operator.servers(), NAME, "it is mended", is_mended).await?;
        assert_eq!(space.api::<Service>().get(SERVICE).await?.labels()["toolhive-name"], NAME);
        Ok(())
    })
    .await;
}

fn service_apply() -> Pattern {
    Pattern::verb(Verb::Apply).of("services").named(SERVICE)
}

/// Waits until the Service was to be applied this often.
async fn attempts(scene: &Scene, mark: Mark, count: usize) -> Result<Vec<Exchange>> {
    let attempts = |log: &RequestLog| (log.len() >= count).then(|| log.iter().cloned().collect());
    scene.operator.recorder.until(mark, &service_apply(), attempts).await
}
