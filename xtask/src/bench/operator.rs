//! `cargo xtask bench operator`: many servers at once.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use thv_testbed::{Subject, Tier, free_port};

use super::baseline::{self, Baseline};
use super::convergence::Follower;
use super::scrape::{Counts, scrape};
use super::servers;
use super::site::{Site, on_fresh_cluster};
use super::table::Table;
use crate::shell::{Stopwatch, say};
use crate::{product, setup};
use thv_testbed::usage::{Memory, computed, load, memory};

/// The operator may take this much longer than a bare client.
const RATIO: f64 = 1.5;
/// Resident memory in MiB.
const MEMORY: f64 = 60.0;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many servers
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    servers: u32,
    /// How long nothing may be written afterwards
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    watch_seconds: u32,
    /// Only measure: do not fail if a target is missed
    #[arg(long)]
    no_targets: bool,
    #[command(flatten)]
    assets: crate::Assets,
}

/// What was seen of the operator.
struct Report {
    /// Until the last server was created.
    created: Duration,
    /// Until the last server was settled.
    settled: Duration,
    /// How often servers changed their phase.
    phases: usize,
    /// Counters when all was done, and after the quiet window.
    counts: [Counts; 2],
    /// Memory before there was any server, when all was done, and after the quiet window.
    memory: [Memory; 3],
    /// Time computed at the same moments.
    computed: [Duration; 3],
    /// How often servers were seen to change in the quiet window.
    stirs: usize,
    /// How many pods there were at the end, none of which a node has taken.
    pods: usize,
    /// What the API server computed until the last server was settled.
    server_computed: Duration,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { servers, watch_seconds, no_targets, assets } = arguments;
    let (count, window) = (usize::try_from(*servers)?, Duration::from_secs((*watch_seconds).into()));
    let assets = assets.assets.as_deref();
    setup::prepare(Tier::Api, assets)?;
    product::build("thv-operator")?;
    let before = load();
    let baseline = on_fresh_cluster(Tier::Api, assets, async |cluster| {
        baseline::measure(&Site::prepare(cluster).await?, count).await
    })
    .await?;
    let between = load();
    let report = on_fresh_cluster(Tier::Api, assets, async |cluster| {
        measure(&Site::prepare(cluster).await?, count, window).await
    })
    .await?;

    let mut table = Table::default();
    fill(&mut table, *servers, window, &baseline, &report);
    table.add(
        "load of this machine at the start, in between, at the end",
        format!("{before} {between} {}", load()),
    );
    table.print();
    if *no_targets { Ok(()) } else { table.judge() }
}

/// Runs the operator, gives it servers, and watches.
async fn measure(site: &Site, count: usize, window: Duration) -> Result<Report> {
    let port = free_port()?;
    let mut operator = site.operator(port)?.start()?;
    let result = follow(site, count, window, port, &operator).await;
    let result = result.map_err(|error| error.context(format!("the operator wrote:\n{}", last(&operator))));
    operator.kill().await?;
    result
}

async fn follow(
    site: &Site,
    count: usize,
    window: Duration,
    port: u16,
    operator: &Subject,
) -> Result<Report> {
    let id = operator.id().context("the operator has ended")?;
    let moment = || anyhow::Ok((memory(id)?, computed(id)?));
    counts_when(port, "the operator leads", |counts| counts.leads).await?;
    let (memory_before, computed_before) = moment()?;

    say(&format!("the operator gets {count} servers"));
    let mut follower = Follower::start(site).await?;
    let api = site.api();
    let (watch, server_before) = (Stopwatch::start(), computed(site.api_server)?);
    let creating = async {
        servers::create(&api, count).await?;
        anyhow::Ok(watch.elapsed())
    };
    let settling = async {
        follower.settled(count).await?;
        anyhow::Ok(watch.elapsed())
    };
    let (created, settled) = tokio::try_join!(creating, settling)?;
    let server_computed = computed(site.api_server)?.saturating_sub(server_before);
    say(&format!("that took {:.1} s", settled.as_secs_f64()));
    let done = counts_when(port, "the operator is idle", |counts| counts.pending == 0).await?;
    let (memory_then, computed_then) = moment()?;

    say(&format!("watching for {} s that nothing is written", window.as_secs()));
    follower.watch_for(&api, window).await?;
    let (memory_after, computed_after) = moment()?;
    Ok(Report {
        created,
        settled,
        phases: follower.phases,
        counts: [done, scrape(port).await?],
        memory: [memory_before, memory_then, memory_after],
        computed: [computed_before, computed_then, computed_after],
        stirs: follower.stirs,
        pods: site.api::<Pod>().list_metadata(&ListParams::default()).await?.items.len(),
        server_computed,
    })
}

/// The counters once `is_so` says yes to them.
async fn counts_when(port: u16, what: &str, is_so: impl Fn(&Counts) -> bool) -> Result<Counts> {
    const TRIES: u32 = 600;
    for _ in 0..TRIES {
        match scrape(port).await {
            Ok(counts) if is_so(&counts) => return Ok(counts),
            // It may not listen yet.
            Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    bail!("waited for a minute until {what}")
}

/// The last lines that the operator wrote.
fn last(operator: &Subject) -> String {
    let output = operator.output();
    let lines: Vec<_> = output.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

#[expect(clippy::cast_precision_loss, reason = "nothing that is counted here comes near 2^52")]
fn fill(table: &mut Table, servers: u32, window: Duration, baseline: &Baseline, report: &Report) {
    let count = f64::from(servers);
    let [done, after] = &report.counts;
    let mebibytes = |kibibytes: u64| kibibytes as f64 / 1024.0;
    let per_server = |number: u64| number as f64 / count;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());

    table.add("servers", servers.to_string());
    table.add("bare client: writes per server", baseline.writes.to_string());
    table.add("bare client: time", seconds(baseline.took));
    table.add("operator: all servers created after", seconds(report.created));
    table.add("operator: all servers settled after", seconds(report.settled));
    let ratio = report.settled.as_secs_f64() / baseline.took.as_secs_f64();
    table.at_most("operator / bare client", ratio, RATIO, 2, "");

    for (verb, number) in &done.writes {
        let name = format!("{verb} per server");
        match verb.as_str() {
            "Apply" => table.at_most(&name, per_server(*number), baseline.children as f64, 3, ""),
            "ApplyStatus" => {
                table.at_most(&name, per_server(*number), per_server(report.phases as u64), 3, "");
            }
            _ => table.add(&name, format!("{:.3}", per_server(*number))),
        }
    }
    table.add("writes that were refused", done.refused.to_string());
    table.add("passes per server", format!("{:.2}", per_server(done.passes)));
    for (error, number) in &done.errors {
        table.add(&format!("passes that failed: {error}"), number.to_string());
    }

    table.add("pods that wait for a node", report.pods.to_string());
    let quiet = format!("in {} quiet seconds", window.as_secs());
    let written = after.all_writes() - done.all_writes();
    table.at_most(&format!("writes {quiet}"), written as f64, 0.0, 0, "");
    table.at_most(&format!("servers seen to change {quiet}"), report.stirs as f64, 0.0, 0, "");
    table.add(&format!("passes {quiet}"), (after.passes - done.passes).to_string());

    let [empty, full, end] = report.memory;
    table.add("resident memory before the first server", format!("{:.1} MiB", mebibytes(empty.resident)));
    table.at_most("resident memory with all servers", mebibytes(full.resident), MEMORY, 1, " MiB");
    table.at_most("resident memory at the end", mebibytes(end.resident), MEMORY, 1, " MiB");
    table.add("peak of resident memory", format!("{:.1} MiB", mebibytes(end.peak)));
    let [start, busy, idle] = report.computed;
    let computed = busy.saturating_sub(start);
    let each = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0 / count);
    table.add("computed by the operator per server", each(computed));
    table.add("computed by the API server per server", each(report.server_computed));
    table.add("the same for the bare client", each(baseline.server_computed));
    let share = idle.saturating_sub(busy).as_secs_f64() / window.as_secs_f64().max(1.0);
    table.add(&format!("share of a core {quiet}"), format!("{:.1} %", share * 100.0));
}
