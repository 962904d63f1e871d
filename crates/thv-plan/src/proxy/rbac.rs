//! What the pods of a proxy are and what they may do.

use serde_json::Value;

use super::Proxy;
use crate::child::{Child, ChildKind};
use crate::rbac;

/// A ServiceAccount, of the proxy or of what it runs.
pub(crate) fn account(proxy: &Proxy<'_>, name: &str, pull_secrets: &[String]) -> Child {
    proxy.child(ChildKind::ServiceAccount, name, rbac::account(&proxy.managed_labels(), pull_secrets))
}

/// The Role of the proxy.
pub(crate) fn role(proxy: &Proxy<'_>, rules: Value) -> Child {
    proxy.child(ChildKind::Role, &proxy.names.account, rbac::role(&proxy.managed_labels(), rules))
}

/// Gives the Role to the ServiceAccount of the proxy.
pub(crate) fn role_binding(proxy: &Proxy<'_>) -> Child {
    let name = &proxy.names.account;
    let body = rbac::role_binding(&proxy.managed_labels(), name, proxy.owner.namespace);
    proxy.child(ChildKind::RoleBinding, name, body)
}
