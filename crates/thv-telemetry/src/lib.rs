//! Metrics and traces, with every name in one table.

mod collector;
pub mod metrics;
mod push;
mod service;
mod telemetry;
mod trace;

pub use collector::{BadCollector, BadEndpoint, BadTrust};
pub use metrics::{Active, Connection, Fence, Finished, Gauge, Metrics, Replay};
pub use service::Service;
pub use telemetry::{Telemetry, TelemetryError};
pub use trace::{Answered, Asked, Carried, Content, Message, Trace, Tracing};
