//! What has to be certain before an object goes, and what must not get in the way of those who refer to it.

use anyhow::Result;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{Fault, Pattern, Verb, in_namespace, wait};

use super::{Stage, server};

fn remote(tools: &str) -> Value {
    json!({"remoteUrl": "https://mcp.example.com", "toolConfigRef": {"name": tools}})
}

#[tokio::test]
async fn a_reference_that_a_silent_watch_does_not_show_keeps_what_it_names() {
    in_namespace(async |space| {
        let mut stage = Stage::start(&space).await?;
        let referrers = stage.operator.recorder.gate(Pattern::verb(Verb::Watch).of("mcpremoteproxies"));
        stage.operator.subject.restart().await?;
        stage.settle("MCPToolConfig", "tools", json!({})).await?;
        stage.make("MCPRemoteProxy", "early", remote("other")).await?;

        // From now on the watch is open and says nothing.
        referrers.hold();
        stage.make("MCPRemoteProxy", "late", remote("tools")).await?;
        referrers.holds_one().await?;
        stage.delete("MCPToolConfig", "tools").await?;
        stage.says("MCPToolConfig", "tools", ("DeletionBlocked", "True"), "MCPRemoteProxy late").await?;

        referrers.release();
        stage.edit("MCPRemoteProxy", "late", json!({"toolConfigRef": null})).await?;
        stage.gone("MCPToolConfig", "tools").await?;
        stage.assert_no_timed_requeue("MCPToolConfig", "tools");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_refused_keeps_an_object_and_says_what_could_not_be_read() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPToolConfig", "tools", json!({})).await?;
        let lists = Pattern::verb(Verb::List).of("virtualmcpservers");
        stage.operator.recorder.fail(lists, usize::MAX, Fault::Answer(403));
        stage.delete("MCPToolConfig", "tools").await?;
        stage.says("MCPToolConfig", "tools", ("Valid", "Unknown"), "cannot read VirtualMCPServer").await?;
        stage.operator.recorder.heal();
        stage.gone("MCPToolConfig", "tools").await
    })
    .await;
}

#[tokio::test]
async fn a_referrer_that_cannot_be_read_keeps_what_it_names() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPToolConfig", "tools", json!({})).await?;
        // The schema takes a duration that our types cannot hold.
        let odd = server(json!({
            "toolConfigRef": {"name": "tools"},
            "sessionStorage": {"provider": "redis", "address": "redis:6379"},
            "rateLimiting": {"shared": {"maxTokens": 1, "refillPeriod": "9999999999h"}},
        }));
        stage.make("MCPServer", "odd", odd).await?;
        stage.referred_by("MCPToolConfig", "tools", "MCPServer odd").await?;
        stage.delete("MCPToolConfig", "tools").await?;
        stage.says("MCPToolConfig", "tools", ("DeletionBlocked", "True"), "MCPServer odd").await?;
        stage.delete("MCPServer", "odd").await?;
        stage.gone("MCPToolConfig", "tools").await
    })
    .await;
}

#[tokio::test]
async fn a_status_that_cannot_be_read_keeps_nobody_from_using_the_settings() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPToolConfig", "tools", json!({"toolsFilter": ["one"]})).await?;
        stage.settle("MCPServer", "web", server(json!({"toolConfigRef": {"name": "tools"}}))).await?;
        stage.referred_by("MCPToolConfig", "tools", "MCPServer web").await?;

        // A time that Go knows and our types do not, in a condition of somebody else's.
        let theirs = json!({"status": {"conditions": [{
            "type": "Theirs", "status": "True", "reason": "R", "message": "",
            "lastTransitionTime": "9999-12-31T23:59:59Z",
        }]}});
        let mut body = super::manifest("MCPToolConfig", "tools", json!({}));
        body["status"] = theirs["status"].clone();
        let by = PatchParams { field_manager: Some("theirs".to_owned()), ..PatchParams::default() };
        write_status(&stage, &by, &body).await?;

        stage.edit("MCPToolConfig", "tools", json!({"toolsFilter": ["two"]})).await?;
        let before = stage.api("MCPServer").get_metadata("web").await?.metadata.generation;
        let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = space.api();
        wait::until(&maps, "web-runconfig", "the edit has arrived", |map| {
            map.data.iter().flatten().any(|(_, text)| text.contains("\"two\""))
        })
        .await?;
        assert_eq!(stage.api("MCPServer").get_metadata("web").await?.metadata.generation, before);
        Ok(())
    })
    .await;
}

async fn write_status(stage: &Stage, by: &PatchParams, body: &Value) -> Result<()> {
    // Our client does not know that time either, so it must not read the answer.
    let request = kube::core::Request::new(format!(
        "/apis/{}/v1beta1/namespaces/{}/mcptoolconfigs",
        thv_api::names::GROUP,
        stage.space.namespace(),
    ));
    let patch = Patch::Merge(json!({"status": body["status"]}));
    let request = request.patch_subresource("status", "tools", by, &patch)?;
    stage.space.client().request::<Value>(request).await?;
    Ok(())
}
