//! `MCPServer`: what it becomes.
//!
//! It is a kind with a proxy, and [`plan`] is that of all of those. Here is what it has of its own: the backend, which
//! its proxies bring up (`backend`, `pod_patch`), how that does (`phase`) and how many of it there are (`replicas`), and
//! conditions that no other kind has. `planned` has what the engine wants to know of the kind.

mod backend;
mod checks;
mod conditions;
mod live;
mod own;
mod phase;
mod planned;
mod pod_patch;
mod proxied;
mod replicas;

use std::collections::BTreeSet;

use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_config::RunConfig;

pub use self::backend::overruled_env;
pub use self::live::Live;
pub(crate) use self::phase::{client_transport, url};
pub use crate::proxied::{ConfigHashes, Resolved};

use crate::invalid::InvalidList;
use crate::plan::Plan;
use crate::proxied::Proxied as _;
use crate::reference::{Reference, References};
use crate::run_config::Wiring;
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// What is to be done about a server.
pub fn plan(snapshot: &Snapshot<MCPServerSpec>) -> Plan<MCPServerSpec> {
    crate::proxied::plan(snapshot)
}

/// Everything that a server refers to, directly or through what is known already. Called again with what was found
/// until nothing new comes.
pub fn refs(server: &MCPServer, known: &References) -> BTreeSet<Reference> {
    crate::proxied::refs(server.spec.proxy_spec(), known)
}

/// What has to be read because of the operator's settings.
pub fn settings_refs(server: &MCPServer, settings: &Settings) -> BTreeSet<Reference> {
    crate::proxied::settings_refs(server.spec.proxy_spec(), settings)
}

/// Finds out what became of everything that a server refers to.
pub fn resolve(snapshot: &Snapshot<MCPServerSpec>) -> Resolved {
    crate::proxied::resolve(snapshot)
}

/// The configuration of a server's proxy. `stamp` is the generation that it is rendered for.
///
/// There is none if anything that the server refers to cannot be used: a proxy must not run without what its user
/// asked for.
pub fn run_config(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    stamp: i64,
) -> Result<RunConfig, InvalidList> {
    crate::proxied::run_config(snapshot, resolved, stamp)
}

/// What the pod of a server's proxy needs because of what the server refers to.
pub fn wiring(resolved: &Resolved) -> Wiring {
    crate::proxied::wiring(resolved)
}
