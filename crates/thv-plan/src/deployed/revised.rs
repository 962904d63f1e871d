//! The revision of a content.

use serde_json::{Value, json};
use thv_api::names::annotations;

use super::pod_identity::PodIdentity;
use super::{Deployed, deployment_of, workload};
use crate::applied::Token;
use crate::child::{Child, ChildKind};
use crate::digest::digest;
use crate::live::LiveDeployment;
use crate::revision::{Decision, Records, decide};
use crate::snapshot::Snapshot;

/// The revision of a content.
#[derive(Clone, Debug)]
pub(crate) struct Revised {
    /// The revision: the one that the content has already, or a new one.
    pub(crate) decision: Decision,
    /// The generation of the object that changed the content last.
    pub(crate) stamp: i64,
    token: Token,
}

impl Revised {
    /// The revision of a content: the pods but for what they are born with, and the configuration but for its stamp.
    pub(crate) fn of<S: Deployed>(snapshot: &Snapshot<S>, template: &Value, document: &Value) -> Self {
        let content = digest(&json!([template, document]));
        let decision = decide(&records(snapshot), &content, snapshot.resource_version());
        let token = Token { uid: snapshot.uid().to_owned(), number: decision.revision().number };
        Self { stamp: stamp(snapshot, &decision), decision, token }
    }

    /// What pods of this revision are born with, beside a configuration of this digest.
    pub(crate) fn identity(&self, checksum: String) -> PodIdentity {
        PodIdentity { stamp: self.stamp, revision: self.token.to_string(), checksum }
    }
}

/// What is recorded about revisions of this very object.
fn records<S: Deployed>(snapshot: &Snapshot<S>) -> Records {
    let noted = snapshot.owner.metadata.annotations.as_ref().and_then(|all| all.get(annotations::REVISION));
    let is_ours = |live: &&LiveDeployment| {
        live.controller.as_ref().is_some_and(|controller| controller.uid == snapshot.uid())
    };
    let deployment = workload(snapshot).deployment.as_ref().filter(is_ours);
    Records {
        owner: noted.and_then(|text| text.parse().ok()),
        deployment: deployment.and_then(|live| live.revision.clone()),
        backend: S::further_revision(snapshot),
    }
}

/// The generation that changed the content last.
///
/// Pods that carry this revision carry its stamp, which stays with it: an edit that changes nothing in them does not
/// restart them. Without such pods, whether because the revision is new or because it never got that far, it is the
/// generation of now. So it is when the stamp is not ours: somebody else wrote it, or no generation was ever that high.
fn stamp<S: Deployed>(snapshot: &Snapshot<S>, decision: &Decision) -> i64 {
    let live = deployment_of(snapshot).filter(|live| live.revision.as_ref() == Some(decision.revision()));
    let ours = live.and_then(|live| live.stamp).filter(|stamp| (1..=snapshot.generation()).contains(stamp));
    match decision {
        Decision::Mint(_) => snapshot.generation(),
        Decision::Keep(_) => ours.unwrap_or_else(|| snapshot.generation()),
    }
}

/// Children in the order in which they are applied.
pub(crate) fn in_order(mut children: Vec<Child>) -> Vec<Child> {
    let place = |child: &Child| ChildKind::ALL.iter().position(|kind| *kind == child.kind());
    children.sort_by(|one, other| (place(one), one.name()).cmp(&(place(other), other.name())));
    children
}
