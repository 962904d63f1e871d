//! How many pods there are, and who says so.

use std::collections::BTreeMap;

use super::{Deployed, deployment_of};
use crate::plan::{Scalable, Scaling};
use crate::snapshot::Snapshot;

/// The number of pods that the spec asks for, as far as it may. `None` when it leaves the number to others.
pub(crate) fn wanted<S: Deployed>(spec: &S) -> Option<i32> {
    spec.replicas().map(|count| capped(spec, count))
}

/// Whether there may be fewer pods than the spec asks for.
pub(crate) fn is_capped<S: Deployed>(spec: &S) -> bool {
    wanted(spec) != spec.replicas()
}

/// The number of pods there will be, if it is known.
pub(crate) fn expected<S: Deployed>(snapshot: &Snapshot<S>) -> Option<i32> {
    let spec = &snapshot.owner.spec;
    let live = deployment_of(snapshot).map(|live| capped(spec, live.replicas));
    wanted(spec).or(live)
}

fn capped<S: Deployed>(spec: &S, count: i32) -> i32 {
    spec.most_replicas().map_or(count, |most| count.min(most))
}

/// The count to write under the name of the hand-off manager, to the Deployment of this name.
///
/// When the spec leaves the number of pods to others and the number is ours from before, it is parked, so that it does
/// not fall to one when we let go of it. Where there may be fewer than someone scaled up to, it is scaled back.
pub(crate) fn hand_off<S: Deployed>(snapshot: &Snapshot<S>, name: String) -> Option<Scaling> {
    let spec = &snapshot.owner.spec;
    let live = deployment_of(snapshot).filter(|_| spec.replicas().is_none())?;
    let replicas = capped(spec, live.replicas);
    (live.replicas_are_ours || replicas != live.replicas).then(|| Scaling {
        kind: Scalable::Deployment,
        name,
        identity: live.identity.clone(),
        replicas,
        annotations: BTreeMap::new(),
        before_children: true,
    })
}
