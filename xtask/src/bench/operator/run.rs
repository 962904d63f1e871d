//! A run of the operator.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use thv_testbed::usage::{Memory, computed, memory};
use thv_testbed::{Subject, free_port};

use super::convergence::{Convergence, Follower};
use super::fleet::Fleet;
use super::scrape::{Counts, scrape};
use crate::bench::site::Site;
use crate::shell::say;

/// How often the operator looks at every server again.
const RESYNC_PERIOD: &str = "60s";

/// When Kubernetes gives up on a Deployment whose pods no node takes. The operator says so once of every server, so the
/// quiet window lies before the first or after the last.
const PROGRESS_DEADLINE: Duration = Duration::from_mins(10);

/// What was seen of the operator.
pub(super) struct Report {
    pub(super) convergence: Convergence,
    /// How often servers changed their phase.
    pub(super) phases: usize,
    /// Before there was any server, when all was done, and before and after the quiet window.
    pub(super) moments: [Moment; 4],
    /// How often servers were seen to change in the quiet window.
    pub(super) stirs: usize,
}

/// The operator at one moment.
pub(super) struct Moment {
    pub(super) counts: Counts,
    pub(super) memory: Memory,
    /// The time that it has computed for.
    pub(super) computed: Duration,
}

/// Runs the operator, gives it servers, and watches.
pub(super) async fn measure(site: &Site, fleet: Fleet, window: Duration) -> Result<Report> {
    let port = free_port()?;
    let mut operator = site.operator(port)?.args(["--resync-period", RESYNC_PERIOD]).start()?;
    let result = follow(site, fleet, window, port, &operator).await;
    let result = result.map_err(|error| error.context(format!("the operator wrote:\n{}", last(&operator))));
    operator.kill().await?;
    result
}

async fn follow(
    site: &Site,
    fleet: Fleet,
    window: Duration,
    port: u16,
    operator: &Subject,
) -> Result<Report> {
    let id = operator.id().context("the operator has ended")?;
    let moment = |counts| anyhow::Ok(Moment { counts, memory: memory(id)?, computed: computed(id)? });
    let empty = moment(counts_when(port, "the operator leads", |counts| counts.leads).await?)?;

    let count = fleet.workloads();
    say(&format!("the operator gets {} servers", fleet.servers));
    let api = site.api();
    let mut follower = Follower::start(site).await?;
    // The operator works by itself.
    let convergence = follower.converge(site, count, fleet.create(site, drop), async { Ok(()) }).await?;

    let pods = site.api();
    loop_until("every server has a pod", async || Ok(pod_count(&pods).await? >= count)).await?;
    let idle = counts_when(port, "the operator is idle", |counts| counts.pending == 0).await?;
    let full = moment(idle)?;

    if convergence.settled + window > PROGRESS_DEADLINE {
        say(&format!(
            "waiting for {} s until Kubernetes has given up on all pods",
            PROGRESS_DEADLINE.as_secs()
        ));
        follower.watch_for(&api, PROGRESS_DEADLINE + window / 2).await?;
        follower.stirs = 0;
    }
    let rest = moment(counts_when(port, "the operator is idle", |counts| counts.pending == 0).await?)?;
    say(&format!("watching for {} s that nothing is written", window.as_secs()));
    follower.watch_for(&api, window).await?;
    let end = moment(scrape(port).await?)?;
    let Follower { stirs, phases, .. } = follower;
    Ok(Report { convergence, phases, moments: [empty, full, rest, end], stirs })
}

async fn pod_count(pods: &Api<Pod>) -> Result<usize> {
    let list = pods.list_metadata(&ListParams::default().limit(1)).await?;
    let more = list.metadata.remaining_item_count.unwrap_or_default();
    Ok(list.items.len() + usize::try_from(more)?)
}

/// The counters once `is_so` says yes to them.
async fn counts_when(port: u16, what: &str, is_so: impl Fn(&Counts) -> bool) -> Result<Counts> {
    let mut found = None;
    loop_until(what, async || {
        // It may not listen yet.
        found = scrape(port).await.ok().filter(|counts| is_so(counts));
        Ok(found.is_some())
    })
    .await?;
    found.with_context(|| format!("nothing shows that {what}"))
}

/// Waits until something is so. Neither metrics nor the number of pods can be watched.
async fn loop_until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    const TRIES: u32 = 1_800;
    for _ in 0..TRIES {
        if is_so().await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("waited for three minutes until {what}")
}

/// The last lines that the operator wrote.
fn last(operator: &Subject) -> String {
    let output = operator.output();
    let lines: Vec<_> = output.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}
