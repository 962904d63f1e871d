//! The least that anybody needs: a bare client that sends what the operator sends, and does nothing else.

use std::collections::BTreeMap;

use anyhow::Result;
use futures::channel::mpsc;
use futures::{StreamExt, TryStreamExt};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use thv_api::names::annotations;
use thv_testbed::client_for;

use super::convergence::{Convergence, Follower};
use super::fleet::Fleet;
use super::render::{Renderer, Work};
use crate::bench::site::{NAMESPACE, Site};
use crate::shell::say;

/// As many as the operator has workers.
const AT_ONCE: usize = 8;
/// Under whose name is written.
const MANAGER: &str = "bench";

/// What a bare client needs.
pub(super) struct Baseline {
    pub(super) convergence: Convergence,
    /// How many children were applied.
    pub(super) applied: usize,
    /// How many writes were sent.
    pub(super) writes: usize,
}

/// What was sent for one object.
#[derive(Clone, Copy, Default)]
struct Sent {
    applied: usize,
    writes: usize,
}

/// Sends the writes for a fleet while it is created.
pub(super) async fn measure(site: &Site, fleet: Fleet) -> Result<Baseline> {
    say(&format!("a bare client gets {} servers", fleet.servers));
    let client = client_for(&site.kubeconfig).await?;
    let mut follower = Follower::start(site).await?;
    let renderer = Renderer::new(fleet)?;
    let (sender, created) = mpsc::unbounded();
    let creating = async move {
        // Whoever receives them is there until this has ended.
        fleet.create(site, |object| drop(sender.unbounded_send(object))).await
    };
    let mut sent: Vec<Sent> = Vec::new();
    let sending = async {
        let each = async |object: DynamicObject| send(&client, &object, renderer.render(&object)?).await;
        sent = created.map(each).buffer_unordered(AT_ONCE).try_collect().await?;
        Ok(())
    };
    let convergence = follower.converge(site, fleet.workloads(), creating, sending).await?;
    let (applied, writes) =
        sent.iter().fold((0, 0), |(applied, writes), sent| (applied + sent.applied, writes + sent.writes));
    Ok(Baseline { convergence, applied, writes })
}

/// Sends the writes for one object.
async fn send(client: &Client, object: &DynamicObject, work: Work) -> Result<Sent> {
    let Work { api_version, kind, finalizer, revision, children, status } = work;
    let name = object.name_any();
    let objects = api(client, &api_version, kind);
    let edit = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let apply = PatchParams::apply(MANAGER).force();
    let mut version = object.resource_version();
    let mut writes = 0;

    if let Some(finalizer) = finalizer {
        let add = serde_json::from_value(json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": "/metadata/finalizers", "value": [finalizer]},
        ]))?;
        version = objects.patch(&name, &edit, &Patch::<()>::Json(add)).await?.resource_version();
        writes += 1;
    }
    if let Some(revision) = revision {
        let annotations = BTreeMap::from([(annotations::REVISION, revision)]);
        let mark = json!({"metadata": {"resourceVersion": version, "annotations": annotations}});
        objects.patch(&name, &edit, &Patch::Merge(&mark)).await?;
        writes += 1;
    }
    let mut applied = 0;
    for child in &children {
        let (mut body, kind) = (child.body().clone(), child.kind());
        let objects = api(client, kind.api_version(), kind.kind());
        if let Some(random) = child.random() {
            if let Some(fields) = body.as_object_mut() {
                fields.insert("stringData".to_owned(), json!({random.key.as_str(): "made up"}));
            }
            objects.create(&PostParams::default(), &serde_json::from_value(body)?).await?;
            continue;
        }
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            // The version of nothing: the write creates, or fails.
            metadata.insert("resourceVersion".to_owned(), "1".into());
        }
        objects.patch(child.name(), &apply, &Patch::Apply(&body)).await?;
        applied += 1;
    }
    let body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "status": status});
    objects.patch_status(&name, &apply, &Patch::Apply(&body)).await?;
    Ok(Sent { applied, writes: writes + children.len() + 1 })
}

fn api(client: &Client, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(client.clone(), NAMESPACE, &resource)
}
