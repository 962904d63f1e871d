//! Kinds that the API server does not list for a while.

use std::time::{Duration, Instant};

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Value, json};
use thv_testbed::{Exchange, Fault, Pattern, Space, Verb, in_namespace, wait};

use super::rollout::config_map;
use super::shift::VIRTUAL_SERVER;
use super::stage::{Stage, with};
use crate::fixture::json_of;

/// A remote server with these certificate authorities, as a member of the group.
fn entry(map: &str) -> Value {
    json!({
        "groupRef": {"name": "g"}, "remoteUrl": "https://mcp.example.com", "transport": "streamable-http",
        "caBundleRef": {"configMapRef": {"name": map, "key": "ca.crt"}},
    })
}

/// The ConfigMap that the pods have the certificate authorities of the entry from.
fn bundle(deployment: &Deployment) -> Value {
    let pod = json_of(deployment)["spec"]["template"]["spec"].clone();
    let volumes = pod["volumes"].as_array().cloned().unwrap_or_default();
    let found = volumes.into_iter().find(|volume| volume["name"] == "ca-bundle-ctx").unwrap_or_default();
    found["configMap"]["name"].clone()
}

/// Refuses lists of entries for at least so long, and shows that nothing is written meanwhile but why.
async fn refuse(space: &Space, code: u16, span: Duration) -> Result<()> {
    let mut stage = Stage::start(space).await?;
    let watch = stage.operator.recorder.gate(Pattern::verb(Verb::Watch).of("mcpserverentries"));
    // A gate holds the watches that begin after it is there.
    stage.operator.subject.restart().await?;
    for map in ["ca-v1", "ca-v2"] {
        config_map(space, map, json!({"ca.crt": map})).await?;
    }
    stage.settle("MCPGroup", "g", json!({})).await?;
    stage.settle("MCPServerEntry", "ctx", entry("ca-v1")).await?;
    let inline = json!({"outgoingAuth": {"source": "inline"}});
    stage.settle("VirtualMCPServer", "s", with((VIRTUAL_SERVER.spec)(), &inline)).await?;
    stage.calm().await?;
    let before = stage.children(&VIRTUAL_SERVER).await?;

    let lists = Pattern::verb(Verb::List).of("mcpserverentries");
    stage.operator.recorder.fail(lists.clone(), usize::MAX, Fault::Answer(code));
    let (mark, start) = (stage.operator.recorder.mark(), Instant::now());
    watch.hold();
    stage.make("MCPServerEntry", "ctx", entry("ca-v2")).await?;
    watch.holds_one().await?;
    watch.expire();
    stage.operator.recorder.seen(mark, &lists).await?;
    watch.release();
    // Both would be a write: that of the entry, which nobody has heard of, and that of the virtual server itself.
    stage.edit("VirtualMCPServer", "s", json!({"config": {"operational": {"logLevel": "debug"}}})).await?;
    let why = "cannot tell which objects of the kind MCPServerEntry there are";
    stage.says("VirtualMCPServer", "s", ("Ready", "Unknown"), why).await?;
    while start.elapsed() < span {
        let later = stage.operator.recorder.mark();
        stage.operator.recorder.seen(later, &lists).await?;
    }
    stage.calm().await?;
    let is_status = |write: &Exchange| {
        let about = (write.resource.as_str(), write.subresource.as_deref());
        [("virtualmcpservers", Some("status")), ("mcpgroups", Some("status"))].contains(&about)
    };
    let writes = stage.operator.writes(mark);
    assert!(writes.iter().all(is_status), "{writes:#?}");
    let of_server = writes.iter().filter(|write| write.resource == "virtualmcpservers");
    assert_eq!(of_server.count(), 1, "{writes:#?}");
    let meanwhile = stage.children(&VIRTUAL_SERVER).await?;
    assert_eq!((before.versions(), before.changes(&meanwhile).len()), (meanwhile.versions(), 0));

    stage.operator.recorder.heal();
    let is_there = |deployment: &Deployment| {
        let args = json_of(deployment)["spec"]["template"]["spec"]["containers"][0]["args"].clone();
        bundle(deployment) == "ca-v2" && args.as_array().is_some_and(|args| args.contains(&json!("--debug")))
    };
    let deployments = space.api::<Deployment>();
    // The watch has waited longer with every refusal, for half a minute at most.
    let patience = wait::DEADLINE.max(Duration::from_secs(45));
    wait::until_within(patience, &deployments, "s", "both edits have arrived", is_there).await?;
    stage.says("VirtualMCPServer", "s", ("Ready", "False"), "is starting").await?;
    stage.assert_applies(mark, &VIRTUAL_SERVER, 1);
    Ok(())
}

#[tokio::test]
async fn s4_05_while_entries_are_not_listed_nothing_is_written_but_why_and_then_everything_is() {
    in_namespace(async |space| refuse(&space, 403, Duration::ZERO).await).await;
}

#[tokio::test]
#[ignore = "soak: it takes a minute and a half"]
async fn soak_s4_05_a_minute_without_lists_of_entries() {
    in_namespace(async |space| refuse(&space, 500, Duration::from_mins(1)).await).await;
}
