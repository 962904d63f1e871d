//! Backends as the Go proxy leaves them.

use anyhow::Result;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{Pattern, in_namespace};

use super::proxy::{Sketch, revision};
use super::stage::{NAME, Stage};
use crate::fixture::{apply, json_of, managers};

/// The field manager of the Go proxy, which applies, and of the Go operator, which updates.
const GO_PROXY: &str = "toolhive-container-manager";
const GO_OPERATOR: &str = "thv-operator";

fn labels() -> Value {
    json!({"app": NAME, "toolhive": "true", "toolhive-name": NAME})
}

/// The StatefulSet of the Go proxy, with the number of replicas and a variable more than we would have it.
fn set(extra: bool) -> Value {
    let context = json!({
        "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"},
    });
    let mut pod = context.clone();
    pod["fsGroup"] = json!(1000);
    let mut container = context;
    for (field, value) in [
        ("privileged", json!(false)),
        ("allowPrivilegeEscalation", json!(false)),
        ("readOnlyRootFilesystem", json!(true)),
        ("capabilities", json!({"drop": ["ALL"]})),
    ] {
        container[field] = value;
    }
    let mut env = json!([
        {"name": "FASTMCP_PORT", "value": "3000"}, {"name": "MCP_HOST", "value": ""},
        {"name": "MCP_PORT", "value": "3000"}, {"name": "MCP_TRANSPORT", "value": "streamable-http"},
    ]);
    if extra {
        env.as_array_mut().unwrap().push(json!({"name": "OF_AN_OLDER_PROXY", "value": "1"}));
    }
    let server = json!({
        "name": "mcp", "image": "localhost/server:1", "args": ["--verbose"], "stdin": false, "tty": false,
        "env": env, "securityContext": container,
    });
    let stamp = json!({"toolhive.stacklok.dev/mcpserver-generation": "1"});
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": NAME, "labels": labels()},
        "spec": {
            "replicas": 2, "serviceName": NAME, "selector": {"matchLabels": {"app": NAME}},
            "template": {
                "metadata": {"labels": labels(), "annotations": stamp},
                "spec": {"restartPolicy": "Always", "securityContext": pod, "containers": [server]},
            },
        },
    })
}

fn service(name: &str, owner: &StatefulSet, spec: Value) -> Value {
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "labels": labels(), "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": "StatefulSet", "name": NAME, "uid": owner.uid(),
            "controller": true, "blockOwnerDeletion": true,
        }]},
        "spec": {
            "type": "ClusterIP", "selector": {"app": NAME},
            "ports": [{"name": "port-3000", "port": 3000, "targetPort": 3000, "protocol": "TCP"}],
        },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        service["spec"][key] = value.clone();
    }
    service
}

/// Everything that the Go proxy applies, and the owner that the Go operator adds to it.
async fn made_by_go(stage: &Stage, extra: bool) -> Result<StatefulSet> {
    let made = apply(&stage.sets(), NAME, GO_PROXY, &set(extra)).await?;
    let owner = json!([{
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": NAME, "uid": stage.uid,
        "controller": true, "blockOwnerDeletion": true,
    }]);
    let adopt = Patch::Merge(json!({"metadata": {"ownerReferences": owner}}));
    let go = PatchParams { field_manager: Some(GO_OPERATOR.to_owned()), ..PatchParams::default() };
    stage.sets().patch(NAME, &go, &adopt).await?;
    let headless = service("mcp-web-headless", &made, json!({"clusterIP": "None"}));
    apply(&stage.services(), "mcp-web-headless", GO_PROXY, &headless).await?;
    let affinity = json!({
        "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1800}},
    });
    apply(&stage.services(), "mcp-web", GO_PROXY, &service("mcp-web", &made, affinity)).await?;
    stage.backend().await
}

/// A proxy that wants just what the Go proxy has made.
fn same(number: u64) -> Sketch {
    revision(number).image("localhost/server:1").with("cmd_args", json!(["--verbose"]))
}

#[tokio::test]
async fn s0_09_what_the_go_proxy_made_is_taken_over_and_no_pod_is_replaced() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let before = made_by_go(&stage, false).await?;
        let ip = stage.services().get("mcp-web").await?.spec.and_then(|spec| spec.cluster_ip);
        let proxy = stage.bound(&same(1).replicas(2)).await?;
        let after = stage.backend().await?;
        assert_eq!(after.uid(), before.uid());
        assert_eq!(after.metadata.generation, before.metadata.generation, "the spec is the same");
        assert_eq!(json_of(&after)["spec"], json_of(&before)["spec"]);
        assert!(!managers(&after).contains(&GO_PROXY.to_owned()), "{:?}", managers(&after));
        for name in ["mcp-web", "mcp-web-headless"] {
            let service = stage.services().get(name).await?;
            assert!(!managers(&service).contains(&GO_PROXY.to_owned()), "{:?}", managers(&service));
        }
        assert_eq!(stage.services().get("mcp-web").await?.spec.and_then(|spec| spec.cluster_ip), ip);
        proxy.recorder.log().assert_no_put();
        let mark = proxy.recorder.mark();
        let _again = stage.bound(&same(1).replicas(2)).await?;
        proxy.recorder.since(mark).only(&Pattern::write()).assert_empty("write");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_the_go_proxy_set_is_withdrawn_and_its_number_of_replicas_stays() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        made_by_go(&stage, true).await?;
        let foreign =
            json!({"metadata": {"annotations": {"somebody": "else"}}, "spec": {"minReadySeconds": 3}});
        let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
        stage.sets().patch(NAME, &somebody, &Patch::Merge(&foreign)).await?;
        let _proxy = stage.bound(&same(1)).await?;
        let set = json_of(&stage.backend().await?);
        assert!(!set.to_string().contains("OF_AN_OLDER_PROXY"), "{set}");
        assert_eq!(set["spec"]["replicas"], 2, "nobody asked for another number");
        assert_eq!(set["spec"]["minReadySeconds"], 3);
        assert_eq!(set["metadata"]["annotations"]["somebody"], "else");

        // What was taken over is withdrawn like anything else that is ours.
        stage.mint(2).await?;
        let _next = stage.bound(&revision(2).image("localhost/server:1")).await?;
        let set = json_of(&stage.backend().await?);
        assert_eq!(set["spec"]["template"]["spec"]["containers"][0].get("args"), None);
        assert_eq!(set["spec"]["replicas"], 2);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_takeover_that_comes_too_late_starts_again() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        made_by_go(&stage, false).await?;
        let takeover = Pattern::verb(thv_testbed::Verb::JsonPatch).of("statefulsets");
        let mut late = stage.start_held(&same(1), takeover.clone()).await?;
        late.held.hit().await?;
        let edit = Patch::Merge(json!({"metadata": {"annotations": {"somebody": "else"}}}));
        stage.sets().patch(NAME, &PatchParams::default(), &edit).await?;
        late.held.release();
        late.proxy.until("bound").await?;
        let takeovers = late.proxy.recorder.log().only(&takeover);
        assert_eq!(
            takeovers.iter().map(|exchange| exchange.answered).collect::<Vec<_>>(),
            [Some(422), Some(200)]
        );
        assert_eq!(stage.backend().await?.annotations()["somebody"], "else");
        Ok(())
    })
    .await;
}
