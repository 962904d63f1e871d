//! Objects as the Go operator leaves them.

#[path = "../../../recordings/mod.rs"]
mod recordings;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPRemoteProxy, MCPRemoteProxySpec, MCPServer, MCPServerEntry, MCPServerEntryPhase, MCPServerEntrySpec,
    MCPServerSpec,
};
use thv_api::{Kind, Object};
use thv_testbed::{Mark, Pattern, Space, Verb, in_namespace, wait};

use super::difference::{Children, places};
use super::rollout::{Birth, STAMP, replica_sets, variable};
use super::rules::api_of;
use super::{Operator, minimal, pod_annotations};
use crate::crds;
use crate::fixture::{apply, json_of, managers};

/// The field manager of the Go operator.
pub(super) const GO: &str = "thv-operator";
/// An annotation that the Go operator leaves on Deployments, and that nothing depends on any more.
const STALE: &str = "toolhive.stacklok.io/podtemplatespec-hash";

/// One recorded object.
pub(super) fn object(plural: &str, name: &str) -> Result<Value> {
    let mut all = recordings::recorded(plural).into_iter();
    let found = all.find(|object| object["metadata"]["name"] == name);
    found.with_context(|| format!("no {name} among the recorded {plural}"))
}

/// Puts an object of the Go operator on the API server, as that has done it: by a plain creation under its name.
async fn put<K>(space: &Space, owner: &impl ResourceExt, mut object: Value) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    strip(&mut object);
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    object["metadata"]["ownerReferences"][0]["uid"] = json!(owner.uid());
    for subject in object["subjects"].as_array_mut().into_iter().flatten() {
        subject["namespace"] = space.namespace().into();
    }
    let manager = PostParams { field_manager: Some(GO.to_owned()), ..PostParams::default() };
    let object: K = serde_json::from_value(object)?;
    space.api::<K>().create(&manager, &object).await?;
    Ok(())
}

/// Removes what the API server sets.
pub(super) fn strip(object: &mut Value) {
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation", "namespace"] {
        metadata.remove(field);
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for field in ["clusterIP", "clusterIPs"] {
            spec.remove(field);
        }
    }
}

/// An object, made by its user and then given a status by the Go operator.
async fn owner<S: Kind>(space: &Space, plural: &str, name: &str) -> Result<Object<S>>
where
    Object<S>: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let mut recorded = object(plural, name)?;
    strip(&mut recorded);
    let status = recorded["status"].take();
    recorded["metadata"].as_object_mut().unwrap().remove("finalizers");
    recorded.as_object_mut().unwrap().remove("status");
    recorded["apiVersion"] = Object::<S>::api_version_text().into();
    recorded["kind"] = S::KIND.into();
    let api: Api<Object<S>> = space.api();
    let user =
        PostParams { field_manager: Some("kubectl-client-side-apply".to_owned()), ..PostParams::default() };
    api.create(&user, &serde_json::from_value(recorded)?).await?;
    let go = PatchParams { field_manager: Some(GO.to_owned()), ..PatchParams::default() };
    Ok(api.patch_status(name, &go, &Patch::Merge(&json!({ "status": status }))).await?)
}

/// The server, with the finalizer of the Go operator.
async fn server(space: &Space) -> Result<MCPServer> {
    owner::<MCPServerSpec>(space, "mcpservers", "plain-stdio").await?;
    let go = PatchParams { field_manager: Some(GO.to_owned()), ..PatchParams::default() };
    let finalizer = json!({"metadata": {"finalizers": ["mcpserver.toolhive.stacklok.dev/finalizer"]}});
    Ok(space.api::<MCPServer>().patch("plain-stdio", &go, &Patch::Merge(&finalizer)).await?)
}

/// The Deployment of an operator that knew neither stamp nor variable, with something that it left there and something
/// that others have put there.
async fn deployment(space: &Space, server: &MCPServer) -> Result<()> {
    let mut recorded = object("deployments", "plain-stdio")?;
    recorded["metadata"]["annotations"] = json!({STALE: "0123456789abcdef"});
    let template = &mut recorded["spec"]["template"];
    template["metadata"]["annotations"].as_object_mut().unwrap().remove(STAMP);
    let env = template["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    env.retain(|variable| variable["name"] != "THV_MCPSERVER_GENERATION");
    env.push(json!({"name": "OF_AN_OLDER_OPERATOR", "value": "1"}));
    recorded.as_object_mut().unwrap().remove("status");
    put::<Deployment>(space, server, recorded).await?;
    let foreign = json!({
        "metadata": {"annotations": {"somebody": "else"}, "labels": {"cost-centre": "7"}},
        "spec": {"minReadySeconds": 3},
    });
    let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
    space.api::<Deployment>().patch("plain-stdio", &somebody, &Patch::Merge(&foreign)).await?;
    Ok(())
}

async fn is_taken_over(space: Space) -> Result<()> {
    crds::install(&space).await?;
    let old = server(&space).await?;
    put::<ServiceAccount>(&space, &old, object("serviceaccounts", "plain-stdio-proxy-runner")?).await?;
    put::<ServiceAccount>(&space, &old, object("serviceaccounts", "plain-stdio-sa")?).await?;
    put::<ConfigMap>(&space, &old, object("configmaps", "plain-stdio-runconfig")?).await?;
    put::<Service>(&space, &old, object("services", "mcp-plain-stdio-proxy")?).await?;
    put::<Role>(&space, &old, object("roles", "plain-stdio-proxy-runner")?).await?;
    put::<RoleBinding>(&space, &old, object("rolebindings", "plain-stdio-proxy-runner")?).await?;
    deployment(&space, &old).await?;
    let made_by_go = Children::of(&space, &old).await?;
    let uid = space.api::<Deployment>().get("plain-stdio").await?.metadata.uid;

    assert_eq!(replica_sets(&space, "plain-stdio").await?.len(), 1);

    let mut operator = Operator::start(&space).await?;
    let stamped = |deployment: &Deployment| pod_annotations(deployment).contains_key(STAMP);
    let deployments = space.api::<Deployment>();
    wait::until(&deployments, "plain-stdio", "it has a stamp", stamped).await?;
    let status = Pattern::verb(Verb::Apply).of("mcpservers").subresource("status");
    operator.recorder.seen(Mark::default(), &status).await?;

    // Stamp, variables and revision are there, on the same object.
    let deployment = operator.deployment("plain-stdio").await?;
    assert_eq!((&deployment.metadata.uid, Birth::of(&deployment).stamp), (&uid, 1));
    assert_eq!(operator.rollouts("plain-stdio").await?, 2);
    // What the Go operator left is gone, and so is its name; what is not ours is still there.
    let all = json_of(&deployment).to_string();
    assert!(!all.contains(STALE) && !all.contains("OF_AN_OLDER_OPERATOR"), "{all}");
    assert_eq!(deployment.annotations()["somebody"], "else");
    assert_eq!(deployment.labels()["cost-centre"], "7");
    assert_eq!(deployment.spec.as_ref().unwrap().min_ready_seconds, Some(3));
    let server = operator.servers().get("plain-stdio").await?;
    let children = Children::of(&space, &server).await?;
    for (child, who) in children.managers() {
        assert!(!who.contains(&GO.to_owned()), "{child}: {who:?}");
    }
    assert_eq!(writers_of_status(&server), ["toolhive-operator"], "{:?}", managers(&server));
    assert!(!made_by_go.changes(&children).is_empty());

    // It was one change, and none is left to make.
    operator.outlast("after").await?;
    let before = Children::of(&space, &server).await?;
    let mark = operator.recorder.mark();
    operator.subject.restart().await?;
    let last = Pattern::verb(Verb::Apply).of("deployments").named("plain-stdio");
    operator.recorder.seen(mark, &last).await?;
    operator.outlast("restarted").await?;
    let after = Children::of(&space, &server).await?;
    assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
    assert_eq!(operator.rollouts("plain-stdio").await?, 2);

    // What was taken over is withdrawn like anything else that is ours.
    let with = json!({"spec": {"resourceOverrides": {"proxyDeployment": {"annotations": {"team": "a"}}}}});
    operator.edit("plain-stdio", with).await?;
    operator.edit("plain-stdio", json!({"spec": {"resourceOverrides": null}})).await?;
    let deployment = operator.deployment("plain-stdio").await?;
    assert_eq!(deployment.annotations().get("team"), None);
    assert_eq!(operator.rollouts("plain-stdio").await?, 2);
    Ok(())
}

#[tokio::test]
async fn s0_09_recorded_objects_get_stamp_and_variables_with_one_rollout() {
    in_namespace(is_taken_over).await;
}

/// Who has written the status.
fn writers_of_status(object: &impl ResourceExt) -> Vec<String> {
    let entries = object.managed_fields().iter().filter(|entry| entry.subresource.is_some());
    entries.filter_map(|entry| entry.manager.clone()).collect()
}

#[tokio::test]
async fn fields_of_the_go_operator_are_taken_over_again_after_a_switch_there_and_back() {
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        operator.settle("ours").await?;
        let before = operator.children().await?;
        operator.subject.kill().await?;

        // The Go operator writes whole objects, and what it adds is its own.
        let go = PatchParams { field_manager: Some(GO.to_owned()), ..PatchParams::default() };
        let variable = json!({"name": "OF_THE_OTHER_OPERATOR", "value": "1"});
        let deployment = json!({
            "metadata": {"annotations": {STALE: "0123456789abcdef"}},
            "spec": {"template": {"spec": {"containers": [{"name": "toolhive", "env": [variable]}]}}},
        });
        space.api::<Deployment>().patch("s", &go, &Patch::Strategic(&deployment)).await?;
        let map = json!({"data": {"of-the-other": "1"}});
        space.api::<ConfigMap>().patch("s-runconfig", &go, &Patch::Merge(&map)).await?;
        let status = json!({"status": {"phase": "Failed", "message": "of the other operator"}});
        let server = operator.servers().patch_status("s", &go, &Patch::Merge(&status)).await?;
        assert_eq!(writers_of_status(&server).len(), 2);

        let mark = operator.recorder.mark();
        operator.subject.restart().await?;
        let is_ours = |server: &MCPServer| writers_of_status(server) == ["toolhive-operator"];
        wait::until(&operator.servers(), "s", "its status is ours", is_ours).await?;
        let is_ours = |deployment: &Deployment| !managers(deployment).contains(&GO.to_owned());
        wait::until(&space.api::<Deployment>(), "s", "it is ours", is_ours).await?;
        operator.settle("back").await?;
        let after = operator.children().await?;
        assert_eq!(before.changes(&after), places([]), "what the other has added is gone");
        for (child, who) in after.managers() {
            assert!(!who.contains(&GO.to_owned()), "{child}: {who:?}");
        }
        let taken = operator.recorder.since(mark).only(&Pattern::verb(Verb::JsonPatch));
        let about_it = taken.iter().filter(|patch| !patch.path.contains("probe"));
        let mut taken: Vec<_> = about_it.map(|patch| patch.resource.as_str()).collect();
        taken.sort_unstable();
        assert_eq!(taken, ["configmaps", "deployments", "mcpservers"]);
        operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}

/// What the recorded proxy and entry refer to.
async fn surroundings(space: &Space) -> Result<()> {
    for name in ["api-keys", "corp-ca", "tools", "corp-oidc"] {
        let mut object = object("input", name)?;
        strip(&mut object);
        apply(&api_of(space, &object), name, "user", &object).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_recorded_remote_proxy_and_a_recorded_entry_are_taken_over_with_one_rollout() {
    in_namespace(async |space| {
        crds::install(&space).await?;
        surroundings(&space).await?;
        let old = owner::<MCPRemoteProxySpec>(&space, "mcpremoteproxies", "saas").await?;
        owner::<MCPServerEntrySpec>(&space, "mcpserverentries", "catalog").await?;
        let account = "saas-remote-proxy-runner";
        put::<ServiceAccount>(&space, &old, object("serviceaccounts", account)?).await?;
        put::<ConfigMap>(&space, &old, object("configmaps", "saas-runconfig")?).await?;
        let service = object("services", "mcp-saas-remote-proxy")?;
        put::<Service>(&space, &old, service).await?;
        put::<Role>(&space, &old, object("roles", account)?).await?;
        put::<RoleBinding>(&space, &old, object("rolebindings", account)?).await?;
        let mut deployment = object("deployments", "saas")?;
        deployment.as_object_mut().unwrap().remove("status");
        // The Go operator writes one variable twice.
        let env = deployment["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap();
        let provider = env.iter().filter(|variable| variable["name"] == "TOOLHIVE_SECRETS_PROVIDER");
        assert_eq!(provider.count(), 2);
        put::<Deployment>(&space, &old, deployment).await?;
        let uid = space.api::<Deployment>().get("saas").await?.metadata.uid;

        let mut operator = Operator::start(&space).await?;
        let deployments = space.api::<Deployment>();
        let is_ours = |deployment: &Deployment| pod_annotations(deployment).contains_key(STAMP);
        let deployment = wait::until(&deployments, "saas", "it has a stamp", is_ours).await?;
        assert_eq!(deployment.metadata.uid, uid);
        // It fails the test if it is there twice.
        variable(&deployment, "TOOLHIVE_SECRETS_PROVIDER");
        let proxies: Api<MCPRemoteProxy> = space.api();
        let is_told = |proxy: &MCPRemoteProxy| writers_of_status(proxy) == ["toolhive-operator"];
        let proxy = wait::until(&proxies, "saas", "its status is ours", is_told).await?;
        let entries: Api<MCPServerEntry> = space.api();
        let is_told = |entry: &MCPServerEntry| writers_of_status(entry) == ["toolhive-operator"];
        let entry = wait::until(&entries, "catalog", "its status is ours", is_told).await?;
        assert_eq!(entry.status.and_then(|status| status.phase), Some(MCPServerEntryPhase::Valid));
        // Its proxy asks nothing of the API server, so its rights go.
        wait::gone(&space.api::<Role>(), account).await?;
        wait::gone(&space.api::<RoleBinding>(), account).await?;
        let children = Children::of(&space, &proxy).await?;
        let managers = children.managers();
        assert_eq!(managers.len(), 4, "{managers:?}");
        for (child, who) in managers {
            assert!(!who.contains(&GO.to_owned()), "{child}: {who:?}");
        }
        assert_eq!(operator.rollouts("saas").await?, 2);

        // It was one change, and none is left to make.
        let mark = operator.recorder.mark();
        operator.subject.restart().await?;
        let last = Pattern::verb(Verb::Apply).of("deployments").named("saas");
        operator.recorder.seen(mark, &last).await?;
        let after = Children::of(&space, &proxy).await?;
        assert_eq!(children.changes(&after), places([]));
        assert_eq!(operator.rollouts("saas").await?, 2);
        operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}
