//! The parts of a proxy that all kinds with one share: pods, Deployment, Service, RBAC, ConfigMaps, environment, mounts
//! and overrides. A kind says what its children are called and what is in them.

pub(crate) mod config_maps;
pub(crate) mod deployment;
pub(crate) mod env;
pub(crate) mod mounts;
pub(crate) mod overrides;
pub(crate) mod pod;
pub(crate) mod rbac;
pub(crate) mod service;
pub(crate) mod validate;

use serde_json::{Value, json};
use thv_api::names::labels::{self, Workload};

use crate::child::{Child, ChildKind};
use crate::metadata::Pairs;
use crate::owner::Owner;

/// The proxy of an object.
#[derive(Clone, Debug)]
pub(crate) struct Proxy<'a> {
    /// The object.
    pub(crate) owner: Owner<'a>,
    /// What kind of object, in labels.
    pub(crate) workload: Workload,
    /// What the children are called.
    pub(crate) names: Names,
}

/// What the children of an object with a proxy are called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The Deployment.
    pub(crate) deployment: String,
    /// The Service.
    pub(crate) service: String,
    /// The ConfigMap with the configuration.
    pub(crate) run_config: String,
    /// The ConfigMap with the authorization rules that stand in the spec.
    pub(crate) inline_authz: String,
    /// The `ServiceAccount`, Role and `RoleBinding`.
    pub(crate) account: String,
}

impl Proxy<'_> {
    /// The labels of everything that runs. They are the selector too.
    pub(crate) fn labels(&self) -> Pairs {
        labels::workload(self.workload, self.owner.name)
    }

    /// The same, with who manages the object. RBAC and ConfigMaps have these.
    fn managed_labels(&self) -> Pairs {
        let mut all = self.labels();
        all.insert(labels::MANAGED_BY.to_owned(), labels::OPERATOR.to_owned());
        all
    }

    /// A child of the object, known by the labels of the proxy.
    pub(crate) fn child(&self, kind: ChildKind, name: &str, body: Value) -> Child {
        self.owner.child(kind, name, body, self.labels())
    }
}

/// Names as a list of references to Secrets.
pub(crate) fn secret_references(names: &[String]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

#[cfg(test)]
mod tests {
    use thv_api::kinds::{MCPGroup, MCPGroupSpec};

    use super::*;

    #[test]
    fn children_are_owned_and_known_by_labels_of_kind_and_name_for_any_owner() {
        let object = MCPGroup::new("far", MCPGroupSpec::default());
        let names = Names {
            deployment: "far".to_owned(),
            service: "mcp-far-remote-proxy".to_owned(),
            run_config: "far-runconfig".to_owned(),
            inline_authz: "far-authz-inline".to_owned(),
            account: "far-remote-proxy-runner".to_owned(),
        };
        let proxy = Proxy { owner: Owner::from(&object), workload: Workload::McpRemoteProxy, names };
        let role = rbac::role(&proxy, json!([]));
        assert_eq!(role.name(), "far-remote-proxy-runner");
        assert_eq!(role.identity(), &labels::workload(Workload::McpRemoteProxy, "far"));
        assert_eq!(role.body()["metadata"]["ownerReferences"][0]["kind"], "MCPGroup");
        let config = config_maps::run_config(&proxy, "{}", "c");
        assert_eq!(config.identity(), &labels::configuration(Workload::McpRemoteProxy, "far"));
    }
}
