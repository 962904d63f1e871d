//! What the migrator may do, and what happens when it may not.

use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use serde_json::json;
use thv_api::kinds::MCPServer;
use thv_testbed::{Bed, free_port, wait};

use super::super::alone::{NAMESPACE, on_own_cluster};
use super::super::minimal;
use super::super::scene::AT_REST;
use super::stage::{ON, RELICS, Stage, rewrites};
use crate::fixture::{apply, ask, resource_version, store_as};

const SERVERS: &str = "mcpservers.toolhive.stacklok.dev";

/// Makes a server and waits until the operator has nothing left to do about it.
async fn make_server(bed: &Bed, name: &str) -> Result<MCPServer> {
    let servers: Api<MCPServer> = Api::namespaced(bed.client(), NAMESPACE);
    let body = json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": name},
        "spec": minimal(),
    });
    apply(&servers, name, "user", &body).await?;
    let rests = |server: &MCPServer| {
        server.status.as_ref().is_some_and(|status| status.message.as_deref() == Some(AT_REST))
    };
    wait::until(&servers, name, "it is at rest", rests).await
}

/// The generation of a Deployment, which moves with its spec.
async fn generation(bed: &Bed, name: &str) -> Result<Option<i64>> {
    let deployments: Api<Deployment> = Api::namespaced(bed.client(), NAMESPACE);
    Ok(deployments.get(name).await?.metadata.generation)
}

#[tokio::test]
async fn the_rights_that_are_shipped_suffice_for_servers_whose_workloads_do_not_change_and_a_missing_right_is_told()
-> Result<()> {
    on_own_cluster(async |bed| {
        let stage = Stage::new(bed).await?;
        stage.make_relics(2).await?;
        store_as(&stage.definitions, SERVERS, "v1alpha1").await?;
        let port = free_port()?;
        let metrics = ["--metrics-bind-address", &format!("127.0.0.1:{port}")];
        let operator = stage.start(&[ON], &metrics).await?;
        // There are no servers yet.
        operator.trims(&stage, SERVERS, "v1alpha1").await?;
        let server = make_server(bed, "s").await?;
        // When another is at rest as well, whatever was under way is over.
        make_server(bed, "probe").await?;
        let before = generation(bed, "s").await?;

        // The rights that are shipped are not about relics. That keeps nobody else from being migrated.
        let mark = operator.recorder.mark();
        stage.store_relics_as("v1beta1").await?;
        let told = operator.event(mark, "StorageVersionMigrationFailed").await?;
        let note = told["note"].as_str().context("no note")?;
        assert!(note.contains("cannot list resource \"relics\""), "{note}");
        assert!(note.contains("ClusterRole toolhive-operator-storage-version-migrator-role"), "{note}");
        assert_eq!((&told["type"], &told["action"]), (&json!("Warning"), &json!("RestoreCRs")));

        store_as(&stage.definitions, SERVERS, "v1beta1").await?;
        operator.trims(&stage, SERVERS, "v1beta1").await?;
        operator.rests(mark, SERVERS).await?;
        let after = Api::<MCPServer>::namespaced(bed.client(), NAMESPACE).get("s").await?;
        assert_ne!(resource_version(&after), resource_version(&server), "it is stored anew");
        assert_eq!((&after.spec, &after.status), (&server.spec, &server.status));
        assert_eq!(after.metadata.managed_fields, server.metadata.managed_fields);
        assert_eq!(after.metadata.generation, server.metadata.generation);
        assert_eq!(generation(bed, "s").await?, before);
        let log = operator.recorder.since(mark);
        let mut written: Vec<_> = log.writes().iter().map(|it| it.resource.clone()).collect();
        written.retain(|resource| resource != "events");
        assert_eq!(written, ["mcpservers", "mcpservers", "customresourcedefinitions"]);
        let (status, text) = ask(Ipv4Addr::LOCALHOST.into(), port, "/metrics").await?;
        assert_eq!(status, 200);
        for line in ["migrated_objects_total{crd=\"X\"} 2", "migration_remaining_objects{crd=\"X\"} 0"] {
            let line = format!("toolhive_operator_storage_{}", line.replace('X', SERVERS));
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }

        log.only(&rewrites()).assert_empty("rewrite");
        stage.grant_test_kinds().await?;
        operator.trims(&stage, RELICS, "v1beta1").await
    })
    .await
}
