//! How a virtual server does: its phase, and why it is not ready.

use thv_api::conditions::virtual_mcp_server::Ready;
use thv_api::kinds::{DiscoveredBackend, VirtualMCPServerPhase, VirtualMCPServerSpec};
use thv_api::names::children::{service_host, virtual_mcp_server};

use super::PORT;
use crate::deployed::health::{Named, newest};
use crate::deployed::replicas;
use crate::health::{Health, Phase};
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// The pods of a virtual server.
const PODS: Named = Named { one: "the virtual server", several: "pods" };

impl Phase for VirtualMCPServerPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

/// How a virtual server does that nothing is wrong with: what its pods say, and what they report of the backends.
pub(super) fn health(
    snapshot: &Snapshot<VirtualMCPServerSpec>,
    revision: &Revision,
) -> (Health<VirtualMCPServerPhase>, Ready) {
    use VirtualMCPServerPhase::{Degraded, Pending, Ready as Runs};
    if replicas::expected(snapshot) == Some(0) {
        return (Health::new(Pending, "scaled to zero: no pod runs"), Ready::DeploymentNotReady);
    }
    let note = match newest(snapshot, revision, PODS) {
        Ok(note) => note,
        Err(health) => {
            let ready = reason(health.phase);
            return (health, ready);
        }
    };
    let reported = snapshot.owner.status.as_ref().and_then(|status| status.discovered_backends.as_deref());
    match tally(reported.unwrap_or_default()) {
        None => (Health::new(Runs, format!("the virtual server runs{note}")), Ready::DeploymentReady),
        Some((ready, message)) => (Health::new(Degraded, format!("{message}{note}")), ready),
    }
}

/// Why a virtual server in this phase cannot be called.
pub(super) const fn reason(phase: VirtualMCPServerPhase) -> Ready {
    match phase {
        VirtualMCPServerPhase::Failed => Ready::DeploymentFailed,
        VirtualMCPServerPhase::Pending | VirtualMCPServerPhase::Ready | VirtualMCPServerPhase::Degraded => {
            Ready::DeploymentNotReady
        }
    }
}

/// What is wrong with the backends, by what the pods report. Without a report nothing is known to be wrong.
fn tally(backends: &[DiscoveredBackend]) -> Option<(Ready, String)> {
    let of = |states: &[&str]| {
        backends.iter().filter(|it| states.contains(&it.status.as_deref().unwrap_or("unknown"))).count()
    };
    let (all, routable, unknown) = (backends.len(), of(&["ready", "unauthenticated"]), of(&["unknown"]));
    if routable == all {
        return None;
    }
    let ready = match routable {
        0 if unknown == all => Ready::BackendsUnknown,
        0 => Ready::BackendsUnavailable,
        _ => Ready::BackendsDegraded,
    };
    Some((ready, format!("{routable} of {all} backends can be called: see status.discoveredBackends")))
}

/// The address of a virtual server within the cluster.
pub(super) fn url(snapshot: &Snapshot<VirtualMCPServerSpec>) -> String {
    let service = virtual_mcp_server::service(snapshot.name());
    format!("http://{}:{PORT}", service_host(&service, snapshot.namespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backends(states: &[&str]) -> Vec<DiscoveredBackend> {
        let all = states.iter().enumerate();
        all.map(|(number, state)| {
            serde_json::from_value(serde_json::json!({"name": number.to_string(), "status": state})).unwrap()
        })
        .collect()
    }

    #[test]
    fn what_the_pods_report_decides_how_well_it_does() {
        for (states, expected) in [
            (&[][..], None),
            (&["ready", "unauthenticated"], None),
            (&["ready", "unavailable"], Some(Ready::BackendsDegraded)),
            (&["ready", "unknown"], Some(Ready::BackendsDegraded)),
            (&["degraded", "unknown"], Some(Ready::BackendsUnavailable)),
            (&["unknown", "unknown"], Some(Ready::BackendsUnknown)),
        ] {
            assert_eq!(tally(&backends(states)).map(|(ready, _)| ready), expected, "{states:?}");
        }
    }
}
