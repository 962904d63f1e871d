//! The proxy with a backend on Kubernetes, and nothing to do: what it takes in a cluster, where it also keeps up with
//! its backend over TLS.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde_json::json;
use thv_api::kinds::MCPServer;
use thv_api::names::{annotations, env};
use thv_testbed::mcp::LocalProxy;
use thv_testbed::wait;

use super::place::{Place, Seat, seated};
use super::residence::Residence;
use crate::bench::site::{NAMESPACE, Site, on_fresh_cluster};

const NAME: &str = "idle";

/// What the proxy holds after this time.
pub(super) async fn idle(place: &Place, assets: Option<&Path>, time: Duration) -> Result<Residence> {
    on_fresh_cluster(assets, async |site| Box::pin(measure(place, site, time)).await).await
}

async fn measure(place: &Place, site: &Site, time: Duration) -> Result<Residence> {
    let revision = json!({annotations::REVISION: "1/digest"});
    let server: MCPServer = serde_json::from_value(json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
        "metadata": {"name": NAME, "annotations": revision},
        "spec": {"image": "idle:1", "transport": "streamable-http"},
    }))?;
    let servers: Api<MCPServer> = site.api();
    let uid = servers.create(&PostParams::default(), &server).await?.uid().context("a server has no uid")?;
    let mut config = place.config()?;
    if let Some(config) = config.as_object_mut() {
        config.extend([
            ("name".to_owned(), NAME.into()),
            ("base_name".to_owned(), NAME.into()),
            ("container_name".to_owned(), NAME.into()),
            ("target_port".to_owned(), 8080.into()),
            ("mcpserver_generation".to_owned(), 1.into()),
        ]);
    }
    let builder = seated(Seat::Subject, "thv-proxyrunner")?
        .env("KUBECONFIG", &site.kubeconfig)
        .env(env::POD_NAMESPACE, NAMESPACE)
        .env(env::RUNTIME, "kubernetes")
        .env(env::MCP_SERVER_GENERATION, "1")
        .env(env::MCP_SERVER_REVISION, format!("{uid}/1"));
    let proxy = LocalProxy::start_with(builder, config).await?;
    let backends: Api<StatefulSet> = site.api();
    wait::until(&backends, NAME, "the proxy has made its backend", |_| true).await?;
    tokio::time::sleep(time).await;
    Residence::of(proxy.id()?)
}
