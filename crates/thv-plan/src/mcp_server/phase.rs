//! How a server does: its phase, and why it is not ready.

use thv_api::kinds::{MCPServerPhase, MCPServerSpec, Transport};
use thv_api::names::children::{mcp_server, service_host};
use thv_api::shared::HttpTransport;

use super::{deployment_of, replicas};
use crate::applied::Token;
use crate::live::{ContainerFailure, LivePod, PodHealth, Rollout};
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// A phase, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerHealth {
    pub(super) phase: MCPServerPhase,
    pub(super) message: String,
}

impl ServerHealth {
    pub(super) fn new(phase: MCPServerPhase, message: impl Into<String>) -> Self {
        Self { phase, message: message.into() }
    }
}

/// How many proxies are ready.
pub(super) fn ready_replicas(snapshot: &Snapshot<MCPServerSpec>) -> i32 {
    let ready = snapshot.live.proxy_pods.iter().filter(|pod| pod.health == PodHealth::Ready).count();
    i32::try_from(ready).unwrap_or(i32::MAX)
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

/// The proxy or the backend, with its pods.
struct Part<'a> {
    what: &'static str,
    pods: &'a [LivePod],
    /// The revision of the newest pods, if there can be some already.
    newest: Option<&'a str>,
    namespace: &'a str,
}

impl Part<'_> {
    /// Whether the newest revision is there and can be called; if not, why.
    fn judge(&self, rollout: &Rollout, was_ready: bool, waiting: &str) -> Result<(), ServerHealth> {
        let is_there = rollout.is_complete() || (was_ready && !rollout.observed);
        if is_there && rollout.available > 0 {
            return Ok(());
        }
        if let Some((pod, failure)) = self.failing() {
            return Err(self.fails(pod, failure));
        }
        if let Some(reason) = &rollout.gave_up {
            let message = format!(
                "{} does not become ready: {reason}; see kubectl describe pods --namespace {}",
                self.what, self.namespace
            );
            return Err(ServerHealth::new(MCPServerPhase::Failed, self.with_older(message)));
        }
        Err(self.waits(waiting))
    }

    /// The pod to tell of: the same one whatever the order of pods is, which is that of a list from the API server.
    fn failing(&self) -> Option<(&LivePod, &ContainerFailure)> {
        let newest = self.pods.iter().filter(|pod| self.is_newest(pod));
        let failing = newest.filter_map(|pod| match &pod.health {
            PodHealth::Failing(failure) => Some((pod, failure)),
            _ => None,
        });
        failing.min_by_key(|(pod, failure)| (!failure.needs_help, pod.name.as_str()))
    }

    fn fails(&self, pod: &LivePod, failure: &ContainerFailure) -> ServerHealth {
        let ContainerFailure { container, reason, exit_code, needs_help } = failure;
        let (name, namespace) = (&pod.name, self.namespace);
        let (ended, look) = match exit_code {
            Some(code) => (
                format!(", exit code {code}"),
                format!("kubectl logs --previous --namespace {namespace} {name} --container {container}"),
            ),
            None => (String::new(), format!("kubectl describe pod --namespace {namespace} {name}")),
        };
        let message = format!(
            "{} does not run: container {container} of pod {name}: {reason}{ended}; see {look}",
            self.what
        );
        let phase = if *needs_help { MCPServerPhase::Failed } else { MCPServerPhase::Pending };
        ServerHealth::new(phase, self.with_older(message))
    }

    /// Nothing is wrong that we know of, and it is not there yet.
    fn waits(&self, message: &str) -> ServerHealth {
        let is_refused = |pod: &LivePod| pod.health == PodHealth::Unschedulable && self.is_newest(pod);
        let message = if self.pods.iter().any(is_refused) {
            format!(
                "{message}: no node takes its pod; see kubectl describe pods --namespace {}",
                self.namespace
            )
        } else {
            message.to_owned()
        };
        ServerHealth::new(MCPServerPhase::Pending, self.with_older(message))
    }

    fn with_older(&self, message: String) -> String {
        let serves = |pod: &LivePod| pod.health == PodHealth::Ready && !self.is_newest(pod);
        if self.pods.iter().any(serves) { format!("{message}; older pods still serve") } else { message }
    }

    fn is_newest(&self, pod: &LivePod) -> bool {
        self.newest.is_some() && pod.revision.as_deref() == self.newest
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
