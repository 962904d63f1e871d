//! What the operator counts, as its metrics tell.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long the operator may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Far more than all metrics take.
const LONGEST: u64 = 1 << 20;

/// Counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Writes by verb, with those that were refused.
    pub(super) writes: BTreeMap<String, u64>,
    /// Writes that were refused.
    pub(super) refused: u64,
    /// Passes over servers.
    pub(super) passes: u64,
    /// Passes that failed, by reason.
    pub(super) errors: BTreeMap<String, u64>,
    /// Servers that wait for a pass or are in one.
    pub(super) pending: u64,
    /// Whether it works at all.
    pub(super) leads: bool,
}

impl Counts {
    /// All writes.
    pub(super) fn all_writes(&self) -> u64 {
        self.writes.values().sum()
    }

    fn read(text: &str) -> Self {
        let mut counts = Self::default();
        for (name, labels, value) in text.lines().filter_map(sample) {
            match name {
                "writes_total" => {
                    *counts.writes.entry(label(labels, "verb")).or_default() += value;
                    if label(labels, "ok") != "Yes" {
                        counts.refused += value;
                    }
                }
                "reconciles_total" => counts.passes += value,
                "reconcile_errors_total" => {
                    *counts.errors.entry(label(labels, "error")).or_default() += value;
                }
                "queue_depth" | "queue_busy" => counts.pending += value,
                "leader" => counts.leads = value == 1,
                _ => {}
            }
        }
        counts
    }
}

/// Asks the operator that serves its metrics on this port.
pub(super) async fn scrape(port: u16) -> Result<Counts> {
    let text = tokio::time::timeout(PATIENCE, get(port)).await.context("the operator does not answer")??;
    Ok(Counts::read(&text))
}

async fn get(port: u16) -> Result<String> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await?;
    socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: operator\r\nConnection: close\r\n\r\n").await?;
    let mut text = String::new();
    socket.take(LONGEST).read_to_string(&mut text).await?;
    if !text.starts_with("HTTP/1.1 200 ") {
        bail!("the operator serves no metrics: {}", text.lines().next().unwrap_or_default());
    }
    Ok(text)
}

/// The name, the labels and the value of a line that is about the operator.
fn sample(line: &str) -> Option<(&str, &str, u64)> {
    let (metric, value) = line.strip_prefix("toolhive_operator_")?.rsplit_once(' ')?;
    let (name, labels) = metric.split_once('{').unwrap_or((metric, ""));
    Some((name, labels, value.parse().ok()?))
}

fn label(labels: &str, name: &str) -> String {
    let value =
        labels.split(&['{', ',', '}'][..]).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_default().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_counted_by_verb_whether_refused_or_not() {
        let counts = Counts::read(
            "HTTP/1.1 200 OK\r\n\r\n# HELP x\n\
             toolhive_operator_writes_total{verb=\"Apply\",ok=\"Yes\"} 7\n\
             toolhive_operator_writes_total{verb=\"Apply\",ok=\"No\"} 1\n\
             toolhive_operator_writes_total{verb=\"ApplyStatus\",ok=\"Yes\"} 2\n\
             toolhive_operator_reconcile_errors_total{kind=\"MCPServer\",error=\"conflict\"} 1\n\
             toolhive_operator_reconcile_seconds_sum{kind=\"MCPServer\"} 0.5\n\
             toolhive_operator_queue_depth{kind=\"MCPServer\"} 3\n",
        );
        let writes = [("Apply".to_owned(), 8), ("ApplyStatus".to_owned(), 2)];
        assert_eq!((counts.writes.clone(), counts.refused), (writes.into(), 1));
        assert_eq!((counts.all_writes(), counts.pending), (10, 3));
        assert_eq!(counts.errors, BTreeMap::from([("conflict".to_owned(), 1)]));
    }
}
