//! What the pods of a registry may do: the registry server looks for MCP servers to list, keeps what it has found, and
//! elects a leader.

use serde_json::{Value, json};
use thv_api::Kind as _;
use thv_api::kinds::{MCPRemoteProxySpec, MCPServerSpec, VirtualMCPServerSpec};
use thv_api::names::GROUP;

const READ: [&str; 3] = ["get", "list", "watch"];
const OWN: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];

/// The rules of the Role. Nobody can grant what he may not do himself, so the operator has to have all of these rights.
pub fn rules() -> Value {
    let servers = [MCPServerSpec::PLURAL, MCPRemoteProxySpec::PLURAL, VirtualMCPServerSpec::PLURAL];
    json!([
        rule(GROUP, &servers, &READ),
        rule("", &["services"], &READ),
        rule("gateway.networking.k8s.io", &["httproutes", "gateways"], &READ),
        rule("", &["configmaps"], &OWN),
        rule("coordination.k8s.io", &["leases"], &OWN),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
    ])
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
}
