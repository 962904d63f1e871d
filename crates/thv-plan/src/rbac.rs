//! Accounts, roles and their bindings: what pods are and what they may do.

use serde_json::{Value, json};

use crate::metadata::Pairs;
use crate::proxy::secret_references;

/// The API group of Roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// A ServiceAccount. Without pull secrets the field is not ours, so that what a platform puts there stays.
pub(crate) fn account(labels: &Pairs, pull_secrets: &[String]) -> Value {
    let mut body = json!({ "metadata": { "labels": labels } });
    if let Some(body) = body.as_object_mut().filter(|_| !pull_secrets.is_empty()) {
        body.insert("imagePullSecrets".to_owned(), secret_references(pull_secrets));
    }
    body
}

/// A Role.
pub(crate) fn role(labels: &Pairs, rules: Value) -> Value {
    json!({ "metadata": { "labels": labels }, "rules": rules })
}

/// Gives a Role to the ServiceAccount of the same name.
pub(crate) fn role_binding(labels: &Pairs, name: &str, namespace: &str) -> Value {
    json!({
        "metadata": { "labels": labels },
        "roleRef": { "apiGroup": RBAC, "kind": "Role", "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": namespace }],
    })
}
