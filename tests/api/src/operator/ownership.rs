//! Seed 003: other writers' fields survive.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::{MCPServer, MCPToolConfig};
use thv_testbed::{Fault, Moment, Pattern, Space, Verb, in_namespace, wait};

use super::{Operator, minimal};
use crate::fixture::{apply, json_of, kubectl};

const OURS: &str = "mcpserver.toolhive.stacklok.dev/finalizer";

/// The part of a server that a separate controller applies, and what `managedFields` say of it.
fn authz_and_its_owner(server: &MCPServer) -> (Value, Value) {
    let server = json_of(server);
    let entries = server["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entry = entries.into_iter().find(|entry| entry["manager"] == "authz-controller");
    (server["spec"]["authzConfig"].clone(), entry.unwrap_or_default())
}

#[tokio::test]
async fn s3_01_a_field_that_another_controller_applies_survives_everything() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let tools = json!({
            "apiVersion": MCPToolConfig::api_version_text(), "kind": "MCPToolConfig",
            "metadata": {"name": "t"}, "spec": {"toolsFilter": ["a"]},
        });
        apply(&space.api::<MCPToolConfig>(), "t", "user", &tools).await?;
        let mut spec = minimal();
        spec["toolConfigRef"] = json!({"name": "t"});
        let authz = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": "s"},
            "spec": {
                "image": "localhost/server:1",
                "authzConfig": {"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}},
            },
        });
        apply(&operator.servers(), "s", "authz-controller", &authz).await?;
        let settled = operator.server("s", spec).await?;
        assert!(settled.finalizers().contains(&OURS.to_owned()), "the finalizer was added by a write");
        let before = authz_and_its_owner(&operator.servers().get("s").await?);
        assert!(before.0.is_object() && before.1.is_object(), "{before:?}");

        // A restart request is carried out, and noted on the server.
        let restart = "2026-11-15T10:00:00Z";
        let request = json!({"metadata": {"annotations": {"mcpserver.toolhive.stacklok.dev/restarted-at": restart}}});
        operator.servers().patch("s", &PatchParams::default(), &Patch::Merge(&request)).await?;
        wait::until(&operator.servers(), "s", "the restart was noted", |server| {
            let note = server.annotations().get("mcpserver.toolhive.stacklok.dev/last-processed-restart");
            note.map(String::as_str) == Some(restart)
        })
        .await?;
        assert_eq!(authz_and_its_owner(&operator.servers().get("s").await?), before);

        // A config that it refers to changes.
        let hash = operator.servers().get("s").await?.status.unwrap().tool_config_hash;
        let filter = Patch::Merge(json!({"spec": {"toolsFilter": ["b"]}}));
        space.api::<MCPToolConfig>().patch("t", &PatchParams::default(), &filter).await?;
        wait::until(&operator.servers(), "s", "the new filter is in use", |server| {
            server.status.as_ref().is_some_and(|status| status.tool_config_hash != hash)
        })
        .await?;
        assert_eq!(authz_and_its_owner(&operator.servers().get("s").await?), before);

        // Our finalizer is removed; somebody else's keeps the object for us to look at.
        let hold = Patch::Merge(json!({"metadata": {"finalizers": [OURS, "example.com/hold"]}}));
        operator.servers().patch("s", &PatchParams::default(), &hold).await?;
        operator.servers().delete("s", &DeleteParams::default()).await?;
        let left = wait::until(&operator.servers(), "s", "only the other finalizer is left", |server| {
            server.finalizers() == ["example.com/hold"]
        })
        .await?;
        assert_eq!(authz_and_its_owner(&left), before);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_03_finalizers_of_others_survive_ours() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        // Somebody adds a finalizer between our read and our write.
        let mut breakpoint =
            operator.recorder.breakpoint(Pattern::verb(Verb::JsonPatch).of("mcpservers"), 0, Moment::Before);
        let body = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": "s"}, "spec": minimal(),
        });
        apply(&operator.servers(), "s", "user", &body).await?;
        breakpoint.hit().await?;
        let theirs = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/theirs"]}}));
        operator.servers().patch("s", &PatchParams::default(), &theirs).await?;
        breakpoint.release();
        let both = wait::until(&operator.servers(), "s", "both finalizers are there", |server| {
            server.finalizers().len() == 2
        })
        .await?;
        assert_eq!(both.finalizers(), ["example.com/theirs", OURS]);

        operator.servers().delete("s", &DeleteParams::default()).await?;
        wait::until(&operator.servers(), "s", "only theirs is left", |server| {
            server.finalizers() == ["example.com/theirs"]
        })
        .await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_05_a_conflict_leads_to_a_new_read_and_a_new_plan() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let mark = operator.recorder.mark();
        operator.recorder.fail(Pattern::verb(Verb::Apply).of("deployments"), 3, Fault::Answer(409));
        operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;

        let log = operator.recorder.since(mark);
        let applies = log.only(&Pattern::verb(Verb::Apply).of("deployments"));
        assert_eq!(applies.iter().filter(|write| write.told == Some(409)).count(), 3, "{log}");
        assert_eq!(applies.iter().filter(|write| write.told == Some(200)).count(), 1, "{log}");
        for write in applies.iter() {
            let body = write.body.as_ref().unwrap();
            assert!(
                body["metadata"]["resourceVersion"].is_string() && body["metadata"]["uid"].is_string(),
                "{body}"
            );
        }
        log.assert_no_put();
        let events = space.api::<Event>().list(&ListParams::default()).await?;
        let about = |event: &Event| event.regarding.as_ref().and_then(|object| object.kind.clone());
        assert!(events.iter().all(|event| about(event).as_deref() != Some("MCPServer")), "{events:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_08_s3_09_what_is_the_same_is_not_sent_again() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        quiet(&operator, "first").await?;
        let mark = operator.recorder.mark();
        // A label changes nothing that we render, but it starts a pass.
        let label = Patch::Merge(json!({"metadata": {"labels": {"team": "x"}}}));
        operator.servers().patch("s", &PatchParams::default(), &label).await?;
        quiet(&operator, "second").await?;
        let about_s = operator.recorder.since(mark).writes();
        let about_s: Vec<_> = about_s.iter().filter(|write| is_about(write.name.as_deref(), "s")).collect();
        assert!(about_s.is_empty(), "{about_s:?}");
        Ok(())
    })
    .await;
}

fn is_about(name: Option<&str>, server: &str) -> bool {
    let children = [
        format!("mcp-{server}-proxy"),
        format!("{server}-runconfig"),
        format!("{server}-proxy-runner"),
        format!("{server}-sa"),
    ];
    name.is_some_and(|name| name == server || children.iter().any(|child| child == name))
}

/// Everything that was due before is done when a server that is made now has settled.
async fn quiet(operator: &Operator, name: &str) -> anyhow::Result<()> {
    operator.server(name, minimal()).await.map(drop)
}

#[tokio::test]
async fn s3_10_s4_05_a_read_that_fails_stops_the_pass_says_why_and_recovers() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let before = operator.deployment("s").await?;
        let mark = operator.recorder.mark();
        operator.recorder.fail(
            Pattern::verb(Verb::Get).of("configmaps").named("rules"),
            usize::MAX,
            Fault::Answer(500),
        );
        let edit = Patch::Merge(json!({
            "spec": {"authzConfig": {"type": "configMap", "configMap": {"name": "rules"}}},
        }));
        operator.servers().patch("s", &PatchParams::default(), &edit).await?;
        wait::until(&operator.servers(), "s", "the status says what could not be read", |server| {
            let ready = json_of(server)["status"]["conditions"].as_array().cloned().unwrap_or_default();
            ready.iter().any(|condition| {
                condition["type"] == "Ready"
                    && condition["status"] == "Unknown"
                    && condition["message"].as_str().is_some_and(|text| text.contains("rules"))
            })
        })
        .await?;
        let writes = operator.recorder.since(mark).writes();
        let children: Vec<_> = writes
            .iter()
            .filter(|write| !matches!(write.resource.as_str(), "mcpservers" | "events"))
            .collect();
        assert!(children.is_empty(), "{children:?}");
        assert_eq!(operator.deployment("s").await?.metadata.generation, before.metadata.generation);

        let rules = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rules"},
            "data": {"authz.json": json!({
                "version": "1.0", "type": "cedarv1",
                "cedar": {"policies": ["permit(principal, action, resource);"], "entities_json": "[]"},
            }).to_string()},
        });
        apply(&space.api::<k8s_openapi::api::core::v1::ConfigMap>(), "rules", "user", &rules).await?;
        operator.recorder.heal();
        wait::until(&space.api::<Deployment>(), "s", "the rules reach the pods", |deployment| {
            deployment.metadata.generation > before.metadata.generation
        })
        .await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_11_a_field_that_kubectl_patched_in_stays() {
    in_namespace(async |space: Space| {
        let operator = Operator::start(&space).await?;
        let body = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": "s"}, "spec": minimal(),
        });
        kubectl(&space, &["apply"], &body).await?;
        operator.server("first", minimal()).await?;
        let patched = Patch::Merge(
            json!({"spec": {"endpointPrefix": "/team"}, "metadata": {"annotations": {"note": "x"}}}),
        );
        let by_kubectl =
            PatchParams { field_manager: Some("kubectl-patch".to_owned()), ..PatchParams::default() };
        operator.servers().patch("s", &by_kubectl, &patched).await?;
        for round in ["second", "third"] {
            operator.server(round, minimal()).await?;
            let server = operator.servers().get("s").await?;
            assert_eq!(server.spec.endpoint_prefix.as_deref(), Some("/team"));
            assert_eq!(server.annotations()["note"], "x");
        }
        Ok(())
    })
    .await;
}
