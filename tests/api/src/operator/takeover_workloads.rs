//! Embedding servers, registries and virtual servers as the Go operator leaves them.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Mark, Pattern, Space, Verb, in_namespace, wait};

use super::Operator;
use super::rules::api_of;
use super::takeover::{GO, object, strip};
use crate::crds;
use crate::fixture::{apply, json_of, managers};

/// A recorded owner, and its recorded children.
struct Recorded {
    owner: (&'static str, &'static str),
    finalizer: Option<&'static str>,
    children: &'static [(&'static str, &'static str)],
}

const EMBEDDING_SERVER: Recorded = Recorded {
    owner: ("embeddingservers", "embed"),
    finalizer: Some("embeddingserver.toolhive.stacklok.dev/finalizer"),
    children: &[("statefulsets", "embed"), ("services", "embed")],
};

const REGISTRY: Recorded = Recorded {
    owner: ("mcpregistries", "registry"),
    finalizer: Some("mcpregistry.toolhive.stacklok.dev/finalizer"),
    children: &[
        ("configmaps", "registry-registry-server-config"),
        ("serviceaccounts", "registry-registry-api"),
        ("roles", "registry-registry-api"),
        ("rolebindings", "registry-registry-api"),
        ("deployments", "registry-api"),
        ("services", "registry-api"),
    ],
};

const VIRTUAL_SERVER: Recorded = Recorded {
    owner: ("virtualmcpservers", "gateway"),
    finalizer: None,
    children: &[
        ("deployments", "gateway"),
        ("configmaps", "gateway-vmcp-config"),
        ("serviceaccounts", "gateway-vmcp"),
        ("roles", "gateway-vmcp"),
        ("rolebindings", "gateway-vmcp"),
        ("services", "vmcp-gateway"),
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
    if let Some(finalizer) = recorded.finalizer {
        let finalizer = json!({"metadata": {"finalizers": [finalizer]}});
        api.patch(name, &go(), &Patch::Merge(&finalizer)).await?;
    }
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

/// What has become of recorded objects.
struct TakenOver<T> {
    operator: Operator,
    owner: DynamicObject,
    children: Vec<DynamicObject>,
    /// What else was made.
    more: T,
}

async fn is_taken_over(space: &Space, recorded: &Recorded) -> Result<(DynamicObject, Vec<DynamicObject>)> {
    let TakenOver { owner, children, .. } = TakenOver::of(space, recorded, async |_| Ok(())).await?;
    Ok((owner, children))
}

impl<T> TakenOver<T> {
    /// Makes recorded objects and what else the owner has, and has our operator take them over.
    async fn of(
        space: &Space,
        recorded: &Recorded,
        more: impl AsyncFnOnce(&DynamicObject) -> Result<T>,
    ) -> Result<Self> {
        crds::install(space).await?;
        let (owners, old) = owner(space, recorded).await?;
        let more = more(&old).await?;
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
        let owner = owners.get(name).await?;
        Ok(Self { operator, owner, children: after, more })
    }
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

/// The Secret that the Go operator makes for a virtual server, as its documentation has it. Secrets are not recorded.
async fn hmac_secret(space: &Space, owner: &DynamicObject) -> Result<Secret> {
    let body = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": "gateway-hmac-secret",
            "labels": {
                "app.kubernetes.io/name": "virtualmcpserver", "app.kubernetes.io/instance": "gateway",
                "app.kubernetes.io/component": "session-security",
                "app.kubernetes.io/managed-by": "toolhive-operator",
            },
            "annotations": {"toolhive.stacklok.dev/purpose": "hmac-secret-for-session-token-binding"},
            "ownerReferences": [{
                "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "VirtualMCPServer", "name": "gateway",
                "uid": owner.metadata.uid, "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "stringData": {"hmac-secret": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="},
    });
    let manager = PostParams { field_manager: Some(GO.to_owned()), ..PostParams::default() };
    Ok(space.api::<Secret>().create(&manager, &serde_json::from_value(body)?).await?)
}

#[tokio::test]
async fn a_recorded_virtual_server_is_taken_over_with_one_rollout_and_its_sessions_stay_bound_as_they_are() {
    in_namespace(async |space| {
        crds::install(&space).await?;
        for name in ["redis-auth", "otel", "tools"] {
            let mut referent = object("input", name)?;
            strip(&mut referent);
            apply(&api_of(&space, &referent), name, "user", &referent).await?;
        }
        let taken =
            TakenOver::of(&space, &VIRTUAL_SERVER, async |owner| hmac_secret(&space, owner).await).await?;
        let TakenOver { operator, owner, children, more: secret } = taken;

        // Sessions that were begun under the Go operator go on: nobody has written the Secret.
        assert_eq!(space.api::<Secret>().get(&secret.name_any()).await?, secret);
        operator.recorder.log().writes().only(&Pattern::write().of("secrets")).assert_empty("write");
        assert_eq!(operator.rollouts("gateway").await?, 2);
        let deployment = json_of(&children[0]);
        assert_eq!(deployment["spec"]["replicas"], 2);
        let template = &deployment["spec"]["template"];
        assert_eq!(template["spec"]["priorityClassName"], "high");
        assert_eq!(template["metadata"]["annotations"]["sidecar.istio.io/inject"], "true");

        // What the Go operator said of a member that is none is gone, and so is its name.
        let status = owner.data["status"].to_string();
        assert!(!status.contains("DiscoveredAuthConfig-web"), "{status}");
        let writers: Vec<_> =
            owner.managed_fields().iter().filter(|entry| entry.subresource.is_some()).collect();
        assert!(
            writers.iter().all(|entry| entry.manager.as_deref() == Some("toolhive-operator")),
            "{writers:?}"
        );
        assert_eq!(
            owner.data["status"]["url"],
            json!(format!("http://vmcp-gateway.{}.svc.cluster.local:4483", space.namespace()))
        );
        Ok(())
    })
    .await;
}
