//! The manifests in `examples` work as they are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use serde_json::{Value, json};
use tests_fixture::{Client, Operator, PROTOCOLS, Peers, Site};
use thv_testbed::{Space, on_cluster, wait};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn manifest(name: &str) -> Result<Value> {
    let file = folder().join(format!("{name}.yaml"));
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_saphyr::from_str(&text).with_context(|| format!("{} is no manifest", file.display()))
}

/// Applies an example, and has clients of both eras call it.
async fn try_out(space: &Space, name: &str) -> Result<Operator> {
    let peers = Peers::find()?;
    let operator = Operator::start(&Site::of(space).await?).await?;
    let image = operator.site().image("peer-server").await?;
    let manifest = manifest(name)?;
    ensure!(manifest["spec"]["image"] == json!(image), "{name} names another image than {image}");
    let server = operator.make(&manifest).await?;
    ensure!(server.name == name, "the server in {name}.yaml has another name");
    for version in PROTOCOLS {
        let visited = peers.visit(Client::TypeScript2(version), &server.url).await;
        assert_eq!(operator.explain(visited).await?.echo, "good day", "{version}");
    }
    Ok(operator)
}

#[tokio::test]
async fn the_minimal_example_answers() {
    on_cluster(async |space| try_out(&space, "minimal").await.map(drop)).await;
}

#[tokio::test]
async fn the_example_with_replicas_answers_from_all_of_them() {
    on_cluster(async |space| {
        space.redis().await?;
        let operator = try_out(&space, "replicas").await?;
        let proxies = operator.site().api::<Deployment>();
        wait::until(&proxies, "replicas", "both proxies are ready", |proxies| {
            proxies.status.as_ref().and_then(|status| status.ready_replicas) == Some(2)
        })
        .await?;
        let servers = operator.site().api::<StatefulSet>();
        wait::until(&servers, "replicas", "both servers are ready", |servers| {
            servers.status.as_ref().and_then(|status| status.ready_replicas) == Some(2)
        })
        .await?;
        // A session is one of Redis; each of these goes through whichever proxy the Service picks.
        let peers = Peers::find()?;
        let url = operator.ready(&operator.servers().get("replicas").await?).await?.url;
        for _ in 0..4 {
            operator.explain(peers.visit(Client::TypeScript1, &url).await).await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_example_with_a_pod_template_is_followed() {
    on_cluster(async |space| {
        let operator = try_out(&space, "pod-template").await?;
        let site = operator.site();
        let backend = site.api::<StatefulSet>().get("pod-template").await?;
        let template = backend.spec.context("a StatefulSet has no spec")?.template;
        let labels = template.metadata.and_then(|metadata| metadata.labels).unwrap_or_default();
        assert_eq!(labels.get("team").map(String::as_str), Some("tools"));
        let containers = template.spec.context("a pod has no spec")?.containers;
        let mcp = json!(containers.iter().find(|container| container.name == "mcp"));
        assert_eq!(mcp.pointer("/resources/limits/memory"), Some(&json!("256Mi")));
        assert_eq!(mcp.pointer("/securityContext/readOnlyRootFilesystem"), Some(&json!(true)));
        let service = site.api::<Service>().get("mcp-pod-template-proxy").await?;
        assert_eq!(service.annotations().get("example.com/exposed").map(String::as_str), Some("internally"));
        Ok(())
    })
    .await;
}

#[test]
fn every_example_is_tried() {
    let source = include_str!("examples.rs");
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            // Shared configuration needs no pods to be tried: the tests against an API server do that.
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = name.strip_suffix(".yaml").expect("examples are manifests");
        assert!(source.contains(&format!("try_out(&space, {name:?})")), "nobody tries {name}");
    }
}
