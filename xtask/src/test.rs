//! `cargo xtask test`: tests by tier.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tests_fixture::{Peers, install_kinds};
use thv_testbed::{Assets, Bed, Cluster, ENVIRONMENT, Leftovers, Owner};

use crate::results::{Outcome, Results};
use crate::setup;
use crate::shell::{Stopwatch, cargo, run as run_command, say};
use crate::suite::{self, Report, Suite};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// unit, api, cluster, peers or soak; anything else is a filter
    #[arg(value_name = "TIER|FILTER")]
    words: Vec<String>,
    #[command(flatten)]
    assets: crate::Assets,
}

impl Arguments {
    /// What `cargo xtask test` does with no argument.
    pub(crate) fn everything() -> Self {
        Self { words: Vec::new(), assets: crate::Assets { assets: None } }
    }
}

/// A group of tests that need the same things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tier {
    name: &'static str,
    /// The cluster that they run against.
    cluster: Option<thv_testbed::Tier>,
    /// Most tests against a cluster wait most of the time.
    tests_at_once: usize,
    /// One test program may take this long.
    limit: Duration,
    /// Whether they run when no tier is named.
    by_default: bool,
    /// Whether they need the official SDKs.
    peers: bool,
    /// The package that they are in, `tests-<this>`.
    package: &'static str,
    /// Whether they are those that are marked as ignored there, because they take long.
    ignored: bool,
}

const MINUTE: u64 = 60;
const TIERS: [Tier; 5] = [
    Tier {
        name: "unit",
        cluster: None,
        tests_at_once: 4,
        limit: Duration::from_secs(15 * MINUTE),
        by_default: true,
        peers: false,
        package: "unit",
        ignored: false,
    },
    Tier {
        name: "api",
        cluster: Some(thv_testbed::Tier::Api),
        tests_at_once: 8,
        limit: Duration::from_secs(20 * MINUTE),
        by_default: true,
        peers: false,
        package: "api",
        ignored: false,
    },
    Tier {
        name: "cluster",
        cluster: Some(thv_testbed::Tier::Full),
        tests_at_once: 4,
        limit: Duration::from_secs(30 * MINUTE),
        by_default: true,
        peers: false,
        package: "cluster",
        ignored: false,
    },
    Tier {
        name: "peers",
        cluster: Some(thv_testbed::Tier::Full),
        tests_at_once: 2,
        limit: Duration::from_secs(30 * MINUTE),
        by_default: true,
        peers: true,
        package: "peers",
        ignored: false,
    },
    Tier {
        name: "soak",
        cluster: Some(thv_testbed::Tier::Api),
        tests_at_once: 1,
        limit: Duration::from_secs(24 * 60 * MINUTE),
        by_default: false,
        peers: false,
        package: "api",
        ignored: true,
    },
];

impl Tier {
    /// Packages that belong to no other tier hold unit tests.
    fn has(self, suite: &Suite) -> bool {
        match suite.package.strip_prefix("tests-") {
            Some(name) => name == self.package,
            None => self.name == "unit",
        }
    }
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let (tiers, filters) = choose(&arguments.words);
    let suites = suite::build()?;
    let mut results = Results::load()?;
    let mut totals = Totals::default();
    for tier in tiers {
        let chosen: Vec<_> = suites.iter().filter(|suite| tier.has(suite)).collect();
        if chosen.is_empty() {
            say(&format!("{} tests: there are none yet", tier.name));
            continue;
        }
        let watch = Stopwatch::start();
        say(&format!("{} tests", tier.name));
        let reports = match tier.cluster {
            None => {
                // Some unit tests compare with Go programs.
                setup::prepare(thv_testbed::Tier::Api, arguments.assets.assets.as_deref())?;
                run_suites(tier, &chosen, &filters, &[]).await?
            }
            Some(kind) => on_cluster(tier, kind, &chosen, &filters, arguments).await?,
        };
        for (suite, report) in chosen.iter().zip(reports) {
            totals.add(suite, &report);
            let is_whole = filters.is_empty() && !tier.ignored;
            results.record(suite.name(), report.tests, is_whole);
        }
        results.save()?;
        say(&format!("{} tests took {}", tier.name, watch.seconds()));
    }
    totals.judge(&filters)
}

/// The tiers that are named, or those that run by default; every other word is a filter.
fn choose(words: &[String]) -> (Vec<Tier>, Vec<String>) {
    let is_tier = |word: &&String| TIERS.iter().any(|tier| tier.name == **word);
    let named: BTreeSet<_> = words.iter().filter(is_tier).collect();
    let filters = words.iter().filter(|word| !is_tier(word)).cloned().collect();
    let wanted = |tier: &Tier| {
        if named.is_empty() { tier.by_default } else { named.iter().any(|name| tier.name == **name) }
    };
    (TIERS.into_iter().filter(wanted).collect(), filters)
}

async fn run_suites(
    tier: Tier,
    suites: &[&Suite],
    filters: &[String],
    environment: &[(String, String)],
) -> Result<Vec<Report>> {
    let mut reports = Vec::new();
    for suite in suites {
        println!("--- {}", suite.name());
        let ignored: &[&str] = if tier.ignored { &["--ignored"] } else { &[] };
        reports.push(suite.run(filters, ignored, environment, tier.tests_at_once, tier.limit).await?);
    }
    if tier.name == "unit" {
        run_command(cargo().args(["test", "--workspace", "--doc", "--quiet", "--"]).args(filters))?;
    }
    Ok(reports)
}

/// Runs tests against a cluster of their own, and checks that they leave nothing in it.
async fn on_cluster(
    tier: Tier,
    kind: thv_testbed::Tier,
    suites: &[&Suite],
    filters: &[String],
    arguments: &Arguments,
) -> Result<Vec<Report>> {
    let folder = arguments.assets.assets.as_deref();
    setup::prepare(kind, folder)?;
    if tier.peers {
        Peers::install(&say)?;
    }
    for leftover in Leftovers::remove().await?.0 {
        say(&format!("removed {leftover}"));
    }
    let watch = Stopwatch::start();
    let mut cluster = Cluster::start(kind, Assets::find(kind, folder)?, Owner::TestRun, &say).await?;
    say(&format!("the cluster is ready after {}", watch.seconds()));
    let file = cluster.description().file();
    let environment = vec![(ENVIRONMENT.to_owned(), file.display().to_string())];

    let bed = Bed::at(&file).await?;
    // Many tests share the kinds of the API.
    install_kinds(&bed.client()).await?;
    let before = bed.inventory().await?;
    let run = tokio::select! {
        reports = run_suites(tier, suites, filters, &environment) => reports,
        death = cluster.failed() => Err(anyhow::anyhow!("the cluster broke down: {death}")),
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let mut reports = match run {
        Ok(reports) => reports,
        Err(error) => {
            cluster.stop().await?;
            return Err(error);
        }
    };
    let left = bed.settle(&before).await?;
    if !left.is_empty() {
        let failure = format!("tests left something behind in the cluster:\n  {}", left.join("\n  "));
        reports.first_mut().context("no test program was run")?.failure.get_or_insert(failure);
    }
    cluster.stop().await?;
    let left = Leftovers::remove().await?.0;
    if !left.is_empty() {
        bail!("the cluster left something behind when it was stopped: {}", left.join(", "));
    }
    Ok(reports)
}

/// What a whole run came to.
#[derive(Default)]
struct Totals {
    passed: usize,
    failed: Vec<String>,
    ignored: usize,
}

impl Totals {
    fn add(&mut self, suite: &Suite, report: &Report) {
        for (name, outcome) in &report.tests {
            match outcome {
                Outcome::Passed => self.passed += 1,
                Outcome::Failed => self.failed.push(format!("{}: {name}", suite.name())),
                Outcome::Ignored => self.ignored += 1,
            }
        }
        self.failed.extend(report.failure.clone());
    }

    fn judge(self, filters: &[String]) -> Result<()> {
        for failure in &self.failed {
            println!("failed: {failure}");
        }
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.ignored);
        if !self.failed.is_empty() {
            bail!("some tests failed");
        }
        if self.passed == 0 {
            bail!("no test was run: no name contains {}", filters.join(" or "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(words: &[&str]) -> (Vec<&'static str>, Vec<String>) {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let (tiers, filters) = choose(&words);
        (tiers.iter().map(|tier| tier.name).collect(), filters)
    }

    #[test]
    fn everything_but_soak_runs_by_default() {
        assert_eq!(chosen(&[]), (vec!["unit", "api", "cluster", "peers"], Vec::new()));
    }

    #[test]
    fn words_that_name_no_tier_are_filters() {
        assert_eq!(chosen(&["api", "f09"]), (vec!["api"], vec!["f09".to_owned()]));
        assert_eq!(chosen(&["f09"]).0.len(), 4);
    }

    #[test]
    fn soak_tests_are_those_that_api_ignores() {
        let tier = |name: &str| TIERS.into_iter().find(|tier| tier.name == name).unwrap();
        let (soak, api) = (tier("soak"), tier("api"));
        assert_eq!((soak.package, soak.cluster), (api.package, api.cluster));
        assert!(soak.ignored && !api.ignored);
    }
}
