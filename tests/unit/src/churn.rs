//! Sessions that are over leave nothing behind in the proxy.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use thv_testbed::mcp::{LocalProxy, McpServer, Options, churn, leave_sessions};
use thv_testbed::usage::{files, files_at_most, memory};
use thv_testbed::{Redis, SubjectBuilder, built_program};

/// After so many, everything has been used that is ever used.
const WARM_UP: usize = 1_000;
const SESSIONS: usize = 10_000;
const AT_ONCE: usize = 8;
/// By how much memory may have grown, in KiB.
const GROWTH: u64 = 2_048;
/// How long all sessions may take.
const LIMIT: Duration = Duration::from_mins(8);
/// How long the proxy may take until it has closed what its clients have closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy in front of a server.
struct Scene {
    server: McpServer,
    proxy: LocalProxy,
    /// How many files the proxy has open while it has nothing to do.
    idle_files: usize,
}

impl Scene {
    async fn start(config: Value) -> Result<Self> {
        let server = McpServer::start(Options { record: false, ..Options::default() }).await?;
        let program = SubjectBuilder::new(built_program("thv-proxyrunner")?);
        let proxy = LocalProxy::start(program, &server.url(), config).await?;
        let idle_files = files(proxy.id()?)?;
        Ok(Self { server, proxy, idle_files })
    }

    /// The memory of the proxy in KiB, and how many files it has open that are none of its own, after some work whose
    /// clients have gone.
    async fn after<T>(&self, work: impl Future<Output = Result<T>>) -> Result<(u64, usize)> {
        tokio::time::timeout(LIMIT, work).await.context("this takes too long")??;
        let id = self.proxy.id()?;
        let files = files_at_most(id, self.idle_files + AT_ONCE, PATIENCE).await?;
        Ok((memory(id)?.resident, files.saturating_sub(self.idle_files)))
    }
}

async fn leave_nothing(config: Value) -> Result<()> {
    let scene = Scene::start(config).await?;
    let url = scene.proxy.url();
    let (before, _) = scene.after(churn(&url, WARM_UP, AT_ONCE)).await?;
    let (after, files) = scene.after(churn(&url, SESSIONS, AT_ONCE)).await?;

    let counts = scene.server.counts();
    let made = u64::try_from(WARM_UP + SESSIONS)?;
    assert_eq!((counts.sessions_made, counts.sessions_deleted, counts.sessions), (made, made, 0));
    assert!(after <= before + GROWTH, "memory has grown from {before} KiB to {after} KiB");
    // Connections to the server may wait for the next requests, as many as there were at once.
    assert!(files <= AT_ONCE, "{files} files are still open");
    Ok(())
}

#[tokio::test]
async fn ten_thousand_sessions_leave_neither_memory_nor_files_behind() -> Result<()> {
    leave_nothing(json!({})).await
}

#[tokio::test]
async fn ten_thousand_sessions_in_redis_leave_neither_memory_nor_files_behind() -> Result<()> {
    let redis = Redis::start(None).await?;
    let store = json!({"address": redis.address(), "db": 0});
    leave_nothing(json!({"scaling_config": {"session_redis": store}})).await
}

/// What the tests above rest on: if sessions stayed, it would show.
#[tokio::test]
async fn sessions_that_stay_are_seen_in_memory() -> Result<()> {
    let scene = Scene::start(json!({})).await?;
    let url = scene.proxy.url();
    let (before, _) = scene.after(churn(&url, WARM_UP, AT_ONCE)).await?;
    let (after, _) = scene.after(leave_sessions(&url, SESSIONS, AT_ONCE)).await?;
    assert!(after > before + GROWTH, "{SESSIONS} sessions took only {} KiB", after.saturating_sub(before));
    Ok(())
}
