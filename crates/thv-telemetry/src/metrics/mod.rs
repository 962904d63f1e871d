//! What the proxy counts.
//!
//! The numbers stand here once. Prometheus fetches them as text, and they are pushed by OTLP if that is configured.

mod exposition;
mod family;
mod histogram;
mod label;
mod numbers;
mod process;
mod requests;
mod standing;
pub mod table;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use prometheus_client::registry::Registry;

pub use self::exposition::CONTENT_TYPE;
pub(crate) use self::histogram::{BOUNDS, Distribution};
pub(crate) use self::numbers::{Numbers, Value};
pub use self::requests::Finished;
pub(crate) use self::requests::{known_version, network_transport};
pub use self::standing::{Fence, Gauge, Replay};

/// What a client has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A request and its answer, however long that streams.
    Request,
    /// The stream of the older transport, at `/sse`. It counts as a request that succeeded when it opens.
    Stream,
}

/// Everything that the proxy counts.
#[derive(Debug)]
pub struct Metrics {
    numbers: Arc<Numbers>,
    registry: Registry,
}

impl Metrics {
    /// All of them, at zero.
    pub fn new(server: &str, transport: &str) -> Self {
        let numbers = Arc::new(Numbers::new(server, transport));
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Arc::clone(&numbers)));
        Self { numbers, registry }
    }

    /// Says what the service is. For `target_info`; the last call counts.
    pub fn describe<'a>(&self, attributes: impl IntoIterator<Item = (&'a str, &'a str)>) {
        // Two names can become one for Prometheus, which refuses everything if a label is there twice.
        let labels: BTreeMap<String, String> = attributes
            .into_iter()
            .map(|(name, value)| (exposition::legal_name(name), value.to_owned()))
            .collect();
        self.numbers.standing.describe(labels);
    }

    /// A client opened something. It is open until what is returned is dropped.
    pub fn request_started(&self, connection: Connection) -> Active {
        let open = match connection {
            Connection::Request => &self.numbers.open_requests,
            Connection::Stream => {
                self.numbers.requests.stream();
                &self.numbers.open_streams
            }
        };
        Active::new(open)
    }

    /// A request ended.
    pub fn finished(&self, finished: &Finished<'_>) {
        self.numbers.requests.count(finished);
    }

    /// Has a gauge read whenever somebody wants to know, so that nobody has to keep it up to date.
    /// One that is never observed is not shown. The last call counts.
    pub fn observe(&self, gauge: Gauge, read: impl Fn() -> i64 + Send + Sync + 'static) {
        self.numbers.standing.observe(gauge, Box::new(read));
    }

    /// Has the standing of the fence read whenever somebody wants to know.
    pub fn observe_fence(&self, read: impl Fn() -> Fence + Send + Sync + 'static) {
        self.numbers.standing.observe_fence(Box::new(read));
    }

    /// A lost backend session was, or was not, made anew.
    pub fn replayed(&self, outcome: Replay) {
        self.numbers.standing.replayed(outcome);
    }

    /// The numbers themselves, for those who send them elsewhere.
    pub(crate) fn numbers(&self) -> &Arc<Numbers> {
        &self.numbers
    }
}

/// Something that a client has open. Dropping it closes it.
#[derive(Debug)]
#[must_use = "it counts as closed when this is dropped"]
pub struct Active {
    open: Arc<AtomicI64>,
}

impl Active {
    fn new(open: &Arc<AtomicI64>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self { open: Arc::clone(open) }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}
