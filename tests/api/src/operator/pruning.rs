//! Children that are not wanted any more, and objects that only say that they are children.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::api::ListParams;
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::field_managers;
use thv_testbed::{Pattern, Verb, free_port, in_namespace, wait};

use super::scene::{NAME, Scene};
use crate::fixture::{apply, ask, config_map, resource_version};

/// A ConfigMap that says that the server controls it.
fn owned(name: &str, server: &MCPServer) -> Value {
    let mut body = config_map(name, "1");
    body["metadata"]["ownerReferences"] = json!([{
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "name": NAME,
        "uid": server.metadata.uid, "controller": true, "blockOwnerDeletion": true,
    }]);
    body
}

#[tokio::test]
async fn an_object_that_no_operator_has_written_is_not_pruned_and_that_is_told_once() {
    in_namespace(async |space| {
        let port = free_port()?;
        let address = format!("127.0.0.1:{port}");
        let arguments = ["--metrics-bind-address", address.as_str()];
        let scene = Scene::start(&space, &BTreeMap::new(), &arguments).await?;
        let server = scene.make(json!({})).await?;
        let (maps, before) = (space.api::<ConfigMap>(), scene.children().await?);
        let mark = scene.operator.recorder.mark();
        let keepsake = apply(&maps, "keepsake", "somebody", &owned("keepsake", &server)).await?;
        scene.operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
        // What an operator has written goes, ours or Go's, so that the other one was looked at as well.
        for (name, manager) in
            [("leftover", field_managers::OPERATOR), ("relic", field_managers::GO_OPERATOR)]
        {
            apply(&maps, name, manager, &owned(name, &server)).await?;
            wait::gone(&maps, name).await?;
        }
        scene.look_again().await?;
        scene.look_again().await?;

        assert_eq!(resource_version(&maps.get("keepsake").await?), resource_version(&keepsake));
        let deleted = scene.operator.recorder.since(mark).only(&Pattern::verb(Verb::Delete));
        let names: Vec<_> = deleted.iter().map(|request| request.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["leftover", "relic"]);
        scene.assert_changed(&before, ["ConfigMap/keepsake"]).await?;
        let told = space.api::<Event>().list(&ListParams::default()).await?.items;
        let told: Vec<_> =
            told.iter().filter(|event| event.reason.as_deref() == Some("UnmanagedChild")).collect();
        assert!(told.len() == 1 && told[0].series.is_none(), "{told:?}");
        let note = told[0].note.as_deref().unwrap();
        assert!(note.contains("ConfigMap keepsake"), "{note}");
        let (_, metrics) = ask(Ipv4Addr::LOCALHOST.into(), port, "/metrics").await?;
        let line = r#"toolhive_operator_unmanaged_children_total{kind="ConfigMap"} 1"#;
        assert!(metrics.lines().any(|other| other == line), "{metrics}");
        Ok(())
    })
    .await;
}
