//! The ConfigMaps of a proxy.

use serde_json::json;
use thv_api::names::annotations;
use thv_api::names::children::keys;
use thv_api::names::labels;
use thv_api::shared::InlineAuthz;

use super::Proxy;
use crate::child::{Child, ChildKind};
use crate::digest::canonical;

/// The configuration of the proxy. It has labels of its own, and is known by them.
pub(crate) fn run_config(proxy: &Proxy<'_>, text: &str, checksum: &str) -> Child {
    let labels = labels::configuration(proxy.workload, proxy.owner.name);
    let body = json!({
        "metadata": { "labels": labels, "annotations": { annotations::CONTENT_CHECKSUM: checksum } },
        "data": { keys::RUN_CONFIG: text },
    });
    proxy.child(ChildKind::ConfigMap, &proxy.names.run_config, body).identified_by(labels)
}

/// The authorization rules that stand in the spec, as a file. The proxy enforces what its configuration says, which
/// has them too; the file is there for those who look for it where it always was.
pub(crate) fn inline_authz(proxy: &Proxy<'_>, rules: &InlineAuthz) -> Child {
    let InlineAuthz { policies, entities_json, primary_upstream_provider: _ } = rules;
    let entities = if entities_json.is_empty() { "[]" } else { entities_json };
    let document = json!({
        "version": "1.0",
        "type": "cedarv1",
        "cedar": { "policies": policies, "entities_json": entities },
    });
    let mut all = proxy.managed_labels();
    all.insert(labels::AUTHZ.to_owned(), labels::INLINE.to_owned());
    let body = json!({ "metadata": { "labels": all }, "data": { keys::AUTHZ: canonical(&document) } });
    proxy.child(ChildKind::ConfigMap, &proxy.names.inline_authz, body)
}
