//! Labels and annotations that users give to pods, by `podTemplateSpec.metadata`.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::{Value, json};
use thv_api::kinds::MCPTelemetryConfigSpec;
use thv_testbed::in_namespace;

use super::{NAME, Stage, condition, pair, reconfigured, rolled};
use crate::operator::difference::{Places, places};
use crate::operator::pod_annotations;
use crate::operator::rollout::{CHECKSUM, REVISION, STAMP, config};

const VAULT: &str = "vault.hashicorp.com/agent-inject";

/// A pod template with this metadata.
fn on_pods(metadata: Value) -> Value {
    json!({"podTemplateSpec": {"metadata": metadata}})
}

fn on_template(place: &str) -> String {
    format!("Deployment/s spec.template.metadata.{place}")
}

fn with(mut all: Places, more: &[String]) -> Places {
    all.extend(more.iter().cloned());
    all
}

/// The keys of the Deployment's own annotations, but for what its controller writes.
fn own_annotations(deployment: &Deployment) -> Vec<String> {
    let keys = deployment.annotations().keys();
    keys.filter(|key| *key != "deployment.kubernetes.io/revision").cloned().collect()
}

#[tokio::test]
async fn s1_08_annotations_for_the_pods_of_a_virtual_server_are_theirs_alone_and_the_checksum_stays_ours() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let (before, mark) = (stage.children().await?, stage.operator.recorder.mark());
        stage.edit(on_pods(json!({"annotations": {VAULT: "true"}}))).await?;
        let deployment = stage.deployment().await?;
        let keys: Vec<String> = pod_annotations(&deployment).into_keys().collect();
        assert_eq!(keys, [STAMP, CHECKSUM, VAULT]);
        assert_eq!(own_annotations(&deployment), [REVISION]);
        let vault = on_template(&format!("annotations[{VAULT}]"));
        let expected = with(rolled([]), std::slice::from_ref(&vault));
        assert_eq!(before.changes(&stage.children().await?), expected);
        assert_eq!((stage.applies(mark).len(), stage.operator.rollouts(NAME).await?), (1, 2));

        // A checksum of the user's is none, and that is told. Nothing rolls for it.
        let (before, mark) = (stage.children().await?, stage.operator.recorder.mark());
        let server = stage.edit(on_pods(json!({"annotations": {VAULT: "true", CHECKSUM: "mine"}}))).await?;
        assert_eq!(condition(&server, "OverridesAccepted"), pair("False", "ReservedNamesIgnored"));
        assert_eq!(before.changes(&stage.children().await?), places([]));
        let map = space.api::<ConfigMap>().get("s-vmcp-config").await?;
        let written = &map.annotations()["toolhive.stacklok.dev/content-checksum"];
        assert_eq!(pod_annotations(&stage.deployment().await?)[CHECKSUM], *written);
        assert_eq!(stage.applies(mark).len(), 0);

        // Once converged, nothing is written.
        let mark = stage.operator.recorder.mark();
        stage.look_again().await?;
        assert_eq!(stage.applies(mark).len(), 0);

        // What is taken back leaves nothing, with one rollout.
        let before = stage.children().await?;
        let server = stage.edit(json!({"podTemplateSpec": null})).await?;
        let expected = with(rolled([]), &[vault]);
        assert_eq!(before.changes(&stage.children().await?), expected);
        assert_eq!(condition(&server, "OverridesAccepted"), None);
        assert_eq!(stage.operator.rollouts(NAME).await?, 3);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_08_labels_for_the_pods_of_a_virtual_server_do_not_change_by_what_they_are_selected() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let before = stage.children().await?;
        let selector = |deployment: &Deployment| deployment.spec.as_ref().unwrap().selector.clone();
        let selected = selector(&stage.deployment().await?);
        let labels = json!({"mesh": "on", "app": "mine", "toolhive-name": "other"});
        let server = stage.edit(on_pods(json!({ "labels": labels }))).await?;
        let deployment = stage.deployment().await?;
        assert_eq!(selector(&deployment), selected);
        assert_eq!(deployment.labels().get("mesh"), None);
        let expected = with(rolled([]), &[on_template("labels.mesh")]);
        assert_eq!(before.changes(&stage.children().await?), expected);
        let all = server.status.unwrap().conditions.unwrap();
        let told = all.iter().find(|condition| condition.type_ == "OverridesAccepted").unwrap();
        for label in ["labels[app]", "labels[toolhive-name]"] {
            assert!(told.message.contains(label), "{}", told.message);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_08_every_change_of_the_configuration_of_a_virtual_server_rolls_its_pods_and_nothing_else_does() {
    in_namespace(async |space| {
        let telemetry = |endpoint: &str| {
            json!({"openTelemetry": {"enabled": true, "endpoint": endpoint, "tracing": {"enabled": true}}})
        };
        config::<MCPTelemetryConfigSpec>(&space, "otel", telemetry("a:4318")).await?;
        let mut spec = on_pods(json!({"annotations": {VAULT: "true"}}));
        spec["telemetryConfigRef"] = json!({"name": "otel"});
        let stage = Stage::with(&space, spec).await?;
        let old = stage.deployment().await?;

        let before = stage.children().await?;
        stage.edit(json!({"config": {"metadata": {"team": "a"}}})).await?;
        assert_eq!(before.changes(&stage.children().await?), reconfigured("metadata", []));
        assert_eq!(stage.operator.rollouts(NAME).await?, 2);
        let new = stage.deployment().await?;
        assert_ne!(pod_annotations(&new)[CHECKSUM], pod_annotations(&old)[CHECKSUM]);
        assert_eq!(pod_annotations(&new)[VAULT], "true");

        config::<MCPTelemetryConfigSpec>(&space, "otel", telemetry("b:4318")).await?;
        let last = stage.operator.rolled(&new).await?;
        assert_ne!(pod_annotations(&last)[CHECKSUM], pod_annotations(&new)[CHECKSUM]);
        assert_eq!(stage.operator.rollouts(NAME).await?, 3);
        assert!(stage.config().await?.contains("b:4318"));

        // The Service is no affair of the pods, and a telemetry of others is none of this server.
        let (before, mark) = (stage.children().await?, stage.operator.recorder.mark());
        config::<MCPTelemetryConfigSpec>(&space, "unused", telemetry("c:4318")).await?;
        stage.edit(json!({"sessionAffinity": "None"})).await?;
        stage.look_again().await?;
        let expected =
            places(["Service/vmcp-s spec.sessionAffinity", "Service/vmcp-s spec.sessionAffinityConfig"]);
        assert_eq!(before.changes(&stage.children().await?), expected);
        assert_eq!((stage.applies(mark).len(), stage.operator.rollouts(NAME).await?), (0, 3));
        Ok(())
    })
    .await;
}
