//! What the pods of a server are and what they may do.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::children::mcp_server;
use thv_api::names::labels::{self, Workload};

use super::name_of;
use crate::child::{Child, ChildKind};
use crate::metadata::controller;
use crate::proxy_role;

/// The API group of Roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// The ServiceAccount of the proxy.
pub(super) fn proxy_account(owner: &MCPServer, pull_secrets: &[String]) -> Child {
    account(owner, &mcp_server::proxy_runner(name_of(owner)), pull_secrets)
}

/// The ServiceAccount of the backend, for those who do not bring one.
pub(super) fn backend_account(owner: &MCPServer, pull_secrets: &[String]) -> Child {
    account(owner, &mcp_server::backend_service_account(name_of(owner)), pull_secrets)
}

/// A ServiceAccount. Without pull secrets the field is not ours, so that what a platform puts there stays.
fn account(owner: &MCPServer, name: &str, pull_secrets: &[String]) -> Child {
    let mut body =
        json!({ "metadata": { "labels": labels_of(owner), "ownerReferences": controller(owner) } });
    if let Some(body) = body.as_object_mut().filter(|_| !pull_secrets.is_empty()) {
        body.insert("imagePullSecrets".to_owned(), named(pull_secrets));
    }
    Child::new(ChildKind::ServiceAccount, name, body).identified_by(labels_of(owner))
}

/// The Role of the proxy.
pub(super) fn role(owner: &MCPServer) -> Child {
    let body = json!({
        "metadata": { "labels": labels_of(owner), "ownerReferences": controller(owner) },
        "rules": proxy_role::rules(name_of(owner)),
    });
    Child::new(ChildKind::Role, &mcp_server::proxy_runner(name_of(owner)), body).identified_by(labels_of(owner))
}

/// Gives the Role to the ServiceAccount of the proxy.
pub(super) fn role_binding(owner: &MCPServer) -> Child {
    let name = mcp_server::proxy_runner(name_of(owner));
    let namespace = owner.metadata.namespace.as_deref().unwrap_or_default();
    let body = json!({
        "metadata": { "labels": labels_of(owner), "ownerReferences": controller(owner) },
        "roleRef": { "apiGroup": RBAC, "kind": "Role", "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": namespace }],
    });
    Child::new(ChildKind::RoleBinding, &name, body).identified_by(labels_of(owner))
}

/// Names as a list of references.
pub(super) fn named(names: &[String]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

/// The labels by which these objects are found again when they are not needed any more.
fn labels_of(owner: &MCPServer) -> BTreeMap<String, String> {
    let mut all = labels::workload(Workload::McpServer, name_of(owner));
    all.insert(labels::MANAGED_BY.to_owned(), labels::OPERATOR.to_owned());
    all
}
