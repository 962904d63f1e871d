//! Names that everyone has to spell the same way: operator, proxies, tests and documentation.

pub mod annotations;
pub mod children;
pub mod containers;
pub mod env;
pub mod field_managers;
pub mod finalizers;
pub mod labels;
pub mod sessions;
pub mod volumes;

/// The API group.
pub const GROUP: &str = "toolhive.stacklok.dev";
/// The category of all kinds: `kubectl get toolhive`.
pub const CATEGORY: &str = "toolhive";
/// The Lease that operators compete for.
pub const LEADER_ELECTION_LEASE: &str = "toolhive-operator-leader-election";

/// The port of a virtual server.
pub const VMCP_PORT: u16 = 4483;
/// The name of the port in containers and Services.
pub const HTTP_PORT_NAME: &str = "http";
