//! `MCPServer`: what it becomes.
//!
//! [`plan`] puts together what the modules say: `content` renders everything but the revision, `rendered` puts it under
//! one, `replicas` and `restart` deal with what is live, `phase`, `status` and the conditions tell what came of it.
//! `planned` has what the engine wants to know of the kind.

mod backend;
mod checks;
mod conditions;
mod content;
mod live;
mod phase;
mod planned;
mod pod_identity;
mod pod_patch;
mod reference_conditions;
mod refs;
mod rendered;
mod replicas;
mod resolved;
mod restart;
mod run_config;
mod status;

use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::names::annotations;

pub use self::backend::overruled_env;
pub use self::live::Live;
pub use self::refs::{refs, settings_refs};
pub use self::resolved::{ConfigHashes, Resolved, resolve};
pub use self::run_config::{run_config, wiring};

use self::content::Resolution;
use self::rendered::Rendered;
use self::restart::Request;
use self::status::Findings;
use crate::invalid::{Invalid, InvalidList};
use crate::live::LiveDeployment;
use crate::plan::{Children, Disruption, Plan};
use crate::revision::Decision;
use crate::snapshot::Snapshot;

/// What is to be done about a server.
pub fn plan(snapshot: &Snapshot<MCPServerSpec>) -> Plan<MCPServerSpec> {
    let resolved = resolve(snapshot);
    let resolution = resolution(snapshot, &resolved);
    plan_with(snapshot, &resolved, resolution)
}

/// What is to be done about a server with references that came to this.
fn plan_with(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    resolution: Result<Resolution, InvalidList>,
) -> Plan<MCPServerSpec> {
    let mut findings = Findings::new(snapshot, resolved);
    let restart = restart::restart(snapshot);
    findings.restart_is_due = restart.request.is_some();
    let rendered = match resolution {
        Err(invalid) => {
            findings.add_invalid(invalid);
            None
        }
        Ok(resolution) => {
            let content = content::content(snapshot, resolution, restart.on_pods);
            findings.ignored = Some(content.ignored.clone());
            let rendered = rendered::render(snapshot, content);
            rendered.map_err(|why| findings.add_invalid(Invalid::new("spec", why).into())).ok()
        }
    };
    let Some(Rendered { decision, children }) = rendered.filter(|_| findings.are_valid()) else {
        // A restart that was asked for waits as well, of whichever kind it is.
        return Plan::new(Children::Keep, findings.status(None));
    };
    let (pods_to_delete, annotations) = match restart.request {
        Some(Request { at, pods_to_delete }) => {
            (pods_to_delete, [(annotations::LAST_PROCESSED_RESTART.to_owned(), at)].into())
        }
        None => Default::default(),
    };
    let disruption = disruption(snapshot, &decision, findings.restart_is_due);
    let running = deployment_of(snapshot).and_then(|live| live.revision.as_ref());
    Plan {
        meanwhile: running.filter(|_| disruption == Disruption::Unasked).map(|it| findings.meanwhile(it)),
        disruption,
        status: findings.status(Some(decision.revision())),
        revision: Some(decision),
        children: Children::Exactly(children),
        scalings: replicas::scalings(snapshot),
        pods_to_delete,
        annotations,
    }
}

/// What a decision about the revision means for pods that run.
fn disruption(snapshot: &Snapshot<MCPServerSpec>, decision: &Decision, was_asked: bool) -> Disruption {
    let observed = snapshot.owner.status.as_ref().and_then(|status| status.observed_generation);
    match decision {
        Decision::Mint(_) if deployment_of(snapshot).is_none() => Disruption::None,
        Decision::Mint(_) if was_asked || observed != Some(snapshot.generation()) => Disruption::Edited,
        Decision::Mint(_) => Disruption::Unasked,
        Decision::Keep(_) => Disruption::None,
    }
}

/// The name of a server.
fn name_of(owner: &MCPServer) -> &str {
    owner.metadata.name.as_deref().unwrap_or_default()
}

/// The Deployment of a server, unless it belongs to something else.
fn deployment_of(snapshot: &Snapshot<MCPServerSpec>) -> Option<&LiveDeployment> {
    let live = snapshot.live.deployment.as_ref()?;
    live.controller.as_deref().is_none_or(|uid| uid == snapshot.uid()).then_some(live)
}

/// What references come to, or what is wrong with the spec. References that cannot be used have their own say.
fn resolution(snapshot: &Snapshot<MCPServerSpec>, resolved: &Resolved) -> Result<Resolution, InvalidList> {
    if !resolved.invalid().is_empty() {
        return Err(InvalidList::default());
    }
    // The stamp follows from the content, so it comes later.
    let run_config = run_config(snapshot, resolved, 0)?;
    Ok(Resolution { wiring: wiring(resolved), run_config })
}
