//! A CRD that is newer than the operator: fields that our types do not know are other people's.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, ValidationDirective};
use kube::core::{GroupVersionKind, TypeMeta};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_api::kinds::MCPServerSpec;
use thv_api::{Kind, names};
use thv_testbed::{Mark, Pattern, Space, Verb, in_namespace, wait};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{Operator, minimal};
use crate::fixture::{apply, json_of};

const FIELD: &str = "futureField";
const OURS: &str = "mcpserver.toolhive.stacklok.dev/finalizer";

fn api(space: &Space, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(names::GROUP, version, MCPServerSpec::KIND);
    let resource = ApiResource::from_gvk_with_plural(&kind, MCPServerSpec::PLURAL);
    Api::namespaced_with(space.client(), space.namespace(), &resource)
}

fn body(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("{}/{version}", names::GROUP), "kind": MCPServerSpec::KIND,
        "metadata": {"name": "s"}, "spec": spec,
    })
}

/// What a user wants who has read a newer documentation.
fn wish() -> Value {
    json!({"mode": "new", "list": [1, {"two": 3}]})
}

/// That, in a spec.
pub(super) fn wish_of_spec() -> Value {
    json!({FIELD: wish()})
}

/// How many tests have the field in each definition. Who comes first adds it, who leaves last removes it.
static USERS: Mutex<BTreeMap<String, usize>> = Mutex::const_new(BTreeMap::new());

/// Has a field more in every served version of the kind that `object` is of, from here to the end of the test. Returns
/// the versions.
pub(super) async fn install(space: &Space, object: &Value) -> Result<Vec<String>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(space.client());
    let kind: TypeMeta = serde_json::from_value(object.clone())?;
    let resource = ApiResource::from_gvk(&GroupVersionKind::try_from(kind)?);
    let name = format!("{}.{}", resource.plural, resource.group);
    let versions = definitions.get(&name).await?.spec.versions;
    let change = |operation: &str| -> Result<Patch<()>> {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let step = |index| {
            let path =
                format!("/spec/versions/{index}/schema/openAPIV3Schema/properties/spec/properties/{FIELD}");
            json!({"op": operation, "path": path, "value": schema})
        };
        Ok(Patch::Json(serde_json::from_value((0..versions.len()).map(step).collect())?))
    };
    let mut users = USERS.lock().await;
    let count = users.entry(name.clone()).or_default();
    if *count == 0 {
        definitions.patch(&name, &PatchParams::default(), &change("add")?).await?;
    }
    *count += 1;
    drop(users);
    let (api_of_kinds, removal) = (definitions.clone(), change("remove")?);
    space.finally(async move {
        let mut users = USERS.lock().await;
        let count = users.entry(name.clone()).or_default();
        *count -= 1;
        if *count == 0 {
            api_of_kinds.patch(&name, &PatchParams::default(), &removal).await?;
        }
        Ok(())
    });
    let versions: Vec<String> = versions.into_iter().map(|version| version.name).collect();
    for version in &versions {
        let kind = GroupVersionKind::gvk(&resource.group, version, &resource.kind);
        accepts(space, &ApiResource::from_gvk(&kind), object).await?;
    }
    Ok(versions)
}

/// Waits until the part of the API server that serves the version has learnt of the field.
async fn accepts(space: &Space, resource: &ApiResource, object: &Value) -> Result<()> {
    let strictly = PatchParams {
        dry_run: true,
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::apply("user")
    };
    let api: Api<DynamicObject> = Api::namespaced_with(space.client(), space.namespace(), resource);
    let (mut object, version) = (object.clone(), &resource.version);
    object["apiVersion"] = json!(resource.api_version);
    object["spec"][FIELD] = wish();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let asking = async {
        while let Err(error) = api.patch(name, &strictly, &Patch::Apply(&object)).await {
            anyhow::ensure!(matches!(&error, kube::Error::Api(_)), "{error}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    };
    timeout(wait::DEADLINE, asking).await.with_context(|| format!("{version} does not know {FIELD}"))?
}

/// The field, and what `managedFields` say of its owner.
async fn field_and_owner(space: &Space, version: &str) -> Result<(Value, Value)> {
    let server = json_of(&api(space, version).get("s").await?);
    let entries = server["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let owner = entries.into_iter().find(|entry| entry["manager"] == "user").unwrap_or_default();
    Ok((server["spec"][FIELD].clone(), owner["fieldsV1"]["f:spec"][format!("f:{FIELD}")].clone()))
}

#[tokio::test]
async fn s3_02_a_field_that_our_types_do_not_know_survives_everything() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let versions = install(&space, &body("v1beta1", &minimal())).await?;
        let mut spec = minimal();
        spec[FIELD] = wish();
        let newest = versions.last().context("there is no version")?;
        let made = apply(&api(&space, newest), "s", "user", &body(newest, &spec)).await?;
        assert_eq!(made.data["spec"][FIELD], wish(), "the API server keeps it");
        let untouched = async |after: &str| {
            for version in &versions {
                let (value, owner) = field_and_owner(&space, version).await?;
                assert_eq!(value, wish(), "{version}, after {after}");
                assert!(owner.is_object(), "{version}, after {after}: {owner}");
            }
            anyhow::Ok(())
        };

        // The finalizer is added, the revision noted, the status written.
        let settled = operator.settled("s", made.metadata.generation).await?;
        assert!(settled.finalizers().contains(&OURS.to_owned()));
        let own = |verb| Pattern::verb(verb).of("mcpservers").named("s");
        operator.recorder.seen(Mark::default(), &own(Verb::JsonPatch)).await?;
        operator.recorder.seen(Mark::default(), &own(Verb::MergePatch)).await?;
        operator.recorder.seen(Mark::default(), &own(Verb::Apply).subresource("status")).await?;
        untouched("the first pass").await?;

        // Other fields are changed, by somebody who does not know it either.
        operator.edit("s", json!({"spec": {"image": "localhost/server:2", "replicas": 2}})).await?;
        untouched("an edit").await?;

        // A restart is asked for, carried out and noted.
        let mark = operator.recorder.mark();
        let (asked, noted) = (
            "mcpserver.toolhive.stacklok.dev/restarted-at",
            "mcpserver.toolhive.stacklok.dev/last-processed-restart",
        );
        let time = "2026-11-15T10:00:00Z";
        operator.edit("s", json!({"metadata": {"annotations": {asked: time}}})).await?;
        wait::until(&operator.servers(), "s", "the restart was noted", |server| {
            server.annotations().get(noted).is_some_and(|value| value == time)
        })
        .await?;
        operator.recorder.seen(mark, &own(Verb::MergePatch)).await?;
        untouched("a restart").await?;

        // A change of the field alone comes to nothing, and stays.
        let before = operator.children().await?;
        let other = json!({"spec": {FIELD: {"mode": "newer"}}});
        let changed = api(&space, newest).patch("s", &PatchParams::default(), &Patch::Merge(&other)).await?;
        operator.settled("s", changed.metadata.generation).await?;
        assert_eq!(before.versions(), operator.children().await?.versions());
        let back = json!({"spec": {FIELD: {"mode": "new"}}});
        operator.edit("s", back).await?;
        let live = api(&space, newest).get("s").await?;
        assert_eq!(live.data["spec"][FIELD], wish());

        // Our finalizer is removed; somebody else's keeps the object for us to look at.
        let mark = operator.recorder.mark();
        let hold = Patch::Json::<()>(serde_json::from_value(json!([
            {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/hold"},
        ]))?);
        operator.servers().patch("s", &PatchParams::default(), &hold).await?;
        operator.servers().delete("s", &DeleteParams::default()).await?;
        wait::until(&operator.servers(), "s", "only the other finalizer is left", |server| {
            server.finalizers() == ["example.com/hold"]
        })
        .await?;
        operator.recorder.seen(mark, &own(Verb::JsonPatch)).await?;
        for version in &versions {
            assert_eq!(field_and_owner(&space, version).await?.0, wish(), "{version}, after the end");
        }
        operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}
