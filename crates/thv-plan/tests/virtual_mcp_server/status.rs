//! What a virtual server says of itself.

use serde_json::{Value, json};
use thv_api::kinds::VirtualMCPServerSpec;
use thv_plan::{Children, Planned};

use crate::support::{World, object};

fn embedding_server(phase: &str, ready: i32) -> Value {
    let mut server = object("EmbeddingServer", "emb", json!({"model": "m"}));
    server["status"] = json!({"phase": phase, "readyReplicas": ready});
    server
}

#[test]
fn the_first_pods_wait_for_the_embedding_server_and_search_is_switched_on_by_it() {
    let mut world =
        World::new(json!({"embeddingServerRef": {"name": "emb"}}), &[embedding_server("Pending", 0)]);
    let plan = world.plan();
    assert_eq!(plan.children, Children::Keep);
    assert_eq!(plan.status.phase.unwrap().as_str(), "Pending");
    assert_eq!(world.condition("EmbeddingServerReady").1, "EmbeddingServerNotReady");
    world.put(embedding_server("Ready", 1));
    assert_eq!(world.condition("EmbeddingServerReady").0, "True");
    let url = world.config()["optimizer"]["embeddingService"].clone();
    assert_eq!(url, "http://emb.prod.svc.cluster.local:8080");
    world.remove("EmbeddingServer", "emb");
    assert_eq!(world.condition("EmbeddingServerReady").1, "EmbeddingServerNotFound");
}

#[test]
fn a_group_that_is_not_there_stops_the_server() {
    let mut world = World::new(json!({}), &[]);
    assert_eq!(world.condition("GroupRefValidated").0, "True");
    world.remove("MCPGroup", "team");
    assert_eq!(world.condition("GroupRefValidated").1, "GroupRefNotFound");
    assert_eq!(world.plan().children, Children::Keep);
}

#[test]
fn what_the_pods_report_is_not_ours_to_write() {
    let mut world = World::new(json!({}), &[]);
    let reported = json!({
        "discoveredBackends": [{"name": "a", "status": "ready"}], "backendCount": 1, "phase": "Ready",
        "conditions": [{
            "type": "BackendsDiscovered", "status": "True", "reason": "BackendsDiscovered", "message": "",
            "lastTransitionTime": "2026-11-16T10:00:00Z",
        }],
    });
    world.owner.status = Some(serde_json::from_value(reported).unwrap());
    let status = world.plan().status;
    assert_eq!((status.discovered_backends, status.backend_count), (None, None));
    assert!(!world.has_condition("BackendsDiscovered"));
    let ours = VirtualMCPServerSpec::ours(world.owner.status.clone().unwrap());
    assert_eq!((ours.discovered_backends, ours.backend_count), (None, None));
}

#[test]
fn fields_that_are_filled_in_or_unknown_are_told() {
    let config = json!({"sessionStorage": {"provider": "memory"}, "fancy": true});
    let (status, _, message) = World::new(json!({ "config": config }), &[]).condition("SettingsIgnored");
    assert_eq!(status, "True");
    assert!(
        message.contains("spec.config.sessionStorage") && message.contains("spec.config.fancy"),
        "{message}"
    );
}
