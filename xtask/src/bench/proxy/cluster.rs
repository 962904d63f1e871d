//! The proxy as a pod of a cluster, with a backend and nothing to do.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Api;
use serde_json::json;
use tests_fixture::{Operator, Reach, Site, apply};
use thv_api::kinds::MCPTelemetryConfig;
use thv_testbed::{Bed, Description, Tier, usage};

use super::residence::Residence;
use crate::bench::site::on_fresh_cluster;
use crate::product::{build, built};

const NAMESPACE: &str = "default";
const PROXY: &str = "thv-proxyrunner";
const SERVER: &str = "thv-mcp-server";

/// What the proxy holds after this time.
pub(super) async fn idle(assets: Option<&Path>, time: Duration) -> Result<Residence> {
    build("thv-operator")?;
    on_fresh_cluster(Tier::Full, assets, async |cluster| Box::pin(measure(cluster, time)).await).await
}

/// Runs the proxy as it runs in a cluster: sessions in Redis, metrics on, traces off.
async fn measure(cluster: &Description, time: Duration) -> Result<Residence> {
    let bed = Bed::at(&cluster.file()).await?;
    let programs = built(PROXY)?;
    let programs = programs.parent().context("a program is in no folder")?;
    let site = Site::prepare(&bed, NAMESPACE, Reach::Cluster, programs).await?;
    let image = site.image(SERVER).await?;
    let redis = bed.redis(NAMESPACE).await?;
    let telemetry: Api<MCPTelemetryConfig> = site.api();
    apply(
        &telemetry,
        &json!({
            "apiVersion": MCPTelemetryConfig::api_version_text(), "kind": "MCPTelemetryConfig",
            "metadata": {"name": "metrics"}, "spec": {"prometheus": {"enabled": true}},
        }),
    )
    .await?;
    let operator = Operator::start(&site).await?;
    let spec = json!({
        "image": image, "transport": "streamable-http", "mcpPort": 8080, "args": ["--host", "0.0.0.0"],
        "sessionStorage": {"provider": "redis", "address": redis},
        "telemetryConfigRef": {"name": "metrics"},
    });
    operator.server("idle", spec).await?;
    tokio::time::sleep(time).await;
    Residence::of(usage::find(PROXY, &image)?)
}
