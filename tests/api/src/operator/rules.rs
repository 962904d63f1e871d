//! The rules for everything: fixed point, exclusivity, withdrawal.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{Pattern, Space, Verb, in_namespace, wait};

use super::difference::{Places, changes};
use super::{Operator, minimal};
use crate::fixture::{json_of, replicas};

/// The children of all servers in the namespace: kind and name, uid, generation, and resourceVersion where only we
/// write (the controllers of Kubernetes write the status of a Deployment).
async fn children(
    space: &Space,
) -> anyhow::Result<BTreeMap<String, (Option<String>, Option<i64>, Option<String>)>> {
    let mut found = BTreeMap::new();
    let kinds = [
        ApiResource::erase::<ConfigMap>(&()),
        ApiResource::erase::<Deployment>(&()),
        ApiResource::erase::<Role>(&()),
        ApiResource::erase::<RoleBinding>(&()),
        ApiResource::erase::<Service>(&()),
        ApiResource::erase::<ServiceAccount>(&()),
    ];
    for kind in kinds {
        let api: Api<DynamicObject> = Api::namespaced_with(space.client(), space.namespace(), &kind);
        for object in api.list(&ListParams::default()).await?.items {
            let is_ours = object.owner_references().iter().any(|owner| owner.kind == "MCPServer");
            if is_ours {
                let version = object.resource_version().filter(|_| kind.kind != "Deployment");
                found.insert(
                    format!("{} {}", kind.kind, object.name_any()),
                    (object.uid(), object.metadata.generation, version),
                );
            }
        }
    }
    Ok(found)
}

#[tokio::test]
async fn g1_fixed_point_over_pokes_restarts_and_changes_of_leader() {
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        operator.server("s", full()).await?;
        operator.server("probe-1", minimal()).await?;
        let before = children(&space).await?;
        let of_s = before.keys().filter(|name| name.contains(" s") || name.contains("mcp-s-proxy")).count();
        assert!(of_s >= 8, "{before:?}");

        // A foreign label starts a pass. (A foreign annotation moves the generation of a Deployment, fact F17.)
        let mark = operator.recorder.mark();
        let poke = Patch::Merge(json!({"metadata": {"labels": {"poke": "1"}}}));
        space.api::<Deployment>().patch("s", &PatchParams::default(), &poke).await?;
        operator.servers().patch("s", &PatchParams::default(), &poke).await?;
        operator.server("probe-2", minimal()).await?;
        let writes = operator.recorder.since(mark).writes();
        let about_s: Vec<_> = writes.iter().filter(|write| write.name.as_deref() == Some("s")).collect();
        assert!(about_s.is_empty(), "{about_s:?}");

        let server = operator.servers().get("s").await?;
        // A new operator applies each child once, and nothing moves.
        let mark = operator.recorder.mark();
        operator.subject.restart().await?;
        operator.recorder.seen(mark, &Pattern::verb(Verb::Apply).of("deployments").named("s")).await?;
        operator.server("probe-3", minimal()).await?;
        let after = children(&space).await?;
        for (name, version) in &before {
            assert_eq!(after.get(name), Some(version), "{name}");
        }
        let writes = operator.recorder.since(mark).writes();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for write in
            writes.iter().filter(|write| !write.name.as_deref().is_some_and(|name| name.contains("probe")))
        {
            assert!(write.verb == Verb::Apply && write.subresource.is_none(), "{write}");
            *counts
                .entry(format!("{} {}", write.resource, write.name.clone().unwrap_or_default()))
                .or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        let now = operator.servers().get("s").await?;
        assert_eq!(now.metadata.generation, server.metadata.generation);
        assert_eq!(json_of(&now)["status"], json_of(&server)["status"]);
        Ok(())
    })
    .await;
}

/// A spec with something of everything that needs no other object.
fn full() -> Value {
    json!({
        "image": "localhost/server:1", "transport": "streamable-http", "mcpPort": 9000, "args": ["--x"],
        "env": [{"name": "A", "value": "1"}],
        "resources": {"limits": {"cpu": "1", "memory": "128Mi"}},
        "resourceOverrides": {
            "proxyDeployment": {
                "annotations": {"team": "x"}, "labels": {"tier": "y"},
                "podTemplateMetadataOverrides": {"annotations": {"vault.hashicorp.com/agent-inject": "true"}},
                "env": [{"name": "HTTP_PROXY", "value": "http://proxy"}],
                "imagePullSecrets": [{"name": "pull"}],
            },
            "proxyService": {"annotations": {"cloud": "z"}},
        },
        "authzConfig": {"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}},
        "audit": {"enabled": true},
        "podTemplateSpec": {"spec": {"nodeSelector": {"disk": "ssd"}}},
    })
}

#[tokio::test]
async fn g3_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", full()).await?;
        let deployments = space.api::<Deployment>();
        // Somebody scales, labels, annotates, injects a sidecar; a controller adds a finalizer and a condition.
        let scale = Patch::Merge(json!({"spec": {"replicas": 3}}));
        deployments.patch_scale("s", &PatchParams::default(), &scale).await?;
        let inject = Patch::Strategic(json!({
            "metadata": {"labels": {"theirs": "1"}, "annotations": {"example.com/theirs": "1"}},
            "spec": {"template": {
                "metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-11-15T10:00:00Z"}},
                "spec": {"containers": [{"name": "sidecar", "image": "localhost/sidecar:1"}]},
            }},
        }));
        deployments.patch("s", &PatchParams::default(), &inject).await?;
        let service =
            Patch::Merge(json!({"metadata": {"annotations": {"cloud.google.com/neg-status": "{}"}}}));
        space.api::<Service>().patch("mcp-s-proxy", &PatchParams::default(), &service).await?;
        let finalizer = Patch::Json::<()>(serde_json::from_value(json!([
            {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/theirs"},
        ]))?);
        operator.servers().patch("s", &PatchParams::default(), &finalizer).await?;
        let condition = json!({
            "apiVersion": thv_api::kinds::MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": "s"},
            "status": {"conditions": [{
                "type": "Theirs", "status": "True", "reason": "R", "message": "m",
                "lastTransitionTime": "2026-11-15T10:00:00Z",
            }]},
        });
        crate::fixture::apply_status(&operator.servers(), "s", "theirs", &condition).await?;

        // Now the user changes the image, which makes us write everything again.
        operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        operator.server("probe", minimal()).await?;
        let deployment = deployments.get("s").await?;
        assert_eq!(replicas(&deployment), 3);
        assert_eq!(deployment.labels()["theirs"], "1");
        assert_eq!(deployment.annotations()["example.com/theirs"], "1");
        let template = deployment.spec.unwrap().template;
        assert!(
            template.metadata.unwrap().annotations.unwrap().contains_key("kubectl.kubernetes.io/restartedAt")
        );
        let containers: Vec<_> =
            template.spec.unwrap().containers.into_iter().map(|container| container.name).collect();
        assert!(containers.contains(&"sidecar".to_owned()), "{containers:?}");
        let service = space.api::<Service>().get("mcp-s-proxy").await?;
        assert_eq!(service.annotations()["cloud.google.com/neg-status"], "{}");
        let server = operator.servers().get("s").await?;
        assert!(server.finalizers().contains(&"example.com/theirs".to_owned()));
        let conditions = server.status.unwrap().conditions.unwrap();
        assert!(conditions.iter().any(|condition| condition.type_ == "Theirs"), "{conditions:?}");

        let mark = operator.recorder.mark();
        operator.server("probe-2", minimal()).await?;
        let writes = operator.recorder.since(mark).writes();
        let loops: Vec<_> = writes.iter().filter(|write| write.name.as_deref() == Some("s")).collect();
        assert!(loops.is_empty(), "{loops:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn g4_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("plain", minimal()).await?;
        let plain = rendered(&operator, "plain").await?;
        operator.server("fancy", full()).await?;
        assert_ne!(changes(&plain, &rendered(&operator, "fancy").await?), Places::new());
        wait::until(&space.api::<ConfigMap>(), "fancy-authz-inline", "it exists", |_| true).await?;

        // Everything that was there is taken back, and what is left is what a plain server has.
        let mut withdrawn = json!({"spec": minimal()});
        for key in full().as_object().unwrap().keys() {
            if minimal().get(key).is_none() {
                withdrawn["spec"][key] = Value::Null;
            }
        }
        operator.edit("fancy", withdrawn).await?;
        wait::gone(&space.api::<ConfigMap>(), "fancy-authz-inline").await?;
        assert_eq!(changes(&plain, &rendered(&operator, "fancy").await?), Places::new());
        Ok(())
    })
    .await;
}

/// What is there for a server, with its name and everything that differs between any two servers taken out.
async fn rendered(operator: &Operator, name: &str) -> anyhow::Result<Value> {
    let deployment = operator.deployment(name).await?;
    let mut value = json!({
        "labels": deployment.labels(), "annotations": deployment.annotations(), "spec": deployment.spec,
    });
    value["annotations"]["deployment.kubernetes.io/revision"] = Value::Null;
    value["annotations"]["toolhive.stacklok.dev/revision"] = Value::Null;
    let annotations = &mut value["spec"]["template"]["metadata"]["annotations"];
    for key in ["toolhive.stacklok.dev/runconfig-checksum", "toolhive.stacklok.dev/mcpserver-generation"] {
        annotations[key] = Value::Null;
    }
    for variable in
        value["spec"]["template"]["spec"]["containers"][0]["env"].as_array_mut().into_iter().flatten()
    {
        if variable["name"] == "THV_MCPSERVER_REVISION" {
            variable["value"] = Value::Null;
        }
    }
    Ok(serde_json::from_str(
        &value.to_string().replace(&format!("\"{name}\""), "\"NAME\"").replace(&format!("{name}-"), "NAME-"),
    )?)
}
