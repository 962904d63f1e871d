//! What the operator may do, in one table. The roles in the chart and in the tests are made from it.
//!
//! Nothing that every operator needs is for the whole cluster: one that looks after some namespaces is bound to a Role in
//! each. Only the storage-version migrator, which such an operator does not have, needs more.

use serde_json::{Value, json};
use thv_api::names::{GROUP, LEADER_ELECTION_LEASE};
use thv_api::{Kind, kinds};
use thv_plan::mcp_registry;

/// The name of the `ClusterRole` with [`migrator_rules`].
pub const MIGRATOR_ROLE: &str = "toolhive-operator-storage-version-migrator-role";

/// The right to do some things with one kind of object.
struct Right {
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
}

const fn right(group: &'static str, resource: &'static str, verbs: &'static [&'static str]) -> Right {
    Right { group, resource, verbs }
}

const READ: &[&str] = &["get", "list", "watch"];
/// Creation by apply is a patch that needs `create` as well.
const OWN: &[&str] = &["create", "delete", "get", "list", "patch", "watch"];

/// Everything that is done in the namespaces that the operator looks after.
const RIGHTS: &[Right] = &[
    // Children.
    right("", "configmaps", OWN),
    right("", "serviceaccounts", OWN),
    right("", "services", OWN),
    right("apps", "deployments", OWN),
    right("rbac.authorization.k8s.io", "rolebindings", OWN),
    right("rbac.authorization.k8s.io", "roles", OWN),
    // Backends are scaled to zero and removed by us, and made by proxies: nobody can grant what he does not have.
    right("apps", "statefulsets", OWN),
    right("", "pods/attach", &["create", "get"]),
    right("", "pods/log", &["get"]),
    // Pods are watched, and deleted when their user asks for an immediate restart.
    right("", "pods", &["delete", "get", "list", "watch"]),
    // What servers refer to. Those with random content are made once and go with their owner; one that has lost its owner is
    // given to the next, which changes nothing of its content.
    right("", "secrets", &["create", "get", "list", "patch", "watch"]),
    // The pods of a virtual server agree on who reports its status: nobody can grant what he does not have.
    right("coordination.k8s.io", "leases", &["create", "get", "patch"]),
    right("autoscaling", "horizontalpodautoscalers", READ),
    right("events.k8s.io", "events", &["create", "patch"]),
];

/// The kinds that have children.
const OWNERS: &[&str] = &[
    kinds::EmbeddingServerSpec::PLURAL,
    kinds::MCPRegistrySpec::PLURAL,
    kinds::MCPRemoteProxySpec::PLURAL,
    kinds::MCPServerSpec::PLURAL,
    kinds::VirtualMCPServerSpec::PLURAL,
];

/// The kinds that are looked after: their status and their finalizer are written.
const PLANNED: &[&str] = &[
    kinds::EmbeddingServerSpec::PLURAL,
    kinds::MCPAuthzConfigSpec::PLURAL,
    kinds::MCPExternalAuthConfigSpec::PLURAL,
    kinds::MCPGroupSpec::PLURAL,
    kinds::MCPOIDCConfigSpec::PLURAL,
    kinds::MCPRegistrySpec::PLURAL,
    kinds::MCPRemoteProxySpec::PLURAL,
    kinds::MCPServerEntrySpec::PLURAL,
    kinds::MCPServerSpec::PLURAL,
    kinds::MCPTelemetryConfigSpec::PLURAL,
    kinds::MCPToolConfigSpec::PLURAL,
    kinds::MCPWebhookConfigSpec::PLURAL,
    kinds::VirtualMCPCompositeToolDefinitionSpec::PLURAL,
    kinds::VirtualMCPServerSpec::PLURAL,
];

/// Everything that is done with the kinds of the API.
fn own_kinds() -> Vec<Value> {
    let rule = |resource: &str, verbs: &[&str]| json!({"apiGroups": [GROUP], "resources": [resource], "verbs": verbs});
    let mut rules = Vec::new();
    for plural in PLANNED {
        rules.push(rule(plural, &["get", "list", "patch", "watch"]));
        rules.push(rule(&format!("{plural}/status"), &["patch"]));
    }
    // Where it is enforced, an owner reference that blocks deletion needs this.
    rules.extend(OWNERS.iter().map(|plural| rule(&format!("{plural}/finalizers"), &["update"])));
    rules
}

/// The rules of the role that holds in every namespace that the operator looks after: what it does itself, and what
/// registries do, since nobody can grant what he does not have.
pub fn rules() -> Vec<Value> {
    let granted = mcp_registry::rules();
    used().into_iter().chain(granted.as_array().into_iter().flatten().cloned()).collect()
}

/// What the operator does itself.
fn used() -> Vec<Value> {
    let common = RIGHTS.iter().map(|Right { group, resource, verbs }| {
        json!({"apiGroups": [group], "resources": [resource], "verbs": verbs})
    });
    common.chain(own_kinds()).collect()
}

/// The rules in the operator's own namespace, for leadership.
pub fn leader_rules() -> Vec<Value> {
    let lease = |verbs: &[&str], names: Value| json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs, "resourceNames": names});
    let mut create = lease(&["create"], json!([]));
    if let Some(fields) = create.as_object_mut() {
        // Creation by POST knows no name yet.
        fields.remove("resourceNames");
    }
    vec![lease(&["get", "patch"], json!([LEADER_ELECTION_LEASE])), create]
}

/// The rules of the `ClusterRole` that the storage-version migrator needs beside [`rules`], which let it publish Events.
pub fn migrator_rules() -> Vec<Value> {
    let (mut names, mut plurals) = (Vec::new(), Vec::new());
    for definition in thv_api::crds() {
        names.extend(definition.metadata.name);
        plurals.push(definition.spec.names.plural);
    }
    let crds = json!(["apiextensions.k8s.io"]);
    vec![
        json!({"apiGroups": crds, "resources": ["customresourcedefinitions"], "verbs": READ}),
        json!({
            "apiGroups": crds, "resources": ["customresourcedefinitions/status"], "resourceNames": names,
            "verbs": ["patch"],
        }),
        json!({"apiGroups": [GROUP], "resources": plurals, "verbs": ["get", "list", "patch"]}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_ever_replaced_and_no_secret_deleted() {
        for rule in [used(), migrator_rules()].concat() {
            let verbs = rule["verbs"].as_array().unwrap();
            let is_finalizer = rule["resources"][0].as_str().unwrap().ends_with("/finalizers");
            assert!(is_finalizer || !verbs.contains(&json!("update")), "{rule}");
        }
        for rule in [rules(), migrator_rules()].concat() {
            let is_about_secrets = rule["resources"].as_array().unwrap().contains(&json!("secrets"));
            let verbs = rule["verbs"].as_array().unwrap();
            let changes = |verb: &str| verbs.contains(&json!(verb));
            assert!(!is_about_secrets || !(changes("delete") || changes("update")), "{rule}");
            assert!(!rule.to_string().contains('*'), "{rule}");
        }
    }
}
