//! `EmbeddingServer`: what it becomes.
//!
//! [`plan`] puts together what the modules say: `content` renders the children from what `overrides`, `pod` and `claims`
//! say, `checks` says what is wrong with a spec, and `status` what came of it all. `planned` has what the engine wants to
//! know of the kind.

mod checks;
mod claims;
mod content;
mod live;
mod overrides;
mod planned;
mod pod;
mod status;

use thv_api::kinds::{EmbeddingServerPhase, EmbeddingServerSpec};
use thv_api::names::children::embedding_server;

pub use self::live::Live;
pub(crate) use self::status::url;

use crate::live::LiveStatefulSet;
use crate::plan::{Children, Disruption, Plan, Scalable};
use crate::snapshot::Snapshot;
use crate::verdict::{Verdict, taken};

/// What is to be done about an embedding server.
pub fn plan(snapshot: &Snapshot<EmbeddingServerSpec>) -> Plan<EmbeddingServerSpec> {
    let spec = &snapshot.owner.spec;
    let invalid = checks::validate(snapshot.name(), spec);
    let mut verdict = Verdict::new(invalid, spec.pod_template_spec.as_ref(), why_taken(snapshot));
    let content = verdict.is_fine().then(|| content::content(snapshot));
    let content = content.and_then(|content| content.map_err(|why| verdict.refuse_template(why)).ok());
    let status = status::status(snapshot, &verdict, content.as_ref());
    match content {
        None => Plan::new(Children::Keep, status),
        Some(content) => Plan {
            disruption: disruption(snapshot),
            ..Plan::new(Children::Exactly(content.children), status)
        },
    }
}

/// Pods that run may be replaced after any edit, as long as it has not been applied. So that none of the children is applied
/// if another one is refused, all of them are tried without effect then.
fn disruption(snapshot: &Snapshot<EmbeddingServerSpec>) -> Disruption {
    let is_applied = snapshot.owner.status.as_ref().is_some_and(|status| {
        let has_failed = status.phase == Some(EmbeddingServerPhase::Failed);
        status.observed_generation == Some(snapshot.generation()) && !has_failed
    });
    if stateful_set_of(snapshot).is_none() || is_applied { Disruption::None } else { Disruption::Edited }
}

/// The StatefulSet of a server, unless it belongs to something else.
fn stateful_set_of(snapshot: &Snapshot<EmbeddingServerSpec>) -> Option<&LiveStatefulSet> {
    let live = snapshot.live.stateful_set.as_ref()?;
    live.can_belong_to(snapshot.uid()).then_some(live)
}

/// Why the StatefulSet cannot be had.
fn why_taken(snapshot: &Snapshot<EmbeddingServerSpec>) -> Option<String> {
    let controller = snapshot.live.stateful_set.as_ref().and_then(|live| live.controller.as_ref());
    let name = embedding_server::stateful_set(snapshot.name());
    taken(snapshot, Scalable::StatefulSet, &name, controller)
}
