//! Field managers: the names under which programs write. Two programs never share one.

/// The operator: children, finalizers and status.
pub const OPERATOR: &str = "toolhive-operator";
/// The operator, for replica counts that it parks for others to take over.
pub const HANDOFF: &str = "toolhive-operator-handoff";
/// Proxies: the StatefulSet and the Services of their backends.
pub const PROXY_RUNNER: &str = "toolhive-proxyrunner";
/// Virtual servers: their part of the status.
pub const VMCP: &str = "toolhive-vmcp";

/// The Go operator, whose fields become ours when we take its objects over.
pub const GO_OPERATOR: &str = "thv-operator";
/// The Go proxy, whose fields a proxy takes over.
pub const GO_PROXY_RUNNER: &str = "toolhive-container-manager";
