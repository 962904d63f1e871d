//! What must not move: reserved names, settled objects, and the order of things that have none.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Event, Pod, Secret};
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde_json::{Value, json};
use thv_api::kinds::{MCPTelemetryConfig, MCPTelemetryConfigSpec};
use thv_testbed::{Pattern, Space, Verb, in_namespace};

use super::difference::{Places, places};
use super::rollout::{Birth, CHECKSUM, STAMP, config, edited, patch, secret, variable};
use super::{Operator, minimal};
use crate::fixture::json_of;

#[tokio::test]
async fn s0_10_reserved_annotations_and_variables_are_ours_and_the_user_is_told() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);
        let mark = operator.recorder.mark();
        let names = ["THV_MCPSERVER_GENERATION", "THV_MCPSERVER_REVISION", "THV_RUNCONFIG_CHECKSUM"];
        let variables: Vec<Value> = names.iter().map(|name| json!({"name": name, "value": "99"})).collect();
        let wanted = json!({
            "env": variables,
            "podTemplateMetadataOverrides": {"annotations": {STAMP: "99", CHECKSUM: "99"}},
        });
        let server =
            operator.edit("s", json!({"spec": {"resourceOverrides": {"proxyDeployment": wanted}}})).await?;

        // Nothing that was asked for is granted, so nothing changes.
        assert_eq!(before.changes(&operator.children().await?), places([]));
        let new = operator.deployment("s").await?;
        assert_eq!((Birth::of(&new), operator.rollouts("s").await?), (Birth::of(&old), 1));

        let status = json_of(&server)["status"].clone();
        let told = status["conditions"].as_array().unwrap().iter();
        let told = told.clone().find(|condition| condition["type"] == "OverridesAccepted").unwrap();
        assert_eq!((&told["status"], &told["reason"]), (&json!("False"), &json!("ReservedNamesIgnored")));
        assert_eq!(told["observedGeneration"], json!(2));
        let message = told["message"].as_str().unwrap();
        for name in names.into_iter().chain([STAMP, CHECKSUM]) {
            assert!(message.contains(&format!("[{name}]")), "{name}: {message}");
        }
        operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
        let about = ListParams::default().fields("involvedObject.name=s,reason=ReservedNamesIgnored");
        let events = space.api::<Event>().list(&about).await?.items;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].type_.as_deref(), Some("Warning"));

        // What else the user asks for in the same breath is granted.
        let more = json!([{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}, variables[0].clone()]);
        operator
            .edit("s", json!({"spec": {"resourceOverrides": {"proxyDeployment": {"env": more}}}}))
            .await?;
        let new = operator.deployment("s").await?;
        assert_eq!(variable(&new, "HTTPS_PROXY")["value"], "http://proxy:3128");
        assert_eq!(Birth::of(&new).stamp, 3);
        let expected = edited(["Deployment/s spec.template.spec.containers[toolhive].env[HTTPS_PROXY]"]);
        assert_eq!(before.changes(&operator.children().await?), expected);
        Ok(())
    })
    .await;
}

async fn stays_as_it_is(space: &Space, spec: Value) -> Result<()> {
    let mut operator = Operator::start(space).await?;
    secret(space, "redis", json!({"password": "one"})).await?;
    operator.server("s", spec).await?;
    operator.settle("spec").await?;
    let (version, before) = (operator.at_rest().await?, operator.children().await?);

    // Everything around it moves, and some of it over and over.
    let mark = operator.recorder.mark();
    for round in ["one", "two", "three"] {
        patch(&operator.servers(), "s", json!({"metadata": {"annotations": {"round": round}}})).await?;
        patch(&space.api::<Secret>(), "redis", json!({"stringData": {"password": round}})).await?;
        let pods = space.api::<Pod>().list(&ListParams::default().labels("toolhive-name=s")).await?.items;
        assert!(!pods.is_empty());
        for pod in pods {
            let label = json!({"metadata": {"labels": {"round": round}}});
            patch(&space.api::<Pod>(), &pod.name_any(), label).await?;
        }
        operator.outlast(round).await?;
    }
    let writes = operator.writes(mark);
    assert!(writes.is_empty(), "{writes:?}");
    assert_eq!(operator.at_rest().await?, version);

    operator.assert_fixed("restarted").await?;
    assert_eq!(operator.at_rest().await?, version);
    assert_eq!(before.changes(&operator.children().await?), places([]));
    Ok(())
}

#[tokio::test]
async fn s0_11_a_settled_deployment_is_not_written_again() {
    in_namespace(async |space| stays_as_it_is(&space, minimal()).await).await;
}

#[tokio::test]
async fn s0_11_a_settled_deployment_with_a_redis_password_is_not_written_again() {
    in_namespace(async |space| {
        let mut spec = minimal();
        spec["sessionStorage"] = json!({
            "provider": "redis", "address": "redis:6379", "passwordRef": {"name": "redis", "key": "password"},
        });
        stays_as_it_is(&space, spec).await?;
        let deployment = space.api::<Deployment>().get("s").await?;
        let source = json!({"secretKeyRef": {"name": "redis", "key": "password"}});
        assert_eq!(variable(&deployment, "THV_SESSION_REDIS_PASSWORD")["valueFrom"], source);
        Ok(())
    })
    .await;
}

/// A spec with several entries in every list whose order means nothing.
fn with_lists() -> Value {
    let pairs = |names: [&str; 3]| names.map(|name| json!({"name": name, "value": name.to_lowercase()}));
    let secret = |name: &str| json!({"name": name, "key": "k", "targetEnvName": name.to_uppercase()});
    let volume = |name: &str| json!({"name": name, "hostPath": format!("/srv/{name}"), "mountPath": format!("/{name}")});
    json!({
        "image": "localhost/server:1", "transport": "streamable-http",
        "env": pairs(["B", "A", "C"]),
        "secrets": [secret("y"), secret("x")],
        "volumes": [volume("b"), volume("a"), volume("c")],
        "telemetryConfigRef": {"name": "otel"},
        "resourceOverrides": {"proxyDeployment": {"env": pairs(["Q", "P", "R"])}},
    })
}

fn with_headers(names: [&str; 3]) -> Value {
    let header = |name: &str| json!({"name": name, "secretKeyRef": {"name": "keys", "key": "k"}});
    json!({"openTelemetry": {
        "enabled": true, "endpoint": "otel:4318", "tracing": {"enabled": true},
        "sensitiveHeaders": names.map(header),
    }})
}

#[tokio::test]
async fn s0_12_the_order_of_variables_and_of_other_lists_rolls_nothing() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        for name in ["keys", "x", "y"] {
            secret(&space, name, json!({"k": "v"})).await?;
        }
        config::<MCPTelemetryConfigSpec>(&space, "otel", with_headers(["x-b", "x-a", "x-c"])).await?;
        let spec = with_lists();
        operator.server("s", spec.clone()).await?;
        let (before, old) = (operator.children().await?, operator.deployment("s").await?);

        let mark = operator.recorder.mark();
        let (mut reversed, mut generation) = (spec, 1);
        for place in ["/env", "/secrets", "/volumes", "/resourceOverrides/proxyDeployment/env"] {
            reversed.pointer_mut(place).unwrap().as_array_mut().unwrap().reverse();
            let server = operator.edit("s", json!({ "spec": reversed.clone() })).await?;
            // It counts as an edit, and comes to nothing.
            generation += 1;
            assert_eq!(server.metadata.generation, Some(generation), "{place}");
            assert_eq!(before.changes(&operator.children().await?), places([]), "{place}");
        }
        let headers = with_headers(["x-c", "x-b", "x-a"])["openTelemetry"]["sensitiveHeaders"].clone();
        let edit = json!({"spec": {"openTelemetry": {"sensitiveHeaders": headers}}});
        let otel = patch(&space.api::<MCPTelemetryConfig>(), "otel", edit).await?;
        assert_eq!(otel.metadata.generation, Some(2));
        operator.outlast("order").await?;

        operator.assert_applies(mark, 0);
        let after = operator.children().await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
        let new = operator.deployment("s").await?;
        assert_eq!((Birth::of(&new), operator.rollouts("s").await?), (Birth::of(&old), 1));

        // Not because nobody looks: a value is another matter.
        operator.edit("s", json!({"spec": {"env": [{"name": "A", "value": "new"}]}})).await?;
        assert_eq!(operator.rollouts("s").await?, 2);
        Ok(())
    })
    .await;
}

/// Of a list that a user keyed badly nothing is lost but what is said to be lost.
#[tokio::test]
async fn s0_12_s0_10_a_list_in_another_order_is_refused_alike() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let wish = |name: &str| json!({"name": name, "value": "99"});
        let env = |names: [&str; 2]| {
            let list = names.map(wish);
            json!({"spec": {"resourceOverrides": {"proxyDeployment": {"env": list}}}})
        };
        operator.server("s", minimal()).await?;
        let names = ["THV_MCPSERVER_REVISION", "THV_MCPSERVER_GENERATION"];
        let one = operator.edit("s", env(names)).await?;
        let other = operator.edit("s", env([names[1], names[0]])).await?;
        let message = |server| -> Places {
            let status = json_of(server)["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let told = status.into_iter().filter(|condition| condition["type"] == "OverridesAccepted");
            told.map(|condition| condition["message"].to_string()).collect()
        };
        assert_eq!((message(&one), message(&one).len()), (message(&other), 1));
        Ok(())
    })
    .await;
}
