//! Content under its revision: the children as they are applied.

use serde_json::{Value, json};
use thv_api::kinds::MCPServerSpec;
use thv_api::names::annotations;
use thv_config::{Checksum, RunConfig};

use super::content::Content;
use super::pod_identity::PodIdentity;
use super::{deployment_of, replicas};
use crate::applied::Token;
use crate::child::{Child, ChildKind};
use crate::digest::digest;
use crate::proxy::config_maps;
use crate::proxy::deployment::deployment;
use crate::revision::{Decision, Records, decide};
use crate::snapshot::Snapshot;

/// Content under its revision.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The revision.
    pub(super) decision: Decision,
    /// The children, in the order in which they are applied.
    pub(super) children: Vec<Child>,
}

/// Puts content under a revision: the one that it has already, or a new one.
pub(super) fn render(snapshot: &Snapshot<MCPServerSpec>, content: Content<'_>) -> Result<Rendered, String> {
    let Content { proxy, pod, mut run_config, deployment: mut metadata, others: mut children, ignored: _ } =
        content;
    let decision = decide(
        &records(snapshot),
        &content_digest(&pod.template(), &mut run_config)?,
        snapshot.resource_version(),
    );
    let stamp = stamp(snapshot, &decision);
    run_config.mcpserver_generation = stamp;
    let text = text(&run_config)?;
    let checksum = Checksum::of(text.as_bytes()).to_string();
    children.push(config_maps::run_config(&proxy, &text, &checksum).with_revision());
    let revision = decision.revision();
    let token = Token { uid: snapshot.uid().to_owned(), number: revision.number };
    let identity = PodIdentity { stamp, revision: token.to_string(), checksum };
    let template = identity.bind(pod).template();
    metadata.annotate(annotations::REVISION, &revision.to_string());
    let wanted = replicas::wanted(&snapshot.owner.spec);
    children.push(deployment(&proxy, &metadata, wanted, template).with_revision());
    let place = |child: &Child| ChildKind::ALL.iter().position(|kind| *kind == child.kind());
    children.sort_by(|one, other| (place(one), one.name()).cmp(&(place(other), other.name())));
    Ok(Rendered { decision, children })
}

/// What a revision names: the pods but for what they are born with, and the configuration but for its stamp.
fn content_digest(template: &Value, run_config: &mut RunConfig) -> Result<String, String> {
    run_config.mcpserver_generation = 0;
    let document: Value = serde_json::from_str(&text(run_config)?).map_err(|error| error.to_string())?;
    Ok(digest(&json!([template, document])))
}

fn text(run_config: &RunConfig) -> Result<String, String> {
    let bytes = run_config.to_bytes().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// What is recorded about revisions of this very server.
fn records(snapshot: &Snapshot<MCPServerSpec>) -> Records {
    let uid = snapshot.uid();
    let noted = snapshot.owner.metadata.annotations.as_ref().and_then(|all| all.get(annotations::REVISION));
    let deployment = snapshot.live.deployment.as_ref().filter(|live| live.controller.as_deref() == Some(uid));
    let applied = snapshot.live.backend.as_ref().and_then(|live| live.applied.as_ref());
    Records {
        owner: noted.and_then(|text| text.parse().ok()),
        deployment: deployment.and_then(|live| live.revision.clone()),
        backend: applied.filter(|token| token.uid == uid).map(|token| token.number),
    }
}

/// The generation that changed the content last.
///
/// Pods that carry this revision carry its stamp, which stays with it: an edit that changes nothing in them does not
/// restart them. Without such pods, whether because the revision is new or because it never got that far, it is the
/// generation of now. So it is when the stamp is not ours: somebody else wrote it, or no generation was ever that high.
fn stamp(snapshot: &Snapshot<MCPServerSpec>, decision: &Decision) -> i64 {
    let live = deployment_of(snapshot).filter(|live| live.revision.as_ref() == Some(decision.revision()));
    let ours = live.and_then(|live| live.stamp).filter(|stamp| (1..=snapshot.generation()).contains(stamp));
    match decision {
        Decision::Mint(_) => snapshot.generation(),
        Decision::Keep(_) => ours.unwrap_or_else(|| snapshot.generation()),
    }
}
