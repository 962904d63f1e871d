//! Objects with pods of one Deployment that we make: what holds for all of them, whatever their pods do.
//!
//! A kind says where its Deployment and its pods are and how many of them its user asks for. Then `revised` decides on
//! the revision, `replicas` and `restart` deal with what is live, `health` says how the pods do, and `conditions` what
//! there is to say about all that.

pub(crate) mod conditions;
pub(crate) mod health;
pub(crate) mod pod_identity;
pub(crate) mod replicas;
pub(crate) mod restart;
pub(crate) mod revised;

use thv_api::names::labels;

use crate::live::{LiveDeployment, LivePod, Observe, PodMaker, PodSelector};
use crate::plan::{Disruption, Scalable};
use crate::planned::Planned;
use crate::revision::Decision;
use crate::snapshot::Snapshot;
use crate::verdict;

/// The pods of every kind that has this: they carry the name of their object in the same label.
pub(crate) const PODS: PodSelector = PodSelector { labels: "toolhive=true", instance: labels::TOOLHIVE_NAME };

/// A kind with pods of one Deployment that we make.
pub(crate) trait Deployed: Planned {
    /// What is there of the Deployment.
    fn workload(live: &Self::Live) -> &LiveWorkload;

    /// The name of the Deployment: that of the object, for most kinds.
    fn deployment(name: &str) -> String {
        name.to_owned()
    }

    /// How many pods the user asks for. Without a number, it is left to others.
    fn replicas(&self) -> Option<i32>;

    /// How many pods there may be at most.
    fn most_replicas(&self) -> Option<i32> {
        None
    }

    /// The revision that something beside the Deployment was applied with, for this very object.
    fn further_revision(_: &Snapshot<Self>) -> Option<u64> {
        None
    }

    /// Why a workload cannot be had that others make for this object beside the Deployment.
    fn further_taken(_: &Snapshot<Self>) -> Option<String> {
        None
    }

    /// The generation that a status is about, and whether it says that the object is ready.
    fn observed(status: &Self::Status) -> Observed;
}

/// The Deployment of an object, its pods, and who scales it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveWorkload {
    /// The Deployment of the name that ours has, whomever it belongs to.
    pub deployment: Option<LiveDeployment>,
    /// Its pods, of every revision.
    pub pods: Vec<LivePod>,
    /// The names of the autoscalers that target it.
    pub autoscalers: Vec<String>,
}

impl LiveWorkload {
    /// Looks everything up: the Deployment of this name, and those of the pods that a Deployment has made.
    pub(crate) fn of(deployment: &str, pods: Vec<LivePod>, observe: &mut dyn Observe) -> Self {
        Self {
            deployment: observe.deployment(deployment),
            pods: pods.into_iter().filter(|pod| pod.maker == PodMaker::Deployment).collect(),
            autoscalers: observe.autoscalers(Scalable::Deployment, deployment),
        }
    }
}

/// What a status says of what was observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) generation: Option<i64>,
    pub(crate) is_ready: bool,
}

/// What there is of an object's Deployment.
pub(crate) fn workload<S: Deployed>(snapshot: &Snapshot<S>) -> &LiveWorkload {
    S::workload(&snapshot.live)
}

/// The Deployment of an object, unless it belongs to something else.
pub(crate) fn deployment_of<S: Deployed>(snapshot: &Snapshot<S>) -> Option<&LiveDeployment> {
    let live = workload(snapshot).deployment.as_ref()?;
    live.can_belong_to(snapshot.uid()).then_some(live)
}

/// Why the Deployment cannot be had, or what goes with it.
pub(crate) fn taken<S: Deployed>(snapshot: &Snapshot<S>) -> Option<String> {
    let live = workload(snapshot).deployment.as_ref();
    let controller = live.and_then(|live| live.controller.as_ref());
    verdict::taken(snapshot, Scalable::Deployment, &S::deployment(snapshot.name()), controller)
        .or_else(|| S::further_taken(snapshot))
}

/// What a decision about the revision means for pods that run. `was_asked` tells that somebody has asked for a restart.
pub(crate) fn disruption<S: Deployed>(
    snapshot: &Snapshot<S>,
    decision: &Decision,
    was_asked: bool,
) -> Disruption {
    match decision {
        Decision::Mint(_) if deployment_of(snapshot).is_none() => Disruption::None,
        Decision::Mint(_) if was_asked || observed(snapshot).generation != Some(snapshot.generation()) => {
            Disruption::Edited
        }
        Decision::Mint(_) => Disruption::Unasked,
        Decision::Keep(_) => Disruption::None,
    }
}

fn observed<S: Deployed>(snapshot: &Snapshot<S>) -> Observed {
    snapshot.owner.status.as_ref().map(S::observed).unwrap_or_default()
}

/// Whether the object was ready before, as it is now. A new revision makes it something else first, so whatever moves the
/// generation of a workload afterwards is no rollout: somebody scales it.
pub(crate) fn was_ready<S: Deployed>(snapshot: &Snapshot<S>) -> bool {
    let Observed { generation, is_ready } = observed(snapshot);
    is_ready && generation == Some(snapshot.generation())
}
