//! The least that anybody needs: a bare client that sends what the operator sends, and does nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures::channel::mpsc;
use futures::{StreamExt, TryStreamExt};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::{annotations, finalizers};
use thv_plan::{Child, Children, Decision, Plan, References, Settings, Snapshot, mcp_server};
use thv_testbed::client_for;

use super::convergence::{Convergence, Follower};
use super::servers;
use crate::bench::site::{NAMESPACE, Site};
use crate::shell::say;

/// As many as the operator has workers.
const AT_ONCE: usize = 8;
/// The writes for a server that are not for a child: finalizer, revision, status.
const OF_ITS_OWN: usize = 3;
/// Under whose name is written.
const MANAGER: &str = "bench";

/// What a bare client needs.
pub(super) struct Baseline {
    pub(super) convergence: Convergence,
    /// How many children a server has.
    pub(super) children: usize,
    /// How many writes were sent for a server.
    pub(super) writes: usize,
}

/// Everything that is written for one server.
struct Work {
    server: MCPServer,
    revision: String,
    children: Vec<Child>,
    status: Value,
}

/// Sends the writes for `count` servers, while they are created.
pub(super) async fn measure(site: &Site, count: usize) -> Result<Baseline> {
    say(&format!("a bare client gets {count} servers"));
    let client = client_for(&site.kubeconfig).await?;
    let mut follower = Follower::start(site).await?;
    let api = site.api();
    let (sender, created) = mpsc::unbounded();
    let creating = async move {
        // Whoever receives them is there until this has ended.
        servers::create(&api, count, |server| drop(sender.unbounded_send(server))).await
    };
    let mut children = Vec::new();
    let sending = async {
        let each = async |server| send(&client, &render(server)?).await;
        children = created.map(each).buffer_unordered(AT_ONCE).try_collect().await?;
        Ok(())
    };
    let convergence = follower.converge(site, count, creating, sending).await?;
    let children = children.first().copied().unwrap_or_default();
    Ok(Baseline { convergence, children, writes: children + OF_ITS_OWN })
}

/// What the operator would make of a new server.
fn render(server: MCPServer) -> Result<Work> {
    let created = server.creation_timestamp().context("a server has no time of creation")?;
    let snapshot = Snapshot {
        owner: Arc::new(server.clone()),
        references: References::new(),
        live: mcp_server::Live::default(),
        requested: BTreeMap::new(),
        settings: Arc::new(Settings::default()),
        now: created.0,
    };
    let Plan { revision, children, status, .. } = mcp_server::plan(&snapshot);
    match (revision, children) {
        (Some(Decision::Mint(revision)), Children::Exactly(children)) => {
            Ok(Work { server, revision: revision.to_string(), children, status: json!(status) })
        }
        _ => bail!("the operator would not make anything of {}", server.name_any()),
    }
}

/// Sends the writes for one server, and returns how many children it has.
async fn send(client: &Client, work: &Work) -> Result<usize> {
    let Work { server, revision, children, status } = work;
    let name = server.name_any();
    let (version, kind) = (MCPServer::api_version_text(), "MCPServer");
    let servers = api(client, &version, kind);
    let edit = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let apply = PatchParams::apply(MANAGER).force();

    let finalizer = serde_json::from_value(json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": server.resource_version()},
        {"op": "add", "path": "/metadata/finalizers", "value": [finalizers::MCP_SERVER]},
    ]))?;
    let changed = servers.patch(&name, &edit, &Patch::<()>::Json(finalizer)).await?;
    let mark = json!({"metadata": {
        "resourceVersion": changed.resource_version(), "annotations": {annotations::REVISION: revision},
    }});
    servers.patch(&name, &edit, &Patch::Merge(&mark)).await?;
    for child in children {
        let mut body = child.body().clone();
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            // The version of nothing: the write creates, or fails.
            metadata.insert("resourceVersion".to_owned(), "1".into());
        }
        let kind = child.kind();
        api(client, kind.api_version(), kind.kind())
            .patch(child.name(), &apply, &Patch::Apply(&body))
            .await?;
    }
    let body = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "status": status});
    servers.patch_status(&name, &apply, &Patch::Apply(&body)).await?;
    Ok(children.len())
}

fn api(client: &Client, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(client.clone(), NAMESPACE, &resource)
}
