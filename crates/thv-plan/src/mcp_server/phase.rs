//! How a server does: its phase, and why it is not ready.

use thv_api::kinds::{MCPServerPhase, MCPServerSpec, Transport};
use thv_api::names::children::{mcp_server, service_host};
use thv_api::shared::HttpTransport;

use super::{deployment_of, replicas};
use crate::applied::Token;
use crate::health::{self, Health, Part, Phase};
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// How a server does.
pub(super) type ServerHealth = Health<MCPServerPhase>;

impl Phase for MCPServerPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

/// How many proxies are ready.
pub(super) fn ready_replicas(snapshot: &Snapshot<MCPServerSpec>) -> i32 {
    health::ready_pods(&snapshot.live.proxy_pods)
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
    let note = match proxy(snapshot, revision) {
        Ok(note) => note,
        Err(health) => return health,
    };
    match backend(snapshot, revision) {
        Ok(()) => ServerHealth::new(Ready, format!("the server runs{note}")),
        Err(health) => health,
    }
}

/// Whether the newest proxies can be called, with a note if there are fewer than there should be.
fn proxy(snapshot: &Snapshot<MCPServerSpec>, revision: &Revision) -> Result<String, ServerHealth> {
    let newest = Token { uid: snapshot.uid().to_owned(), number: revision.number }.to_string();
    let part = Part {
        what: "the proxy",
        pods: &snapshot.live.proxy_pods,
        newest: Some(&newest),
        namespace: snapshot.namespace(),
    };
    let Some(live) = deployment_of(snapshot) else { return Err(part.waits("the proxy is starting")) };
    if live.revision.as_ref() != Some(revision) {
        return Err(part.waits("the proxy is starting"));
    }
    let wanted = replicas::expected(snapshot).unwrap_or(live.replicas);
    part.judge(&live.rollout, was_ready(snapshot), "the proxy is starting")?;
    let available = live.rollout.available;
    Ok(if available < wanted {
        format!("; {available} of {wanted} proxies are ready")
    } else {
        String::new()
    })
}

/// Whether the newest backend can be called.
fn backend(snapshot: &Snapshot<MCPServerSpec>, revision: &Revision) -> Result<(), ServerHealth> {
    let live = snapshot.live.backend.as_ref().filter(|live| replicas::is_ours(live, snapshot.uid()));
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

/// Whether the server was ready before, as it is now. A new revision makes it something else first, so whatever moves the
/// generation of a workload afterwards is no rollout: somebody scales it.
fn was_ready(snapshot: &Snapshot<MCPServerSpec>) -> bool {
    snapshot.owner.status.as_ref().is_some_and(|status| {
        status.phase == Some(MCPServerPhase::Ready)
            && status.observed_generation == Some(snapshot.generation())
    })
}

/// The transport that clients use.
pub(super) fn client_transport(spec: &MCPServerSpec) -> HttpTransport {
    match spec.transport {
        Transport::Stdio => spec.proxy_mode,
        Transport::StreamableHttp => HttpTransport::StreamableHttp,
        Transport::Sse => HttpTransport::Sse,
    }
}

/// The address of a server within the cluster.
pub(super) fn url(snapshot: &Snapshot<MCPServerSpec>) -> String {
    let (name, spec) = (snapshot.name(), &snapshot.owner.spec);
    let host = service_host(&mcp_server::proxy_service(name), snapshot.namespace());
    let base = format!("http://{host}:{}", spec.proxy_port);
    match client_transport(spec) {
        HttpTransport::Sse => format!("{base}/sse#{name}"),
        HttpTransport::StreamableHttp => format!("{base}/mcp"),
    }
}
