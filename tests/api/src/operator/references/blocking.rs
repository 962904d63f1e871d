//! What keeps an object that is being deleted, and what does not.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Api;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tests_fixture::Reach;
use thv_testbed::{Pattern, Space, Verb, in_namespace, wait};

use super::super::Program;
use super::super::program::release;
use super::super::rules::{CASES, api_of, resource_of};
use super::table::{REFERENTS, Referent};
use super::{Stage, condition, manifest, server};
use crate::fixture::apply;

const THEIRS: &str = "example.com/theirs";

/// A server that refers to a choice of tools.
fn choosing(tools: &str) -> Value {
    server(json!({"toolConfigRef": {"name": tools}}))
}

/// A remote proxy that does.
fn remote(tools: &str) -> Value {
    json!({"remoteUrl": "https://mcp.example.com", "toolConfigRef": {"name": tools}})
}

#[tokio::test]
async fn two_objects_of_one_name_and_different_kinds_are_two_things() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for Referent { kind, spec, .. } in REFERENTS {
            stage.settle(kind, "same", spec()).await?;
        }
        stage.make("MCPServer", "same", choosing("same")).await?;
        stage.referred_by("MCPToolConfig", "same", "MCPServer same").await?;
        stage.make("MCPRemoteProxy", "same", remote("same")).await?;
        stage.referred_by("MCPToolConfig", "same", "MCPRemoteProxy same; MCPServer same").await?;

        for Referent { kind, .. } in REFERENTS.into_iter().filter(|other| other.kind != "MCPToolConfig") {
            stage.referred_by(kind, "same", "").await?;
            stage.delete(kind, "same").await?;
            stage.gone(kind, "same").await?;
        }
        stage.delete("MCPToolConfig", "same").await?;
        let blocked = ("DeletionBlocked", "True");
        stage.says("MCPToolConfig", "same", blocked, "MCPRemoteProxy same; MCPServer same").await?;
        stage.edit("MCPServer", "same", json!({"toolConfigRef": null})).await?;
        stage.says("MCPToolConfig", "same", blocked, ": MCPRemoteProxy same;").await?;
        stage.delete("MCPRemoteProxy", "same").await?;
        stage.gone("MCPToolConfig", "same").await
    })
    .await;
}

#[tokio::test]
async fn objects_with_the_finalizer_of_the_other_operator_can_be_deleted() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for Referent { kind, spec, finalizer } in REFERENTS {
            let Some(finalizer) = finalizer else { continue };
            let mut object = manifest(kind, "old", spec());
            object["metadata"]["finalizers"] = json!([finalizer]);
            apply(&api_of(&space, &object), "old", "toolhive-operator", &object).await?;
            // It has what ours would have, and no more.
            let observed = |object: &DynamicObject| object.data["status"]["observedGeneration"] == json!(1);
            let object = stage.until(kind, "old", "the operator has dealt with it", observed).await?;
            assert_eq!(object.finalizers(), [finalizer]);
            let mark = stage.operator.recorder.mark();
            stage.delete(kind, "old").await?;
            stage.gone(kind, "old").await?;
            let log = stage.operator.recorder.since(mark);
            assert_eq!(stage.writes(mark, kind, "old"), ["JsonPatch"], "{kind}:\n{log}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn who_is_being_deleted_keeps_nothing() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for (kind, spec) in [("MCPServer", choosing("tools")), ("MCPRemoteProxy", remote("tools"))] {
            stage.settle("MCPToolConfig", "tools", json!({})).await?;
            stage.make(kind, "leaving", spec).await?;
            stage.referred_by("MCPToolConfig", "tools", &format!("{kind} leaving")).await?;
            let referrers = stage.api(kind);
            let mut hold = manifest(kind, "leaving", json!({}));
            hold["metadata"]["finalizers"] = json!([THEIRS]);
            apply(&referrers, "leaving", "holder", &hold).await?;
            stage.delete("MCPToolConfig", "tools").await?;
            stage
                .says("MCPToolConfig", "tools", ("DeletionBlocked", "True"), &format!("{kind} leaving"))
                .await?;

            stage.delete(kind, "leaving").await?;
            stage.gone("MCPToolConfig", "tools").await?;
            let held = stage.until(kind, "leaving", "only the other finalizer is left", |object| {
                object.finalizers() == [THEIRS]
            });
            assert!(held.await?.metadata.deletion_timestamp.is_some());
            let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
            referrers.patch("leaving", &PatchParams::default(), &none).await?;
            stage.gone(kind, "leaving").await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_reference_that_came_while_the_operator_was_away_keeps_what_it_names() {
    in_namespace(async |space| {
        let mut stage = Stage::start(&space).await?;
        for referrer in ["MCPServer", "MCPRemoteProxy"] {
            stage.settle("MCPToolConfig", referrer.to_lowercase().as_str(), json!({})).await?;
        }
        stage.operator.subject.kill().await?;
        stage.make("MCPServer", "late", choosing("mcpserver")).await?;
        stage.make("MCPRemoteProxy", "late", remote("mcpremoteproxy")).await?;
        for name in ["mcpserver", "mcpremoteproxy"] {
            stage.delete("MCPToolConfig", name).await?;
        }

        let mark = stage.operator.recorder.mark();
        stage.operator.subject.restart().await?;
        for (name, referrer) in [("mcpserver", "MCPServer"), ("mcpremoteproxy", "MCPRemoteProxy")] {
            let who = format!(": {referrer} late;");
            stage.says("MCPToolConfig", name, ("DeletionBlocked", "True"), &who).await?;
        }
        stage.calm().await?;
        for (name, referrer) in [("mcpserver", "MCPServer"), ("mcpremoteproxy", "MCPRemoteProxy")] {
            assert_eq!(stage.writes(mark, "MCPToolConfig", name), ["Apply status"], "{referrer}");
            stage.edit(referrer, "late", json!({"toolConfigRef": null})).await?;
            stage.gone("MCPToolConfig", name).await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_lets_an_object_go_is_the_event_and_nothing_else() {
    in_namespace(async |space| {
        let mut stage = Stage::start(&space).await?;
        let referrers = stage.operator.recorder.gate(Pattern::verb(Verb::Watch).of("mcpremoteproxies"));
        // A gate holds the watches that begin after it is there.
        stage.operator.subject.restart().await?;
        stage.settle("MCPToolConfig", "tools", json!({})).await?;
        stage.make("MCPRemoteProxy", "remote", remote("tools")).await?;
        stage.referred_by("MCPToolConfig", "tools", "MCPRemoteProxy remote").await?;
        stage.delete("MCPToolConfig", "tools").await?;
        stage.says("MCPToolConfig", "tools", ("DeletionBlocked", "True"), "MCPRemoteProxy remote").await?;

        // The reference is gone, and the operator has not heard of it.
        referrers.hold();
        let mark = stage.operator.recorder.mark();
        stage.edit("MCPRemoteProxy", "remote", json!({"toolConfigRef": null})).await?;
        referrers.holds_one().await?;
        stage.calm().await?;
        stage.requests(mark, "MCPToolConfig", "tools").assert_empty("request about what is kept");
        referrers.release();
        stage.gone("MCPToolConfig", "tools").await?;
        assert_eq!(stage.writes(mark, "MCPToolConfig", "tools"), ["JsonPatch"]);
        Ok(())
    })
    .await;
}

/// Makes a namespace that an operator elsewhere looks after, with rights that do not go with it.
async fn doomed_namespace(space: &Space) -> Result<String> {
    let doomed = format!("{}-doomed", space.namespace());
    let namespaces: Api<Namespace> = Api::all(space.client());
    let metadata = ObjectMeta { name: Some(doomed.clone()), ..ObjectMeta::default() };
    namespaces.create(&PostParams::default(), &Namespace { metadata, ..Namespace::default() }).await?;
    let (client, name, own) = (space.client(), doomed.clone(), space.namespace().to_owned());
    space.finally(async move {
        let (delete, namespaces) = (DeleteParams::default(), Api::<Namespace>::all(client.clone()));
        if namespaces.get_opt(&name).await?.is_some() {
            for case in CASES.iter().filter(|case| case.program == Program::Shipped) {
                release(Api::namespaced_with(client.clone(), &name, &case.resource()?)).await?;
            }
            namespaces.delete(&name, &delete).await?;
        }
        Api::<ClusterRoleBinding>::all(client.clone()).delete(&own, &delete).await?;
        Api::<ClusterRole>::all(client).delete(&own, &delete).await?;
        Ok(())
    });
    Box::pin(tests_fixture::grant(&space.client(), space.namespace(), Reach::Cluster)).await?;
    Ok(doomed)
}

#[tokio::test]
async fn a_namespace_that_is_deleted_goes_with_everything_that_refers_to_each_other_in_it() {
    in_namespace(async |space| {
        Box::pin(Program::Shipped.prepare(&space)).await?;
        let doomed = doomed_namespace(&space).await?;
        let environment = BTreeMap::from([("WATCH_NAMESPACE", doomed.as_str())]);
        let stage = Stage::start_with(&space, &environment, &[]).await?;
        let make = async |kind: &str, spec: Value| {
            let object = manifest(kind, "x", spec);
            let api: Api<DynamicObject> = Api::namespaced_with(space.client(), &doomed, &resource_of(&object));
            apply(&api, "x", "user", &object).await?;
            anyhow::Ok(api)
        };
        for Referent { kind, spec, .. } in REFERENTS {
            let objects = make(kind, spec()).await?;
            let is_known = |object: &DynamicObject| condition(object, "Referenced")["status"] == "False";
            wait::until(&objects, "x", "it is dealt with", is_known).await?;
        }
        let all = json!({
            "toolConfigRef": {"name": "x"}, "oidcConfigRef": {"name": "x", "audience": "x"},
            "telemetryConfigRef": {"name": "x"}, "authzConfigRef": {"name": "x"}, "groupRef": {"name": "x"},
            "externalAuthConfigRef": {"name": "x"},
        });
        let servers = make("MCPServer", super::with(server(all.clone()), &json!({"webhookConfigRef": {"name": "x"}}))).await?;
        make("MCPRemoteProxy", super::with(remote("x"), &all)).await?;
        let virtual_server = json!({"groupRef": {"name": "x"}, "incomingAuth": {"type": "anonymous"}, "telemetryConfigRef": {"name": "x"}});
        make("VirtualMCPServer", virtual_server).await?;
        let tools: Api<DynamicObject> =
            Api::namespaced_with(space.client(), &doomed, &resource_of(&manifest("MCPToolConfig", "x", json!({}))));
        let who = "MCPRemoteProxy x; MCPServer x";
        let is_known = |object: &DynamicObject| condition(object, "Referenced")["message"] == who;
        wait::until(&tools, "x", "both refer to it", is_known).await?;
        wait::until(&servers, "x", "it is looked after", |server| !server.finalizers().is_empty()).await?;

        let namespaces: Api<Namespace> = Api::all(space.client());
        namespaces.delete(&doomed, &DeleteParams::default()).await?;
        wait::gone(&namespaces, &doomed).await.map_err(|error| error.context(stage.tail()))
    })
    .await;
}
