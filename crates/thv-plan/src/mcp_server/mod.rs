//! `MCPServer`: what it becomes.
//!
//! [`plan`] puts together what the modules say: `content` renders everything but the revision, `rendered` puts it under
//! one, `replicas` and `restart` deal with what is live, `phase`, `status` and the conditions tell what came of it.

mod backend;
mod checks;
mod conditions;
mod content;
mod phase;
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

use std::collections::BTreeMap;

use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::names::annotations;

pub use self::backend::overruled_env;
pub use self::refs::{refs, settings_refs};
pub use self::resolved::{ConfigHashes, Resolved, resolve};
pub use self::run_config::{run_config, wiring};

use self::content::Resolution;
use self::rendered::Rendered;
use self::restart::Request;
use self::status::Judgement;
use crate::invalid::{Invalid, InvalidList};
use crate::live::LiveDeployment;
use crate::plan::{Children, Plan};
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
    let mut judgement = Judgement::new(snapshot, resolved);
    let restart = restart::restart(snapshot);
    let rendered = match resolution {
        Err(invalid) => {
            judgement.add_invalid(invalid);
            None
        }
        Ok(resolution) => {
            let content = content::content(snapshot, resolution, restart.on_pods);
            judgement.ignored = Some(content.ignored.clone());
            let rendered = rendered::render(snapshot, content);
            rendered.map_err(|why| judgement.add_invalid(Invalid::new("spec", why).into())).ok()
        }
    };
    let rendered = rendered.filter(|_| judgement.is_favourable());
    let (doomed_pods, annotations) = carry_out(restart.request, rendered.is_some());
    let status = judgement.status();
    match rendered {
        Some(Rendered { decision, children }) => Plan {
            revision: Some(decision),
            children: Children::Exactly(children),
            scalings: replicas::scalings(snapshot),
            doomed_pods,
            annotations,
            status,
            again: None,
        },
        None => Plan {
            revision: None,
            children: Children::Keep,
            scalings: Vec::new(),
            doomed_pods,
            annotations,
            status,
            again: None,
        },
    }
}

/// The pods to delete and the annotations to write for a restart. One that rolls pods is carried out by applying
/// them; as long as they are not applied, it stays a request.
fn carry_out(request: Option<Request>, applied: bool) -> (Vec<(String, String)>, BTreeMap<String, String>) {
    match request {
        Some(Request { at, doomed }) if applied || doomed.is_some() => {
            let done = [(annotations::LAST_PROCESSED_RESTART.to_owned(), at)];
            (doomed.unwrap_or_default(), done.into())
        }
        Some(_) | None => (Vec::new(), BTreeMap::new()),
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
