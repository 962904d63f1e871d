//! The numbers, handed out metric by metric to those who write them down.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::family::Family;
use super::histogram::{Distribution, Histogram};
use super::process::Process;
use super::requests::Requests;
use super::standing::{Gauge, Standing};
use super::table::Metric;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// A whole one.
    Whole(i64),
    /// One with a fraction.
    Real(f64),
    /// Many.
    Distribution(Distribution),
}

/// Labels and value of one series.
pub(crate) type Hand<'a> = &'a mut dyn FnMut(&[(&str, &str)], Value);

/// Where everything is counted.
#[derive(Debug)]
pub(crate) struct Numbers {
    server: Box<str>,
    transport: Box<str>,
    pub(super) requests: Requests,
    pub(super) open_requests: Arc<AtomicI64>,
    pub(super) open_streams: Arc<AtomicI64>,
    pub(crate) standing: Standing,
}

impl Numbers {
    pub(super) fn new(server: &str, transport: &str) -> Self {
        Self {
            server: server.into(),
            transport: transport.into(),
            requests: Requests::new(server, transport),
            open_requests: Arc::default(),
            open_streams: Arc::default(),
            standing: Standing::default(),
        }
    }

    /// Hands on every series of a metric.
    pub(crate) fn each(&self, metric: Metric, hand: Hand<'_>) {
        let standing = &self.standing;
        match metric {
            Metric::Requests => counters(&self.requests.ended, hand),
            Metric::RequestDuration => histograms(&self.requests.durations, hand),
            Metric::ActiveConnections => self.open(hand),
            Metric::OperationDuration => histograms(&self.requests.operations, hand),
            Metric::ToolCalls => counters(&self.requests.tools, hand),
            Metric::Sessions => gauge(standing.gauge(Gauge::Sessions), hand),
            Metric::InstancesReady => gauge(standing.gauge(Gauge::BackendInstancesReady), hand),
            Metric::FenceStanding => standing
                .fence()
                .for_each(|(name, present)| hand(&[("standing", name)], Value::Whole(i64::from(present)))),
            Metric::RefusedWrites => gauge(standing.gauge(Gauge::RefusedWrites), hand),
            Metric::Replays => {
                standing.replays().for_each(|(outcome, count)| hand(&[("outcome", outcome)], whole(count)));
            }
            Metric::StoreAvailable => gauge(standing.gauge(Gauge::SessionStoreAvailable), hand),
            Metric::BodyBytes => gauge(standing.gauge(Gauge::RequestBodyBytes), hand),
            Metric::SpansLost => hand(&[], counted(&standing.spans_lost)),
            Metric::Target => {
                let target = standing.target();
                let labels: Vec<_> =
                    target.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                if !labels.is_empty() {
                    hand(&labels, Value::Whole(1));
                }
            }
            Metric::Cpu => {
                if let Some(seconds) = Process::cpu() {
                    hand(&[], Value::Real(seconds));
                }
            }
            Metric::ResidentMemory => gauge(Process::resident_memory(), hand),
            Metric::VirtualMemory => gauge(Process::virtual_memory(), hand),
            Metric::OpenFiles => gauge(Process::open_files(), hand),
            Metric::MaxFiles => gauge(Process::max_files(), hand),
        }
    }

    fn open(&self, hand: Hand<'_>) {
        let (server, transport) = (("server", &*self.server), ("transport", &*self.transport));
        hand(&[server, transport], Value::Whole(self.open_requests.load(Ordering::Relaxed)));
        if &*self.transport == "sse" {
            let streams = Value::Whole(self.open_streams.load(Ordering::Relaxed));
            hand(&[server, transport, ("connection_type", "sse")], streams);
        }
    }
}

fn counters(family: &Family<AtomicU64>, hand: Hand<'_>) {
    family.each(|labels, count| hand(labels, counted(count)));
}

fn histograms(family: &Family<Histogram>, hand: Hand<'_>) {
    family.each(|labels, histogram| hand(labels, Value::Distribution(histogram.read())));
}

fn gauge(number: Option<i64>, hand: Hand<'_>) {
    if let Some(number) = number {
        hand(&[], Value::Whole(number));
    }
}

fn counted(count: &AtomicU64) -> Value {
    whole(count.load(Ordering::Relaxed))
}

fn whole(count: u64) -> Value {
    Value::Whole(i64::try_from(count).unwrap_or(i64::MAX))
}
