//! The ConfigMaps of a server.

use serde_json::json;
use thv_api::kinds::MCPServer;
use thv_api::names::annotations;
use thv_api::names::children::{keys, mcp_server};
use thv_api::names::labels::{self, Workload};
use thv_api::shared::InlineAuthz;

use super::name_of;
use crate::child::{Child, ChildKind};
use crate::digest::canonical;
use crate::metadata::controller;

/// The configuration of the proxy.
pub(super) fn run_config(owner: &MCPServer, text: &str, checksum: &str) -> Child {
    let name = name_of(owner);
    let body = json!({
        "metadata": {
            "labels": labels::configuration(Workload::McpServer, name),
            "annotations": { annotations::CONTENT_CHECKSUM: checksum },
            "ownerReferences": controller(owner),
        },
        "data": { keys::RUN_CONFIG: text },
    });
    Child::new(ChildKind::ConfigMap, &mcp_server::run_config(name), body)
        .identified_by(labels::configuration(Workload::McpServer, name))
}

/// The authorization rules that stand in the spec, as a file. The proxy enforces what its configuration says, which
/// has them too; the file is there for those who look for it where it always was.
pub(super) fn inline_authz(owner: &MCPServer, rules: &InlineAuthz) -> Child {
    let name = name_of(owner);
    let InlineAuthz { policies, entities_json, primary_upstream_provider: _ } = rules;
    let entities = if entities_json.is_empty() { "[]" } else { entities_json };
    let document = json!({
        "version": "1.0",
        "type": "cedarv1",
        "cedar": { "policies": policies, "entities_json": entities },
    });
    let mut all = labels::workload(Workload::McpServer, name);
    all.insert(labels::AUTHZ.to_owned(), labels::INLINE.to_owned());
    all.insert(labels::MANAGED_BY.to_owned(), labels::OPERATOR.to_owned());
    let body = json!({
        "metadata": { "labels": all, "ownerReferences": controller(owner) },
        "data": { keys::AUTHZ: canonical(&document) },
    });
    Child::new(ChildKind::ConfigMap, &mcp_server::inline_authz(name), body)
        .identified_by(labels::workload(Workload::McpServer, name))
}
