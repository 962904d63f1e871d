//! Content under its revision: the children as they are applied.

use serde_json::Value;
use thv_api::names::annotations;
use thv_config::{Checksum, RunConfig};

use super::Proxied;
use super::content::Content;
use crate::child::Child;
use crate::deployed::replicas;
use crate::deployed::revised::{Revised, in_order};
use crate::invalid::Invalid;
use crate::overrides::IgnoredOverrides;
use crate::pod_template;
use crate::proxy::config_maps;
use crate::proxy::deployment::deployment;
use crate::proxy::pod::ProxyPod;
use crate::revision::Decision;
use crate::snapshot::Snapshot;

/// Content under its revision.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The revision.
    pub(super) decision: Decision,
    /// The children, in the order in which they are applied.
    pub(super) children: Vec<Child>,
}

/// Puts content under a revision: the one that it has already, or a new one. Adds to `ignored` what of the user's pod
/// template is.
pub(super) fn render<S: Proxied>(
    snapshot: &Snapshot<S>,
    content: Content<'_>,
    ignored: &mut IgnoredOverrides,
) -> Result<Rendered, Invalid> {
    let Content {
        proxy,
        pod,
        pod_template: user,
        mut run_config,
        deployment: mut metadata,
        others,
        ignored: _,
    } = content;
    let mut template = |pod: &ProxyPod<'_>| {
        pod_template::apply(pod.template(), user, pod.container, &proxy.labels(), ignored)
    };
    let revised = Revised::of(snapshot, &template(&pod)?, &document(&mut run_config)?);
    run_config.mcpserver_generation = revised.stamp;
    let text = text(&run_config)?;
    let checksum = Checksum::of(text.as_bytes()).to_string();
    let mut children = others;
    children.push(config_maps::run_config(&proxy, &text, &checksum).with_revision());
    let template = template(&revised.identity(checksum).bind(pod))?;
    metadata.annotate(annotations::REVISION, &revised.decision.revision().to_string());
    let wanted = replicas::wanted(&snapshot.owner.spec);
    children.push(deployment(&proxy, &metadata, wanted, template).with_revision());
    Ok(Rendered { decision: revised.decision, children: in_order(children) })
}

/// The configuration but for its stamp.
fn document(run_config: &mut RunConfig) -> Result<Value, Invalid> {
    run_config.mcpserver_generation = 0;
    serde_json::from_str(&text(run_config)?).map_err(|error| Invalid::new("spec", error.to_string()))
}

fn text(run_config: &RunConfig) -> Result<String, Invalid> {
    let bytes = run_config.to_bytes().map_err(|error| Invalid::new("spec", error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Invalid::new("spec", error.to_string()))
}
