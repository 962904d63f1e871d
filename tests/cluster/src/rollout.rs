//! Proxies that come and go while sessions are in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tests_fixture::{Operator, Site, mcp_server};
use thv_testbed::{on_cluster, wait};

use crate::client::Client;

const SESSIONS: usize = 50;
/// No more than this, whatever happens: a rollout takes a minute.
const MOST_CALLS: u64 = 100_000;

/// Calls a tool over and over until told to stop. The backend counts per session, so a session that was lost, or a call
/// that was made twice, shows.
async fn use_session(url: String, stop: Arc<AtomicBool>) -> Result<u64> {
    let client = Client::connect(&url).await?;
    let mut calls = 0;
    while !stop.load(Ordering::Relaxed) && calls < MOST_CALLS {
        calls += 1;
        let count = client.call("counter", json!({})).await.with_context(|| format!("call {calls}"))?;
        ensure!(
            count == calls.to_string(),
            "call {calls} of {} was number {count} for the backend",
            client.session()
        );
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let status = client.end().await?;
    ensure!(status.is_success(), "the session could not be ended: {status}");
    Ok(calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn rolling_the_proxies_under_load_loses_no_request_and_no_session() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let redis = space.redis().await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let more = json!({
            "replicas": 2, "sessionAffinity": "None",
            "sessionStorage": {"provider": "redis", "address": redis},
        });
        let spec = mcp_server(&image, &more);
        let server = operator.server("s", spec).await?;

        let stop = Arc::new(AtomicBool::new(false));
        let users = (0..SESSIONS).map(|_| tokio::spawn(use_session(server.url.clone(), stop.clone())));
        let users: Vec<_> = users.collect();

        let restart = json!({"spec": {"template": {"metadata": {"annotations": {
            "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z",
        }}}}});
        let deployments = site.api::<Deployment>();
        let rolled = deployments.patch("s", &PatchParams::default(), &Patch::Merge(restart)).await?;
        let done = |deployment: &Deployment| {
            deployment.status.as_ref().is_some_and(|status| {
                status.observed_generation >= rolled.metadata.generation
                    && status.updated_replicas == Some(2)
                    && status.available_replicas == Some(2)
                    && status.replicas == Some(2)
                    && status.terminating_replicas.unwrap_or(0) == 0
            })
        };
        let within = wait::DEADLINE * 3;
        wait::until_within(within, &deployments, "s", "the rollout is complete", done).await?;
        stop.store(true, Ordering::Relaxed);
        let calls: Vec<u64> = try_join_all(users).await?.into_iter().collect::<Result<_>>()?;
        ensure!(calls.iter().all(|calls| *calls > 1), "a session was hardly used: {calls:?}");
        Ok(())
    })
    .await;
}
