//! The operator: turns custom resources into workloads and an honest status.
//!
//! The only road is watch → [snapshot](loader) → plan → [converge](engine). Nothing here knows what a Deployment looks
//! like; that is in `thv-plan`.

mod bind;
mod caches;
mod clock;
mod controlled;
mod converge;
mod endpoints;
mod engine;
mod events;
mod facts;
mod fields;
mod index;
mod key;
mod leader;
mod ledger;
mod loader;
mod metrics;
mod operator;
mod options;
mod owner;
pub mod platform;
mod queue;
pub mod rbac;
mod seen;
mod shelf;
mod takeover;
mod writer;

pub use bind::Bind;
pub use endpoints::{Endpoint, Readiness};
pub use leader::Leader;
pub use metrics::Metrics;
pub use operator::Operator;
pub use options::{Environment, Options};
