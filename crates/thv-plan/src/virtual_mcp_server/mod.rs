//! `VirtualMCPServer`: all servers of a group as one.
//!
//! [`plan`] puts together what the modules say: `resolved` finds out what became of everything that the server refers to,
//! `document` writes its configuration (`incoming`, `outgoing`), `content` renders everything but the revision, `rendered`
//! puts it under one, `findings`, `conditions` and `phase` tell what came of it. `planned` has what the engine wants to
//! know of the kind.

mod checks;
mod composite;
mod conditions;
mod content;
mod document;
mod findings;
mod incoming;
mod outgoing;
mod phase;
mod planned;
mod refs;
mod rendered;
mod resolved;

use thv_api::kinds::VirtualMCPServerSpec;
use thv_api::names::annotations;
use thv_api::names::children::virtual_mcp_server;
use thv_api::value::Port;
use thv_config::vmcp::VmcpConfig;

use self::findings::Findings;
use self::rendered::Rendered;
use crate::deployed::restart::{Request, restart};
use crate::deployed::{deployment_of, disruption, replicas};
use crate::plan::{Children, Disruption, Plan};
use crate::snapshot::Snapshot;

/// The port of every virtual server.
const PORT: Port = Port::VMCP;

/// What is to be done about a virtual server.
fn plan(snapshot: &Snapshot<VirtualMCPServerSpec>) -> Plan<VirtualMCPServerSpec> {
    let mut resolved = resolved::resolve(snapshot);
    let provider = incoming::provider(&snapshot.owner.spec);
    let config = match &provider {
        // References that cannot be used have their own say.
        Ok(provider) if resolved.invalid().is_empty() => {
            document::document(snapshot, &mut resolved, provider).map(Some)
        }
        _ => Ok(None),
    };
    let mut findings = Findings::new(snapshot, &resolved, provider);
    let restart = restart(snapshot);
    findings.restart_is_due = restart.request.is_some();
    let config = config.map_err(|invalid| findings.invalid.merge(invalid)).ok().flatten();
    let rendered = config.and_then(|config| render(&mut findings, config, restart.on_pods));
    let Some(Rendered { decision, children }) = rendered.filter(|_| findings.errors().is_empty()) else {
        // A restart that was asked for waits as well, of whichever kind it is.
        return Plan::new(Children::Keep, findings.failed());
    };
    // The first pods wait for the embedding server, so that nobody searches in vain. Later ones do not: an edit must not
    // wait for somebody else to recover.
    if deployment_of(snapshot).is_none() && !conditions::is_embedding_server_ready(snapshot) {
        return Plan::new(Children::Keep, findings.waiting("waits for the embedding server to become ready"));
    }
    let (pods_to_delete, annotations) = match restart.request {
        Some(Request { at, pods_to_delete }) => {
            (pods_to_delete, [(annotations::LAST_PROCESSED_RESTART.to_owned(), at)].into())
        }
        None => Default::default(),
    };
    let disruption = disruption(snapshot, &decision, findings.restart_is_due);
    let running = deployment_of(snapshot).and_then(|live| live.revision.as_ref());
    let deployment = virtual_mcp_server::deployment(snapshot.name());
    Plan {
        meanwhile: running.filter(|_| disruption == Disruption::Unasked).map(|it| findings.meanwhile(it)),
        disruption,
        status: findings.applied(decision.revision()),
        revision: Some(decision),
        children: Children::Exactly(children),
        scalings: replicas::hand_off(snapshot, deployment).into_iter().collect(),
        pods_to_delete,
        annotations,
    }
}

/// The children, unless something is wrong. What that is, the findings have then.
fn render(findings: &mut Findings<'_>, config: VmcpConfig, restarted_at: Option<String>) -> Option<Rendered> {
    let (snapshot, resolved) = (findings.snapshot, findings.resolved);
    let content = content::content(snapshot, resolved, config, restarted_at);
    let mut ignored = content.ignored.clone();
    let rendered = rendered::render(snapshot, content, &mut ignored);
    findings.ignored = Some(ignored);
    rendered.map_err(|invalid| findings.invalid.merge(invalid.into())).ok()
}
