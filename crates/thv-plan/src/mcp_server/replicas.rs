//! How many pods of the backend there are, and who says so.

use thv_api::kinds::MCPServerSpec;
use thv_api::names::annotations;
use thv_api::names::children::mcp_server;

use crate::deployed::replicas::{expected, hand_off, wanted};
use crate::live::{LivePod, LiveStatefulSet, PodHealth};
use crate::plan::{Scalable, Scaling};
use crate::snapshot::Snapshot;

/// Replica counts to write under the name of the hand-off manager.
pub(super) fn scalings(snapshot: &Snapshot<MCPServerSpec>) -> Vec<Scaling> {
    let proxies = hand_off(snapshot, mcp_server::deployment(snapshot.name()));
    proxies.into_iter().chain(backend(snapshot)).collect()
}

/// With no proxies there is no use for a backend: it is stopped, and remembers how many it was. As soon as there are to
/// be proxies again, whoever says so, it comes back as it was.
fn backend(snapshot: &Snapshot<MCPServerSpec>) -> Option<Scaling> {
    let live = snapshot.live.backend.as_ref().filter(|live| is_ours(live, snapshot.uid()))?;
    let (replicas, remembered) = if wanted(&snapshot.owner.spec) == Some(0) {
        // A proxy that still runs would bring its backend back.
        let is_gone = |pod: &LivePod| matches!(pod.health, PodHealth::Terminating | PodHealth::Ended);
        let proxies_are_gone = snapshot.live.proxy.pods.iter().all(is_gone);
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
        name: mcp_server::backend(snapshot.name()),
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
    match &live.controller {
        Some(controller) => controller.uid == uid,
        None => applied_for == Some(uid),
    }
}
