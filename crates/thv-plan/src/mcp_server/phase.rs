//! Where a server stands.

use thv_api::kinds::{MCPServerPhase, MCPServerSpec, Transport};
use thv_api::names::children::{mcp_server, service_host};
use thv_api::shared::HttpTransport;

use super::replicas;
use crate::live::PodHealth;
use crate::snapshot::Snapshot;

/// A phase, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) phase: MCPServerPhase,
    pub(super) message: String,
}

impl Standing {
    pub(super) fn new(phase: MCPServerPhase, message: impl Into<String>) -> Self {
        Self { phase, message: message.into() }
    }
}

/// How many proxies are ready.
pub(super) fn ready_replicas(snapshot: &Snapshot<MCPServerSpec>) -> i32 {
    let ready = snapshot.live.pods.iter().filter(|pod| pod.health == PodHealth::Running).count();
    i32::try_from(ready).unwrap_or(i32::MAX)
}

/// Where a server stands that nothing is wrong with: what its pods say.
///
/// It is ready when it can be called, and for that a proxy and the backend have to be there.
pub(super) fn standing(snapshot: &Snapshot<MCPServerSpec>) -> Standing {
    use MCPServerPhase::{Failed, Pending, Ready, Stopped};
    if replicas::expected(snapshot) == Some(0) {
        return Standing::new(Stopped, "scaled to zero: no proxy runs");
    }
    if ready_replicas(snapshot) > 0 {
        return match snapshot.live.backend.as_ref().filter(|live| replicas::is_ours(live, snapshot.uid())) {
            None => Standing::new(Pending, "the proxy runs and brings the server up"),
            Some(backend) if backend.replicas == 0 => {
                Standing::new(Stopped, "scaled to zero: the proxy runs, the server does not")
            }
            Some(backend) if backend.ready_replicas == 0 => {
                Standing::new(Pending, "the proxy runs and waits for the server to become ready")
            }
            Some(_) => Standing::new(Ready, "the server runs"),
        };
    }
    let mut failures: Vec<&str> = Vec::new();
    for pod in &snapshot.live.pods {
        match &pod.health {
            PodHealth::Failed(reason) => failures.push(reason),
            PodHealth::Running | PodHealth::Pending | PodHealth::Terminating => {}
        }
    }
    // The order of pods is that of a list from the API server; the message must not follow it.
    failures.sort_unstable();
    match failures.first() {
        Some(reason) => Standing::new(Failed, format!("the pod of the proxy fails: {reason}")),
        // Whether there is a pod yet makes no difference here: it would cost a second write for every server.
        None => Standing::new(Pending, "the proxy is starting"),
    }
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
