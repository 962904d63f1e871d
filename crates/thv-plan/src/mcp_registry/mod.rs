//! `MCPRegistry`: what it becomes.
//!
//! [`plan`] puts together what the modules say: `content` renders the children from what `pod`, `volumes` and `role` say,
//! `checks` says what is wrong with a spec, and `status` what came of it all. `planned` has what the engine wants to know
//! of the kind.

mod checks;
mod content;
mod planned;
mod pod;
mod role;
mod status;
mod volumes;

use thv_api::kinds::MCPRegistrySpec;
use thv_api::names::children::mcp_registry;

pub use self::role::rules;

use crate::deployed::replicas::hand_off;
use crate::deployed::{deployment_of, taken};
use crate::plan::{Children, Disruption, Plan};
use crate::snapshot::Snapshot;
use crate::verdict::Verdict;

/// What is to be done about a registry.
pub fn plan(snapshot: &Snapshot<MCPRegistrySpec>) -> Plan<MCPRegistrySpec> {
    let spec = &snapshot.owner.spec;
    let invalid = checks::validate(snapshot.name(), spec);
    let mut verdict = Verdict::new(invalid, spec.pod_template_spec.as_ref(), taken(snapshot));
    let content = verdict.is_fine().then(|| content::content(snapshot));
    let content = content.and_then(|content| content.map_err(|why| verdict.refuse_template(why)).ok());
    let Some(content) = content else {
        return Plan::new(Children::Keep, status::failing(snapshot, &verdict));
    };
    let running = deployment_of(snapshot).and_then(|live| live.config_hash.as_deref());
    let disruption = disruption(snapshot, &content.hash);
    let meanwhile = running.filter(|_| disruption == Disruption::Unasked);
    Plan {
        disruption,
        // The number of pods is left to others. The Go operator has set it, and so it may be ours.
        scalings: hand_off(snapshot, mcp_registry::api(snapshot.name())).into_iter().collect(),
        meanwhile: meanwhile.map(|hash| status::meanwhile(snapshot, &verdict, &content.ignored, hash)),
        ..Plan::new(
            Children::Exactly(content.children),
            status::status(snapshot, &verdict, &content.ignored, &content.hash),
        )
    }
}

/// What content with this digest means for pods that run.
fn disruption(snapshot: &Snapshot<MCPRegistrySpec>, hash: &str) -> Disruption {
    let observed = snapshot.owner.status.as_ref().and_then(|status| status.observed_generation);
    match deployment_of(snapshot) {
        None => Disruption::None,
        Some(live) if live.config_hash.as_deref() == Some(hash) => Disruption::None,
        Some(_) if observed != Some(snapshot.generation()) => Disruption::Edited,
        Some(_) => Disruption::Unasked,
    }
}
