//! `cargo xtask bench operator`: many servers at once.

mod baseline;
mod convergence;
mod figures;
mod fleet;
mod render;
mod run;
mod scrape;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use thv_testbed::Tier;
use thv_testbed::usage::load;

use self::fleet::Fleet;
use super::page::Page;
use super::site::{Site, on_fresh_cluster};
use super::table::Table;
use crate::shell::{Stopwatch, say};
use crate::{product, setup};

/// How many servers there are when nobody says how many.
const SIZES: [u32; 2] = [1_000, 5_000];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Measure with this many servers only, and write no page
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    servers: Option<u32>,
    /// Measure only with servers that share configuration and groups
    #[arg(long, conflicts_with = "servers")]
    mixed: bool,
    /// How long nothing may be written afterwards. A minute and a half have a resync in them
    #[arg(long, default_value_t = 90, value_name = "SECONDS")]
    watch_seconds: u32,
    /// Only measure: do not fail if a target is missed
    #[arg(long)]
    no_targets: bool,
    #[command(flatten)]
    assets: crate::Assets,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { servers, mixed, watch_seconds, no_targets, assets } = arguments;
    let (assets, window) = (assets.assets.as_deref(), Duration::from_secs((*watch_seconds).into()));
    setup::prepare(Tier::Api, assets)?;
    product::build("thv-operator")?;
    let watch = Stopwatch::start();
    let mut tables = Vec::new();
    let plain = match (servers, mixed) {
        (Some(servers), _) => vec![*servers],
        (None, true) => Vec::new(),
        (None, false) => SIZES.to_vec(),
    };
    let mut all = Vec::new();
    if servers.is_none() {
        all.push((Some(&MIXED_PAGE), vec![Fleet::MIXED]));
    }
    let plain = plain.into_iter().map(|servers| Ok(Fleet::plain(usize::try_from(servers)?)));
    all.push((servers.is_none().then_some(&PAGE), plain.collect::<Result<_>>()?));
    for (page, fleets) in all.into_iter().filter(|(_, fleets)| !fleets.is_empty()) {
        let mut results = Vec::new();
        for fleet in fleets {
            let table = measure(fleet, window, assets).await?;
            say(&fleet.title());
            table.print();
            results.push(format!("## {}\n\n{}", fleet.title(), table.markdown("bare client", "operator")));
            tables.push(table);
        }
        if let Some(page) = page {
            page.write(&results.join("\n"))?;
        }
    }
    say(&format!("that took {}", watch.seconds()));
    if *no_targets { Ok(()) } else { tables.iter().try_for_each(Table::judge) }
}

/// Gives a fleet to a bare client, and then to the operator. Each has a cluster of its own.
async fn measure(fleet: Fleet, window: Duration, assets: Option<&Path>) -> Result<Table> {
    let before = load();
    let baseline = on_fresh_cluster(Tier::Api, assets, async |cluster| {
        baseline::measure(&Site::prepare(cluster).await?, fleet).await
    })
    .await?;
    let between = load();
    let report = on_fresh_cluster(Tier::Api, assets, async |cluster| {
        run::measure(&Site::prepare(cluster).await?, fleet, window).await
    })
    .await?;
    let mut table = figures::table(fleet, window, &baseline, &report);
    table.compare("load of the machine before and after", format!("{before} {between}"), load());
    Ok(table)
}

const PAGE: Page = Page {
    file: "docs/bench-operator.md",
    title: "The operator beside a bare client",
    command: "cargo xtask bench operator",
    method: METHOD,
};

const MIXED_PAGE: Page = Page {
    file: "docs/bench-operator-mixed.md",
    title: "The operator beside a bare client, with configuration that servers share",
    command: "cargo xtask bench operator --mixed",
    method: MIXED_METHOD,
};

const MIXED_METHOD: &str = "\
As in [bench-operator.md](bench-operator.md), with a fleet in which every server refers to one object of each of the six kinds
of configuration and to a group. There are 100 of each kind and 50 groups, and they are created first; and 50 virtual servers
of 20 members each, which are created last and are settled as servers are. The bare client writes every status once. The operator writes it again when servers begin to refer to them, at most every ten seconds.
";

const METHOD: &str = "\
The bare client has one thread, like the operator, and the operator's client library, connection settings and account. It
sends the writes that the operator sends, for as many servers at once as the operator has workers. It watches nothing, reads
nothing and remembers nothing. Each of the two gets a fresh API server, with etcd and the controllers of Kubernetes on the
same machine. Servers are created, 32 at once, while the bare client or the operator works. A server is settled when its
status is about its current generation and its Deployment is there, as a third client sees it. Pods wait for a node that never
comes.

The quiet seconds begin when every server has its pod and the operator's queue is empty, and, where the run was long, when
Kubernetes has given up on the last pod that no node takes. The operator resyncs every minute, so that they have a pass over
every server in them. Memory is what the kernel counts as resident; what is in no file is mostly the heap. Time computed is
that of the process in user mode and in the kernel.
";
