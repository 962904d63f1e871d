//! The least that anybody needs: a bare client that sends what the operator sends, and does nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::{annotations, finalizers};
use thv_plan::{Child, Children, Decision, Plan, References, Settings, Snapshot, mcp_server};
use thv_testbed::client_for;

use super::servers;
use super::site::{NAMESPACE, Site};
use crate::shell::{Stopwatch, say};
use thv_testbed::usage::computed;

/// As many as the operator has workers.
const AT_ONCE: usize = 8;
/// Under whose name is written.
const MANAGER: &str = "bench";

/// What a bare client needs.
pub(super) struct Baseline {
    pub(super) took: Duration,
    /// How many children a server has.
    pub(super) children: usize,
    /// How many writes were sent for a server.
    pub(super) writes: usize,
    /// What the API server computed for it.
    pub(super) server_computed: Duration,
}

/// Everything that is written for one server.
struct Work {
    server: MCPServer,
    revision: String,
    children: Vec<Child>,
    status: Value,
}

/// Sends the writes for `count` servers.
pub(super) async fn measure(site: &Site, count: usize) -> Result<Baseline> {
    let client = client_for(&site.kubeconfig).await?;
    let created = servers::create(&site.api(), count).await?;
    let work = created.into_iter().map(render).collect::<Result<Vec<_>>>()?;
    let children = work.first().map_or(0, |work| work.children.len());

    say(&format!("a bare client writes {count} servers with {children} children each"));
    let (watch, before) = (Stopwatch::start(), computed(site.api_server)?);
    let sent: Vec<usize> =
        stream::iter(&work).map(|work| send(&client, work)).buffer_unordered(AT_ONCE).try_collect().await?;
    let took = watch.elapsed();
    let server_computed = computed(site.api_server)?.saturating_sub(before);
    say(&format!("that took {:.1} s", took.as_secs_f64()));
    Ok(Baseline { took, children, writes: sent.first().copied().unwrap_or_default(), server_computed })
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

/// Sends the writes for one server, and returns how many those were.
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
    Ok(children.len() + 3)
}

fn api(client: &Client, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(client.clone(), NAMESPACE, &resource)
}
