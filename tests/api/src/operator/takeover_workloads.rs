//! Embedding servers and registries as the Go operator leaves them.

use std::collections::BTreeMap;

use anyhow::Result;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Mark, Pattern, Space, Verb, in_namespace, wait};

use super::Operator;
use super::rules::api_of;
use super::takeover::{GO, object, strip};
use crate::crds;
use crate::fixture::{json_of, managers};

/// A recorded owner, and its recorded children.
struct Recorded {
    owner: (&'static str, &'static str),
    finalizer: &'static str,
    children: &'static [(&'static str, &'static str)],
}

const EMBEDDING_SERVER: Recorded = Recorded {
    owner: ("embeddingservers", "embed"),
    finalizer: "embeddingserver.toolhive.stacklok.dev/finalizer",
    children: &[("statefulsets", "embed"), ("services", "embed")],
};

const REGISTRY: Recorded = Recorded {
    owner: ("mcpregistries", "registry"),
    finalizer: "mcpregistry.toolhive.stacklok.dev/finalizer",
    children: &[
        ("configmaps", "registry-registry-server-config"),
        ("serviceaccounts", "registry-registry-api"),
        ("roles", "registry-registry-api"),
        ("rolebindings", "registry-registry-api"),
        ("deployments", "registry-api"),
        ("services", "registry-api"),
    ],
};

fn go() -> PatchParams {
    PatchParams { field_manager: Some(GO.to_owned()), ..PatchParams::default() }
}

/// The owner, made by its user and then given a finalizer and a status by the Go operator.
async fn owner(space: &Space, recorded: &Recorded) -> Result<(Api<DynamicObject>, DynamicObject)> {
    let (plural, name) = recorded.owner;
    let mut body = object(plural, name)?;
    strip(&mut body);
    let status = body["status"].take();
    body.as_object_mut().unwrap().remove("status");
    body["metadata"].as_object_mut().unwrap().remove("finalizers");
    let api = api_of(space, &body);
    let user =
        PostParams { field_manager: Some("kubectl-client-side-apply".to_owned()), ..PostParams::default() };
    api.create(&user, &serde_json::from_value(body)?).await?;
    let finalizer = json!({"metadata": {"finalizers": [recorded.finalizer]}});
    api.patch(name, &go(), &Patch::Merge(&finalizer)).await?;
    let owner = api.patch_status(name, &go(), &Patch::Merge(&json!({ "status": status }))).await?;
    Ok((api, owner))
}

/// Puts a child on the API server as the Go operator has done it, with something that an older one left there and
/// something that others have put there.
async fn child(
    space: &Space,
    owner: &DynamicObject,
    plural: &str,
    name: &str,
) -> Result<(Api<DynamicObject>, String)> {
    let mut body = object(plural, name)?;
    strip(&mut body);
    body.as_object_mut().unwrap().remove("status");
    body["metadata"]["ownerReferences"][0]["uid"] = json!(owner.metadata.uid);
    body["metadata"]["annotations"]["toolhive.stacklok.io/podtemplatespec-hash"] = json!("0123456789abcdef");
    for subject in body["subjects"].as_array_mut().into_iter().flatten() {
        subject["namespace"] = space.namespace().into();
    }
    let api = api_of(space, &body);
    let manager = PostParams { field_manager: Some(GO.to_owned()), ..PostParams::default() };
    api.create(&manager, &serde_json::from_value(body)?).await?;
    let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
    let theirs = json!({"metadata": {"labels": {"cost-centre": "7"}}});
    api.patch(name, &somebody, &Patch::Merge(&theirs)).await?;
    Ok((api, name.to_owned()))
}

async fn read(children: &[(Api<DynamicObject>, String)]) -> Result<Vec<DynamicObject>> {
    let mut all = Vec::new();
    for (api, name) in children {
        all.push(api.get(name).await?);
    }
    Ok(all)
}

/// What must not move when nothing is left to do: uid, and version or generation.
fn versions(all: &[DynamicObject]) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let version = |object: &DynamicObject| {
        let generation = object.metadata.generation.map(|count| count.to_string());
        (object.uid(), generation.or_else(|| object.resource_version()))
    };
    all.iter().map(|one| (format!("{:?} {}", one.types, one.name_any()), version(one))).collect()
}

async fn is_taken_over(space: &Space, recorded: &Recorded) -> Result<(DynamicObject, Vec<DynamicObject>)> {
    crds::install(space).await?;
    let (owners, old) = owner(space, recorded).await?;
    let mut places = Vec::new();
    for (plural, name) in recorded.children {
        places.push(child(space, &old, plural, name).await?);
    }
    let before = read(&places).await?;

    let mut operator = Operator::start(space).await?;
    let is_ours = |child: &DynamicObject| {
        let managers = managers(child);
        managers.contains(&"toolhive-operator".to_owned()) && !managers.contains(&GO.to_owned())
    };
    for (api, name) in &places {
        wait::until(api, name, "it is ours", is_ours).await?;
    }
    let (plural, name) = recorded.owner;
    let status = Pattern::verb(Verb::Apply).of(plural).subresource("status");
    operator.recorder.seen(Mark::default(), &status).await?;

    let after = read(&places).await?;
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before.uid(), after.uid());
        assert_eq!(after.annotations().get("toolhive.stacklok.io/podtemplatespec-hash"), None);
        assert_eq!(after.labels()["cost-centre"], "7");
    }
    operator.recorder.log().only(&Pattern::verb(Verb::Delete)).assert_empty("deletion");
    operator.recorder.log().assert_no_put();

    // It was one change, and none is left to make.
    let mark = operator.recorder.mark();
    operator.subject.restart().await?;
    for (plural, name) in recorded.children {
        operator.recorder.seen(mark, &Pattern::verb(Verb::Apply).of(plural).named(name).whole()).await?;
    }
    operator.outlast("restarted").await?;
    assert_eq!(versions(&after), versions(&read(&places).await?));
    Ok((owners.get(name).await?, after))
}

#[tokio::test]
async fn a_recorded_embedding_server_is_taken_over_with_its_claims() {
    in_namespace(async |space| {
        let (server, children) = is_taken_over(&space, &EMBEDDING_SERVER).await?;
        assert!(wait::has_condition(&server, "FullyApplied", "True"), "{}", server.data["status"]);
        let claim = &json_of(&children[0])["spec"]["volumeClaimTemplates"][0];
        assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "5Gi");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_recorded_registry_is_taken_over_and_its_count_is_left_to_others() {
    in_namespace(async |space| {
        let (_, children) = is_taken_over(&space, &REGISTRY).await?;
        let deployment = json_of(&children[4]);
        assert_eq!(deployment["spec"]["replicas"], 1);
        let hash: &Value =
            &deployment["spec"]["template"]["metadata"]["annotations"]["toolhive.stacklok.dev/config-hash"];
        assert_ne!(hash, "7105a95e", "it is ours");
        Ok(())
    })
    .await;
}
