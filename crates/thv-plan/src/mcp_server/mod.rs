//! `MCPServer`: what it becomes.
//!
//! [`plan`] puts together what the modules say: `content` renders everything but the revision, `rendered` puts it under
//! one, `replicas` and `restart` deal with what is live, `phase`, `status` and the conditions tell what came of it.
//! `planned` has what the engine wants to know of the kind.

mod checks;
mod conditions;
mod config_maps;
mod content;
mod deployment;
mod live;
mod phase;
mod planned;
mod pod_patch;
mod proxy_env;
mod rbac;
mod reference_conditions;
mod rendered;
mod replicas;
mod restart;
mod service;
mod status;

use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::names::annotations;

pub use self::live::Live;

use self::content::Resolution;
use self::rendered::Rendered;
use self::restart::Request;
use self::status::Judgement;
use crate::live::LiveDeployment;
use crate::plan::{Children, Disruption, Plan};
use crate::resolve::{Resolved, resolve};
use crate::revision::Decision;
use crate::run_config;
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
    resolution: Result<Resolution, Vec<String>>,
) -> Plan<MCPServerSpec> {
    let mut judgement = Judgement::new(snapshot, resolved);
    let restart = restart::restart(snapshot);
    judgement.restart_is_due = restart.request.is_some();
    let rendered = match resolution {
        Err(flaws) => {
            judgement.add_flaws(flaws);
            None
        }
        Ok(resolution) => {
            let content = content::content(snapshot, resolution, restart.on_pods);
            judgement.refusals = Some(content.refusals.clone());
            rendered::render(snapshot, content).map_err(|flaw| judgement.add_flaws(vec![flaw])).ok()
        }
    };
    let Some(Rendered { decision, children }) = rendered.filter(|_| judgement.is_favourable()) else {
        // A restart that was asked for waits as well, of whichever kind it is.
        return Plan::new(Children::Keep, judgement.status(None));
    };
    let (pods_to_delete, annotations) = match restart.request {
        Some(Request { at, pods_to_delete }) => {
            (pods_to_delete, [(annotations::LAST_PROCESSED_RESTART.to_owned(), at)].into())
        }
        None => Default::default(),
    };
    Plan {
        disruption: disruption(snapshot, &decision, judgement.restart_is_due),
        status: judgement.status(Some(decision.revision())),
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
fn resolution(snapshot: &Snapshot<MCPServerSpec>, resolved: &Resolved) -> Result<Resolution, Vec<String>> {
    if !resolved.obstacles().is_empty() {
        return Err(Vec::new());
    }
    // The stamp follows from the content, so it comes later.
    match run_config::build(snapshot, resolved, 0) {
        Ok(run_config) => Ok(Resolution { wiring: run_config::wiring(resolved), run_config }),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}
