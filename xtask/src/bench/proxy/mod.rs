//! `cargo xtask bench proxy`: the proxy beside the least that a reverse proxy does.

mod cluster;
mod load;
mod page;
mod place;
mod residence;

use std::time::Duration;

use anyhow::Result;
use thv_testbed::Tier;
use thv_testbed::usage::{load as machine_load, threads};

use self::load::{Comparison, Kind};
use self::place::Place;
use self::residence::Residence;
use super::table::Table;
use crate::setup;
use crate::shell::{Stopwatch, say};

/// The proxy may compute this much longer for a request.
const RATIO: f64 = 1.5;
/// Resident memory in MiB, with nothing to do.
const IDLE: f64 = 8.0;
/// Resident memory in MiB, with 1,000 sessions.
const WITH_SESSIONS: f64 = 32.0;
/// What an idle stream may take, in kB.
const STREAM: f64 = 24.0;
/// By how much memory may have grown after many sessions, in MiB.
const GROWTH: f64 = 2.0;

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "these are flags")]
pub(crate) struct Arguments {
    /// A first impression, in about a minute: shorter rounds, fewer sessions and streams
    #[arg(long, conflicts_with = "soak")]
    quick: bool,
    /// 100,000 sessions instead of 10,000
    #[arg(long)]
    soak: bool,
    /// Measure the pass-through against itself, to know how far two that are the same differ
    #[arg(long)]
    calibrate: bool,
    /// Measure only this
    #[arg(long)]
    only: Option<Part>,
    /// Only measure: do not fail if a target is missed
    #[arg(long)]
    no_targets: bool,
    #[command(flatten)]
    assets: crate::Assets,
}

/// A part of what is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// What requests cost
    Requests,
    /// What sessions and streams take
    Memory,
    /// What it takes to have a backend on Kubernetes
    Cluster,
}

/// How much is measured.
struct Scale {
    name: &'static str,
    rounds: usize,
    round: Duration,
    /// How long the proxy has had nothing to do when it counts as idle.
    idle: Duration,
    sessions: usize,
    streams: usize,
    /// Sessions that are made, used and deleted, after the first that do not count.
    churn: usize,
    warm_up: usize,
}

impl Scale {
    fn of(arguments: &Arguments) -> Self {
        let full = Self {
            name: "full",
            rounds: 7,
            round: Duration::from_secs(4),
            idle: Duration::from_mins(1),
            sessions: 1_000,
            streams: 4_000,
            churn: 10_000,
            warm_up: 1_000,
        };
        if arguments.quick {
            let (round, idle) = (Duration::from_secs(1), Duration::from_secs(5));
            Self { name: "quick", rounds: 3, round, idle, streams: 500, churn: 2_000, ..full }
        } else if arguments.soak {
            Self { name: "soak", churn: 100_000, ..full }
        } else {
            full
        }
    }
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let watch = Stopwatch::start();
    let scale = Scale::of(arguments);
    let assets = arguments.assets.assets.as_deref();
    setup::prepare(Tier::Full, assets)?;
    let place = Place::prepare(arguments.calibrate).await?;
    let mut table = Table::default();
    let before = machine_load();
    let wants = |part: Part| arguments.only.is_none_or(|only| only == part);
    if wants(Part::Requests) {
        requests(&place, &scale, &mut table).await?;
    }
    if wants(Part::Memory) {
        memory(&place, &scale, &mut table).await?;
    }
    if wants(Part::Cluster) && !arguments.calibrate {
        say(&format!("idle for {} s with a backend on Kubernetes", scale.idle.as_secs()));
        let idle = cluster::idle(assets, scale.idle).await?;
        table.at_most("resident memory, idle in a cluster", idle.memory, IDLE, 1, " MiB");
        table.add(OWN, mebibytes(idle.own));
    }
    table.add("load of this machine at the start and at the end", format!("{before} {}", machine_load()));
    table.print();
    say(&format!("that took {}", watch.seconds()));
    if !arguments.quick && !arguments.calibrate && arguments.only.is_none() {
        page::write(scale.name, &table)?;
    }
    if arguments.no_targets { Ok(()) } else { table.judge() }
}

/// What a request costs.
async fn requests(place: &Place, scale: &Scale, table: &mut Table) -> Result<()> {
    let (baseline, proxy) = (place.baseline().await?, place.proxy().await?);
    table.compare("threads", threads(baseline.id)?.to_string(), threads(proxy.id)?.to_string());
    for kind in Kind::all() {
        say(&format!("{}, {} rounds of {} s each", kind.name, scale.rounds, scale.round.as_secs()));
        let comparison = Comparison::measure(&kind, &baseline, &proxy, scale.rounds, scale.round).await?;
        show(table, kind.name, &comparison);
    }
    Ok(())
}

fn show(table: &mut Table, name: &str, comparison: &Comparison) {
    let Comparison { baseline, subject, ratio } = comparison;
    let micros = |time: f64| format!("{time:.1} µs");
    let millis = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1_000.0);
    let title = |what: &str| format!("{name}: {what}");
    table.compare(&title("computed per request"), micros(baseline.computed), micros(subject.computed));
    table.at_most(&title("ratio"), *ratio, RATIO, 2, "");
    let rate = |rate: f64| format!("{rate:.0}");
    table.compare(&title("requests per second"), rate(baseline.rate), rate(subject.rate));
    table.compare(&title("half of them within"), millis(baseline.p50), millis(subject.p50));
    table.compare(&title("99 of 100 within"), millis(baseline.p99), millis(subject.p99));
}

/// The rest is mostly the program itself.
const OWN: &str = "of that, in no file";

fn mebibytes(number: f64) -> String {
    format!("{number:.1} MiB")
}

/// What it takes to be there.
async fn memory(place: &Place, scale: &Scale, table: &mut Table) -> Result<()> {
    say(&format!("idle for {} s, then {} sessions", scale.idle.as_secs(), scale.sessions));
    let (baseline, proxy) = (place.baseline().await?, place.proxy().await?);
    tokio::time::sleep(scale.idle).await;
    let (there, here) = (Residence::of(baseline.id)?, Residence::of(proxy.id)?);
    table.at_most_beside("resident memory, idle", mebibytes(there.memory), here.memory, IDLE, 1, " MiB");
    table.compare(OWN, mebibytes(there.own), mebibytes(here.own));
    let _sessions = (
        residence::sessions(&baseline, scale.sessions).await?,
        residence::sessions(&proxy, scale.sessions).await?,
    );
    let (there, here) = (Residence::of(baseline.id)?, Residence::of(proxy.id)?);
    let title = format!("resident memory, {} sessions", scale.sessions);
    table.at_most_beside(&title, mebibytes(there.memory), here.memory, WITH_SESSIONS, 1, " MiB");
    drop((baseline, proxy));

    say(&format!("{} streams", scale.streams));
    let there = residence::streams(&place.baseline().await?, scale.streams).await?;
    let here = residence::streams(&place.proxy().await?, scale.streams).await?;
    let title = format!("resident memory, {} idle streams", scale.streams);
    table.compare(&title, mebibytes(there.memory), mebibytes(here.memory));
    let each = format!("{:.1} kB", there.each);
    table.at_most_beside("for each of them", each, here.each, STREAM, 1, " kB");
    let beside = format!("{:.0}", there.more_files);
    table.at_most_beside("files more than before, after them", beside, here.more_files, 0.0, 0, "");

    for (store, subject) in
        [("in memory", place.proxy_without_redis().await?), ("in Redis", place.proxy().await?)]
    {
        say(&format!("{} sessions {store}, after {} that do not count", scale.churn, scale.warm_up));
        let churn = residence::churn(&subject, scale.warm_up, scale.churn).await?;
        let title = |what: &str| format!("{} sessions {store}: {what}", scale.churn);
        let (memory, files) = (churn.after.memory - churn.before.memory, churn.more_files());
        table.add(&title("resident memory before"), mebibytes(churn.before.memory));
        table.at_most(&title("growth"), memory, GROWTH, 2, " MiB");
        table.at_most(&title("files more than before"), files, 0.0, 0, "");
    }
    Ok(())
}
