//! Requests, one after the other on each of some connections, to two targets in turns.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::future::try_join_all;
use serde_json::json;
use thv_testbed::mcp::{Call, Client};
use thv_testbed::usage::computed;

use super::place::Target;

/// Requests that are all the same.
pub(super) struct Kind {
    pub(super) name: &'static str,
    call: Call,
    has_session: bool,
    connections: usize,
}

impl Kind {
    pub(super) fn all() -> [Self; 4] {
        let text = json!({"text": "x".repeat(150)});
        let payload = |bytes: usize| Call::legacy("payload", &json!({"bytes": bytes}), bytes);
        let kind = |name, call, has_session, connections| Self { name, call, has_session, connections };
        [
            kind("small calls in sessions", Call::legacy("echo", &text, 150), true, 32),
            kind("small calls without sessions", Call::modern("echo", &text, 150), false, 32),
            kind("results of 100 kB", payload(100_000), true, 8),
            kind("results of 1 MB", payload(1_000_000), true, 8),
        ]
    }
}

/// What was seen of one target.
pub(super) struct Figures {
    /// Microseconds for a request: the median of all rounds.
    pub(super) computed: f64,
    /// Requests per second: the median of all rounds.
    pub(super) rate: f64,
    /// Of all requests.
    pub(super) p50: Duration,
    /// Of all requests.
    pub(super) p99: Duration,
}

/// Two targets beside each other.
pub(super) struct Comparison {
    pub(super) baseline: Figures,
    pub(super) subject: Figures,
    /// How much more the second computed for a request: the median of what each round showed.
    pub(super) ratio: f64,
}

/// One round with one target.
struct Round {
    computed: f64,
    rate: f64,
}

/// Connections to one target, and what they have seen.
struct Runner<'a> {
    target: &'a Target,
    call: &'a Call,
    clients: Vec<Client>,
    rounds: Vec<Round>,
    times: Vec<Duration>,
}

impl Comparison {
    pub(super) async fn measure(
        kind: &Kind,
        baseline: &Target,
        subject: &Target,
        rounds: usize,
        time: Duration,
    ) -> Result<Self> {
        let mut baseline = Runner::connect(kind, baseline).await?;
        let mut subject = Runner::connect(kind, subject).await?;
        for runner in [&mut baseline, &mut subject] {
            runner.send(time / 2).await?;
        }
        for round in 0..rounds {
            // Whatever changes with time is to strike both.
            let mut order = [&mut baseline, &mut subject];
            if round % 2 == 1 {
                order.reverse();
            }
            for runner in order {
                runner.round(time).await?;
            }
        }
        let ratios = baseline.rounds.iter().zip(&subject.rounds).map(|(a, b)| b.computed / a.computed);
        let ratio = median(ratios).context("no round was measured")?;
        Ok(Self { baseline: baseline.figures()?, subject: subject.figures()?, ratio })
    }
}

impl<'a> Runner<'a> {
    async fn connect(kind: &'a Kind, target: &'a Target) -> Result<Self> {
        let clients = try_join_all((0..kind.connections).map(|_| async {
            let mut client = Client::connect(&target.url).await?;
            if kind.has_session {
                client.initialize().await?;
            }
            anyhow::Ok(client)
        }));
        let clients = clients.await.with_context(|| format!("cannot begin with {}", kind.name))?;
        Ok(Self { target, call: &kind.call, clients, rounds: Vec::new(), times: Vec::new() })
    }

    /// Sends for a while; how long each request took.
    async fn send(&mut self, time: Duration) -> Result<Vec<Duration>> {
        let (call, start) = (self.call, Instant::now());
        let each = self.clients.iter_mut().map(|client| async move {
            let mut times = Vec::new();
            while start.elapsed() < time {
                let sent = Instant::now();
                client.call(call).await?;
                times.push(sent.elapsed());
            }
            anyhow::Ok(times)
        });
        Ok(try_join_all(each).await?.concat())
    }

    async fn round(&mut self, time: Duration) -> Result<()> {
        let (start, before) = (Instant::now(), computed(self.target.id)?);
        let times = self.send(time).await?;
        let (took, computed) = (start.elapsed(), computed(self.target.id)?.saturating_sub(before));
        #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 requests")]
        let count = times.len() as f64;
        self.rounds
            .push(Round { computed: computed.as_secs_f64() * 1e6 / count, rate: count / took.as_secs_f64() });
        self.times.extend(times);
        Ok(())
    }

    fn figures(mut self) -> Result<Figures> {
        self.times.sort_unstable();
        let at = |share: usize| self.times.get(self.times.len() * share / 100).copied();
        let rounds = || self.rounds.iter();
        Ok(Figures {
            computed: median(rounds().map(|round| round.computed)).context("no round was measured")?,
            rate: median(rounds().map(|round| round.rate)).context("no round was measured")?,
            p50: at(50).context("no request was answered")?,
            p99: at(99).context("no request was answered")?,
        })
    }
}

/// The number in the middle.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_that_is_far_off() {
        assert_eq!(median([3.0, 1.0, 1_000.0, 2.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median(std::iter::empty()), None);
    }
}
