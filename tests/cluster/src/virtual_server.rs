//! Virtual servers, as far as the operator brings them up.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{ListParams, LogParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use tests_fixture::{Operator, Site, apply};
use thv_api::kinds::{MCPGroup, MCPServerEntry, VirtualMCPServer, VirtualMCPServerPhase};
use thv_api::names::env;
use thv_testbed::{on_cluster, wait};

/// What stands in for the program of a virtual server.
const STAND_IN: &str = "thv-vmcp-stand-in";

fn manifest(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": VirtualMCPServer::api_version_text(), "kind": kind, "metadata": {"name": name}, "spec": spec,
    })
}

async fn in_phase(
    servers: &Api<VirtualMCPServer>,
    name: &str,
    phase: VirtualMCPServerPhase,
) -> Result<VirtualMCPServer> {
    let is_so = |server: &VirtualMCPServer| {
        let status = server.status.as_ref();
        status.is_some_and(|status| {
            status.phase == Some(phase) && status.observed_generation == server.metadata.generation
        })
    };
    wait::until_within(wait::DEADLINE * 3, servers, name, &format!("it is {phase}"), is_so).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pods_of_a_virtual_server_read_their_configuration_and_it_becomes_ready() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let image = site.image(STAND_IN).await?;
        let operator = Operator::start_with(&site, &BTreeMap::from([(env::VMCP_IMAGE, image.as_str())])).await?;
        apply(&site.api::<MCPGroup>(), &manifest("MCPGroup", "team", json!({}))).await?;
        let entry = json!({
            "groupRef": {"name": "team"}, "transport": "streamable-http", "remoteUrl": "https://mcp.example.com/mcp",
        });
        apply(&site.api::<MCPServerEntry>(), &manifest("MCPServerEntry", "far", entry)).await?;
        let spec = json!({
            "groupRef": {"name": "team"}, "incomingAuth": {"type": "anonymous"},
            "outgoingAuth": {"source": "inline"},
            "config": {"aggregation": {"conflictResolution": "prefix"}, "codeMode": {"enabled": true}},
        });
        let servers = site.api::<VirtualMCPServer>();
        apply(&servers, &manifest("VirtualMCPServer", "hub", spec)).await?;
        operator.explain(in_phase(&servers, "hub", VirtualMCPServerPhase::Ready).await).await?;

        let pods = site.api::<Pod>();
        let list = pods.list(&ListParams::default().labels("toolhive-name=hub")).await?;
        assert_eq!(list.items.len(), 1);
        let secret = site.api::<Secret>().get("hub-hmac-secret").await?;
        let content = secret.data.clone().unwrap_or_default();
        let text = String::from_utf8(content["hmac-secret"].0.clone())?;
        assert_eq!(text.len(), 44, "base64 of 32 bytes");

        let log = pods.logs(&list.items[0].name_any(), &LogParams::default()).await?;
        assert_eq!(log.trim(), "hub offers the group team");

        // An edit replaces the pod, and the Secret stays.
        let edit = json!({"spec": {"config": {"metadata": {"team": "a"}}}});
        servers.patch("hub", &PatchParams::default(), &Patch::Merge(edit)).await?;
        operator.explain(in_phase(&servers, "hub", VirtualMCPServerPhase::Ready).await).await?;
        let again = pods.list(&ListParams::default().labels("toolhive-name=hub")).await?;
        let newest = again.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
        assert!(newest.map(kube::ResourceExt::uid).all(|uid| uid != list.items[0].uid()));
        assert_eq!(site.api::<Secret>().get("hub-hmac-secret").await?.metadata.uid, secret.metadata.uid);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_stands_in_for_a_virtual_server_ends_in_an_error_if_it_cannot_read_its_configuration() {
    on_cluster(async |space| {
        let program = Site::of(&space).await?.program(STAND_IN)?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("config.yaml");
        for text in [None, Some("name: ["), Some("name: hub\nunknown: 1\n")] {
            if let Some(text) = text {
                std::fs::write(&file, text)?;
            }
            let config = format!("--config={}", file.display());
            let ended = std::process::Command::new(&program).arg(config).output()?;
            assert_eq!(ended.status.code(), Some(1), "{text:?}");
            assert!(String::from_utf8_lossy(&ended.stderr).contains("config.yaml"), "{text:?}");
        }
        Ok(())
    })
    .await;
}
