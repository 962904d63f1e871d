//! The proxy as a pod of a cluster, with a backend and nothing to do.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use tests_fixture::{Operator, Reach, Site};
use thv_testbed::{Bed, Description, Tier, usage};

use super::residence::Residence;
use crate::bench::idle;
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

async fn measure(cluster: &Description, time: Duration) -> Result<Residence> {
    let bed = Bed::at(&cluster.file()).await?;
    let programs = built(PROXY)?;
    let programs = programs.parent().context("a program is in no folder")?;
    let site = Site::prepare(&bed, NAMESPACE, Reach::Cluster, programs).await?;
    let image = site.image(SERVER).await?;
    let redis = bed.redis(NAMESPACE).await?;
    let operator = Operator::start(&site).await?;
    let spec = idle::spec(&site.api(), &image, &redis, 8080).await?;
    operator.server(idle::NAME, spec).await?;
    tokio::time::sleep(time).await;
    Residence::of(usage::find(PROXY, &image)?)
}
