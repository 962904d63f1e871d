//! The status of what is referred to: whom a change of it concerns, and how often it is written.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, DynamicObject};
use serde_json::{Value, json};
use thv_testbed::{Pattern, Verb, in_namespace};

use super::super::rollout::secret;
use super::{Stage, condition, manifest, server};
use crate::fixture::apply_status;

fn oidc(client: &str) -> Value {
    json!({"type": "inline", "inline": {"issuer": "https://login.example.com", "clientId": client}})
}

/// A remote proxy that refers to the identity provider.
fn remote() -> Value {
    json!({"remoteUrl": "https://mcp.example.com", "oidcConfigRef": {"name": "shared", "audience": "a"}})
}

#[tokio::test]
async fn a_change_of_the_status_alone_has_nobody_look_who_refers_and_an_edit_has() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        secret(&space, "pulse", json!({"beat": "1"})).await?;
        stage.settle("MCPOIDCConfig", "shared", oidc("one")).await?;
        let pulse = json!([{"name": "pulse", "key": "beat"}]);
        let spec = server(json!({"oidcConfigRef": {"name": "shared", "audience": "s"}, "secrets": pulse}));
        stage.settle("MCPServer", "s", spec).await?;
        stage.operator.settle("status").await?;

        let mark = stage.operator.recorder.mark();
        let configs = stage.passes.over("MCPOIDCConfig").await?;
        let theirs = json!({"conditions": [{
            "type": "Theirs", "status": "True", "reason": "R", "message": "m",
            "lastTransitionTime": "2026-11-15T10:00:00Z",
        }]});
        let mut body = manifest("MCPOIDCConfig", "shared", Value::Null);
        body["status"] = theirs;
        body.as_object_mut().map(|fields| fields.remove("spec"));
        let changed: DynamicObject =
            apply_status(&stage.api("MCPOIDCConfig"), "shared", "judge", &body).await?;
        assert_eq!(condition(&changed, "Theirs")["status"], "True");
        // The operator has heard of it, and of something later.
        stage.passes.above("MCPOIDCConfig", configs).await?;
        stage.settle("MCPToolConfig", "later", json!({})).await?;
        let pass = Pattern::verb(Verb::Get).of("secrets").named("pulse");
        let log = stage.operator.recorder.since(mark);
        // When everything is listed anew, everything is looked at.
        if log.only(&Pattern::verb(Verb::List)).is_empty() {
            log.only(&pass).assert_empty("pass over a server");
        }
        stage.requests(mark, "MCPOIDCConfig", "shared").writes().assert_empty("write");

        let mark = stage.operator.recorder.mark();
        stage.edit("MCPOIDCConfig", "shared", json!({"inline": {"clientId": "two"}})).await?;
        stage.operator.recorder.seen(mark, &pass).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_change_of_a_servers_status_alone_has_nobody_look_at_what_it_refers_to() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPOIDCConfig", "shared", oidc("one")).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        secret(&space, "pulse", json!({"beat": "1"})).await?;
        let spec = server(json!({
            "oidcConfigRef": {"name": "shared", "audience": "s"}, "groupRef": {"name": "g"},
            "secrets": [{"name": "pulse", "key": "beat"}],
        }));
        stage.settle("MCPServer", "s", spec).await?;
        stage.referred_by("MCPOIDCConfig", "shared", "MCPServer s").await?;
        stage.operator.settle("status").await?;

        let mark = stage.operator.recorder.mark();
        let (configs, groups) =
            (stage.passes.over("MCPOIDCConfig").await?, stage.passes.over("MCPGroup").await?);
        // The server cannot be applied any more, which it says in its status, and then it can again.
        space.api::<Secret>().delete("pulse", &DeleteParams::default()).await?;
        let is_failed = |server: &DynamicObject| server.data["status"]["phase"] == "Failed";
        stage.until("MCPServer", "s", "it has failed", is_failed).await?;
        secret(&space, "pulse", json!({"beat": "1"})).await?;
        let recovered = stage.until("MCPServer", "s", "it has recovered", |server| !is_failed(server));
        recovered.await?;
        assert_eq!(stage.writes(mark, "MCPServer", "s"), ["Apply status", "Apply status"]);
        // The operator has dealt with something later.
        stage.settle("MCPToolConfig", "later", json!({})).await?;
        let recorder = &stage.operator.recorder;
        stage.passes.assert_none("MCPOIDCConfig", configs, recorder, mark).await?;
        stage.passes.assert_none("MCPGroup", groups, recorder, mark).await
    })
    .await;
}

#[tokio::test]
async fn who_refers_to_an_object_is_told_now_and_then_and_what_is_urgent_at_once() {
    const COUNT: usize = 20;
    in_namespace(async |space| {
        let stage = Stage::start_with(&space, &BTreeMap::new(), &["--status-interval", "3s"]).await?;
        stage.settle("MCPOIDCConfig", "shared", oidc("one")).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        let mark = stage.operator.recorder.mark();
        for number in 0..COUNT {
            let mut spec = remote();
            spec["groupRef"] = json!({"name": "g"});
            stage.make("MCPRemoteProxy", &format!("r-{number:02}"), spec).await?;
        }
        // An edit is told at once, with whoever is known by then.
        stage.edit("MCPOIDCConfig", "shared", json!({"inline": {"clientId": "two"}})).await?;
        let told = stage.until("MCPOIDCConfig", "shared", "it is told", |config| {
            config.data["status"]["observedGeneration"] == json!(2)
        });
        told.await?;
        assert!(stage.writes(mark, "MCPOIDCConfig", "shared").len() <= 2);

        let more = format!("; and {} more", COUNT - 10);
        let is_told = |config: &DynamicObject| {
            let message = condition(config, "Referenced")["message"].clone();
            message.as_str().is_some_and(|message| message.ends_with(&more))
        };
        stage.until("MCPOIDCConfig", "shared", "it names the count", is_told).await?;
        let has_all = |group: &DynamicObject| group.data["status"]["remoteProxyCount"] == json!(COUNT);
        stage.until("MCPGroup", "g", "it counts its members", has_all).await?;
        for (kind, name) in [("MCPOIDCConfig", "shared"), ("MCPGroup", "g")] {
            let writes = stage.writes(mark, kind, name);
            assert!((1..=3).contains(&writes.len()), "{kind}: {writes:?}");
        }

        // That it has to stay is urgent as well.
        let mark = stage.operator.recorder.mark();
        stage.delete("MCPOIDCConfig", "shared").await?;
        stage.says("MCPOIDCConfig", "shared", ("DeletionBlocked", "True"), &more).await?;
        assert_eq!(stage.writes(mark, "MCPOIDCConfig", "shared"), ["Apply status"]);
        Ok(())
    })
    .await;
}
