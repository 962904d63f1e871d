//! How often objects of a kind were looked at, as the operator counts it.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result};
use thv_testbed::{Mark, Pattern, Recorder, Verb, free_port, wait};
use tokio::time::timeout;

use crate::fixture::ask;

/// The port of this machine at which an operator tells.
#[derive(Clone, Copy)]
pub(super) struct Passes(u16);

impl Passes {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(free_port()?))
    }

    /// What the operator has to be told with `--metrics-bind-address`.
    pub(super) fn address(self) -> String {
        format!("127.0.0.1:{}", self.0)
    }

    /// How many passes over objects of a kind there were.
    pub(super) async fn over(self, kind: &str) -> Result<u64> {
        let (_, text) = ask(Ipv4Addr::LOCALHOST.into(), self.0, "/metrics").await?;
        let start = format!("toolhive_operator_reconciles_total{{kind=\"{kind}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.with_context(|| format!("no passes over {kind} in\n{text}"))?.parse().context("not a number")
    }

    /// Waits until there were more passes over objects of a kind than so many.
    pub(super) async fn above(self, kind: &str, count: u64) -> Result<()> {
        let asking = async {
            while self.over(kind).await? <= count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            anyhow::Ok(())
        };
        timeout(wait::DEADLINE, asking).await.with_context(|| format!("no pass over any {kind}"))?
    }

    /// Fails the test if objects of a kind were looked at since there were `count` passes over them, at `mark`.
    ///
    /// Other tests change definitions, which cuts the watches of a kind. When everything is listed anew after that,
    /// everything is looked at again, and nothing can be told.
    pub(super) async fn assert_none(
        self,
        kind: &str,
        count: u64,
        recorder: &Recorder,
        mark: Mark,
    ) -> Result<()> {
        let passes = self.over(kind).await?;
        let lists = recorder.since(mark).only(&Pattern::verb(Verb::List));
        assert!(passes == count || !lists.is_empty(), "{} passes over {kind}", passes - count);
        Ok(())
    }
}
