//! How many pods there are, and who says so.

use std::collections::BTreeMap;

use thv_api::kinds::{MCPServerSpec, Transport};
use thv_api::names::annotations;
use thv_api::names::children::mcp_server;

use super::{deployment_of, name_of};
use crate::live::{LivePod, LiveStatefulSet, PodHealth};
use crate::plan::{Scalable, Scaling};
use crate::snapshot::Snapshot;

/// The number of proxies that the spec asks for, as far as the transport allows. `None` when it leaves the number to
/// others.
///
/// Standard input and output belong to one process, so a `stdio` server has one proxy at most.
pub(super) fn wanted(spec: &MCPServerSpec) -> Option<i32> {
    spec.replicas.map(|count| capped(spec.transport, count))
}

/// Whether the transport allows fewer proxies than the spec asks for.
pub(super) fn is_capped(spec: &MCPServerSpec) -> bool {
    wanted(spec) != spec.replicas
}

/// The number of proxies there will be, if it is known.
pub(super) fn expected(snapshot: &Snapshot<MCPServerSpec>) -> Option<i32> {
    let spec = &snapshot.owner.spec;
    let live = deployment_of(snapshot).map(|live| capped(spec.transport, live.replicas));
    wanted(spec).or(live)
}

fn capped(transport: Transport, count: i32) -> i32 {
    match transport {
        Transport::Stdio => count.min(1),
        Transport::StreamableHttp | Transport::Sse => count,
    }
}

/// Replica counts to write under the name of the hand-off manager.
pub(super) fn scalings(snapshot: &Snapshot<MCPServerSpec>) -> Vec<Scaling> {
    proxies(snapshot).into_iter().chain(backend(snapshot)).collect()
}

/// When the spec leaves the number of proxies to others and the number is ours from before, it is parked, so that it
/// does not fall to one when we let go of it. A `stdio` server that someone scaled up is scaled back.
fn proxies(snapshot: &Snapshot<MCPServerSpec>) -> Option<Scaling> {
    let spec = &snapshot.owner.spec;
    let live = deployment_of(snapshot).filter(|_| spec.replicas.is_none())?;
    let replicas = capped(spec.transport, live.replicas);
    (live.replicas_are_ours || replicas != live.replicas).then(|| Scaling {
        kind: Scalable::Deployment,
        name: mcp_server::deployment(name_of(&snapshot.owner)),
        identity: live.identity.clone(),
        replicas,
        annotations: BTreeMap::new(),
        before_children: true,
    })
}

/// With no proxies there is no use for a backend: it is stopped, and remembers how many it was. As soon as there are to
/// be proxies again, whoever says so, it comes back as it was.
fn backend(snapshot: &Snapshot<MCPServerSpec>) -> Option<Scaling> {
    let live = snapshot.live.backend.as_ref().filter(|live| is_ours(live, snapshot.uid()))?;
    let (replicas, remembered) = if wanted(&snapshot.owner.spec) == Some(0) {
        // A proxy that still runs would bring its backend back.
        let is_gone = |pod: &LivePod| matches!(pod.health, PodHealth::Terminating | PodHealth::Ended);
        let proxies_are_gone = snapshot.live.proxy_pods.iter().all(is_gone);
        if live.replicas == 0 || !proxies_are_gone {
            return None;
        }
        (0, Some(live.replicas_before_stop.unwrap_or(live.replicas)))
    } else {
        let before = live.replicas_before_stop.filter(|_| expected(snapshot) != Some(0))?;
        (if live.replicas == 0 { before } else { live.replicas }, None)
    };
    Some(Scaling {
        kind: Scalable::StatefulSet,
        name: mcp_server::backend(name_of(&snapshot.owner)),
        identity: live.identity.clone(),
        replicas,
        annotations: remembered
            .map(|count| (annotations::REPLICAS_BEFORE_STOP.to_owned(), count.to_string()))
            .into_iter()
            .collect(),
        before_children: false,
    })
}

/// Whether a StatefulSet was made for this very server.
pub(super) fn is_ours(live: &LiveStatefulSet, uid: &str) -> bool {
    let applied_for = live.applied.as_ref().map(|token| token.uid.as_str());
    match live.controller.as_deref() {
        Some(controller) => controller == uid,
        None => applied_for == Some(uid),
    }
}
