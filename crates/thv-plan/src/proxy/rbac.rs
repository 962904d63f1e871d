//! What the pods of a proxy are and what they may do.

use serde_json::{Value, json};

use super::{Proxy, secret_references};
use crate::child::{Child, ChildKind};

/// The API group of Roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// A ServiceAccount, of the proxy or of what it runs. Without pull secrets the field is not ours, so that what a
/// platform puts there stays.
pub(crate) fn account(proxy: &Proxy<'_>, name: &str, pull_secrets: &[String]) -> Child {
    let mut body = json!({ "metadata": { "labels": proxy.managed_labels() } });
    if let Some(body) = body.as_object_mut().filter(|_| !pull_secrets.is_empty()) {
        body.insert("imagePullSecrets".to_owned(), secret_references(pull_secrets));
    }
    proxy.child(ChildKind::ServiceAccount, name, body)
}

/// The Role of the proxy.
pub(crate) fn role(proxy: &Proxy<'_>, rules: Value) -> Child {
    let body = json!({ "metadata": { "labels": proxy.managed_labels() }, "rules": rules });
    proxy.child(ChildKind::Role, &proxy.names.account, body)
}

/// Gives the Role to the ServiceAccount of the proxy.
pub(crate) fn role_binding(proxy: &Proxy<'_>) -> Child {
    let name = &proxy.names.account;
    let body = json!({
        "metadata": { "labels": proxy.managed_labels() },
        "roleRef": { "apiGroup": RBAC, "kind": "Role", "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": proxy.owner.namespace }],
    });
    proxy.child(ChildKind::RoleBinding, name, body)
}
