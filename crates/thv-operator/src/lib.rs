//! The operator: turns custom resources into workloads and an honest status.
//!
//! The only road is watch → [snapshot] → plan → [converge]. Nothing here knows what a Deployment looks like, or what kinds
//! there are; that is in `thv-plan`, and in the table of kinds ([`Registry`]).

mod bind;
mod cache;
mod caches;
mod clock;
mod converge;
mod endpoints;
mod engine;
mod events;
mod finalize;
mod finalizer;
mod hash;
mod key;
mod last_applied;
mod leader;
mod metrics;
mod migration;
mod operator;
mod options;
mod own_writes;
mod pace;
pub mod platform;
pub mod program;
mod projection;
mod queue;
pub mod rbac;
mod reconcile;
mod registry;
mod relation;
mod report;
mod snapshot;
mod status;
mod subscriptions;
mod takeover;
mod watch;
mod write_error;
mod writer;

pub use bind::Bind;
pub use endpoints::{Endpoint, Readiness};
pub use leader::Leader;
pub use metrics::Metrics;
pub use operator::{Operator, Tuning};
pub use options::{Environment, InvalidVariable, Options};
pub use registry::Registry;
