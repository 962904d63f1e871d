//! How a server does: its phase, and why it is not ready.

use thv_api::kinds::{MCPServerPhase, MCPServerSpec, Transport};
use thv_api::names::children::{mcp_server, service_host};
use thv_api::shared::HttpTransport;

use super::replicas::is_ours;
use crate::deployed::health::{PROXIES, newest};
use crate::deployed::{replicas, was_ready};
use crate::health::{Health, Part, Phase};
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// How a server does.
pub(super) type ServerHealth = Health<MCPServerPhase>;

impl Phase for MCPServerPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

/// How a server does that nothing is wrong with: what its workloads say.
///
/// It is ready when it can be called, and for that a proxy and the backend have to be there, both of the newest
/// revision. That older pods still serve meanwhile is said, and is not the same.
pub(super) fn health(snapshot: &Snapshot<MCPServerSpec>, revision: &Revision) -> ServerHealth {
    use MCPServerPhase::{Ready, Stopped};
    if replicas::expected(snapshot) == Some(0) {
        return ServerHealth::new(Stopped, "scaled to zero: no proxy runs");
    }
    let note = match newest(snapshot, revision, PROXIES) {
        Ok(note) => note,
        Err(health) => return health,
    };
    match backend(snapshot, revision) {
        Ok(()) => ServerHealth::new(Ready, format!("the server runs{note}")),
        Err(health) => health,
    }
}

/// Whether the newest backend can be called.
fn backend(snapshot: &Snapshot<MCPServerSpec>, revision: &Revision) -> Result<(), ServerHealth> {
    let live = snapshot.live.backend.as_ref().filter(|live| is_ours(live, snapshot.uid()));
    let is_newest =
        live.and_then(|live| live.applied.as_ref()).is_some_and(|it| it.number == revision.number);
    let part = Part {
        what: "the server",
        pods: &snapshot.live.backend_pods,
        newest: live.filter(|_| is_newest).and_then(|live| live.newest.as_deref()),
        namespace: snapshot.namespace(),
    };
    let Some(live) = live else { return Err(part.waits("the proxy runs and brings the server up")) };
    if live.replicas == 0 {
        let message = "scaled to zero: the proxy runs, the server does not";
        return Err(ServerHealth::new(MCPServerPhase::Stopped, message));
    }
    if !is_newest {
        return Err(part.waits("the proxy runs and brings the server up"));
    }
    let waiting = "the proxy runs and waits for the server to become ready";
    part.judge(&live.rollout, was_ready(snapshot), waiting)
}

/// The transport that clients use.
pub(crate) fn client_transport(spec: &MCPServerSpec) -> HttpTransport {
    match spec.transport {
        Transport::Stdio => spec.proxy_mode,
        Transport::StreamableHttp => HttpTransport::StreamableHttp,
        Transport::Sse => HttpTransport::Sse,
    }
}

/// The address of a server within the cluster.
pub(crate) fn url(namespace: &str, name: &str, spec: &MCPServerSpec) -> String {
    let host = service_host(&mcp_server::proxy_service(name), namespace);
    let base = format!("http://{host}:{}", spec.proxy_port);
    match client_transport(spec) {
        HttpTransport::Sse => format!("{base}/sse#{name}"),
        HttpTransport::StreamableHttp => format!("{base}/mcp"),
    }
}
