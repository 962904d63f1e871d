//! Content under its revision: the children as they are applied.

use serde_json::json;
use thv_api::kinds::VirtualMCPServerSpec;
use thv_api::names::annotations;

use super::content::{Content, config_map};
use crate::child::Child;
use crate::deployed::replicas;
use crate::deployed::revised::{Revised, in_order};
use crate::invalid::Invalid;
use crate::overrides::IgnoredOverrides;
use crate::pod_template;
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
pub(super) fn render(
    snapshot: &Snapshot<VirtualMCPServerSpec>,
    content: Content<'_>,
    ignored: &mut IgnoredOverrides,
) -> Result<Rendered, Invalid> {
    let Content { proxy, pod, pod_template: user, config, deployment: mut metadata, others, ignored: _ } =
        content;
    let mut template = |pod: &ProxyPod<'_>| {
        pod_template::apply(pod.template(), user, pod.container, &proxy.labels(), ignored)
    };
    let files = config.to_files().map_err(|error| Invalid::new("spec", error.to_string()))?;
    let revised = Revised::of(snapshot, &template(&pod)?, &json!(files.data()));
    let checksum = files.checksum().to_string();
    let mut children = others;
    children.push(config_map(&proxy, files.data(), &checksum).with_revision());
    let template = template(&revised.identity(checksum).bind(pod))?;
    metadata.annotate(annotations::REVISION, &revised.decision.revision().to_string());
    let wanted = replicas::wanted(&snapshot.owner.spec);
    children.push(deployment(&proxy, &metadata, wanted, template).with_revision());
    Ok(Rendered { decision: revised.decision, children: in_order(children) })
}
