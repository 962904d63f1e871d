//! What the metadata of an object says about who it belongs to and who has written it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ObjectMeta, OwnerReference};
use thv_api::names::{GROUP, field_managers};
use thv_plan::managed_fields::is_of;
use thv_plan::{Controller, Identity};

use crate::relation::{Relation, RelationId};

/// Who has written an object, as its `managedFields` tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// We have.
    Operator,
    /// The Go operator has, and we have not yet.
    GoOperator,
    /// A proxy has, ours or Go's. What proxies make, proxies look after.
    Proxy,
    /// Somebody else.
    Other,
}

impl Writer {
    /// The one that says most about whom an object belongs to.
    pub(crate) fn of(metadata: &ObjectMeta) -> Self {
        let managers: Vec<&str> =
            metadata.managed_fields.iter().flatten().filter_map(|entry| entry.manager.as_deref()).collect();
        let is_there = |manager: &str| managers.contains(&manager);
        if is_there(field_managers::PROXY_RUNNER) || is_there(field_managers::GO_PROXY_RUNNER) {
            Self::Proxy
        } else if is_there(field_managers::OPERATOR) {
            Self::Operator
        } else if is_there(field_managers::GO_OPERATOR) {
            Self::GoOperator
        } else {
            Self::Other
        }
    }

    /// Whether the operator made it, ours or Go's.
    pub(crate) const fn is_operator(self) -> bool {
        matches!(self, Self::Operator | Self::GoOperator)
    }
}

/// The controlling owner, of whatever kind.
fn controlling_owner(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// The same, as plans know it.
pub(crate) fn controller(metadata: &ObjectMeta) -> Option<Controller> {
    let OwnerReference { kind, name, uid, api_version: _, controller: _, block_owner_deletion: _ } =
        controlling_owner(metadata)?;
    Some(Controller { kind: kind.clone(), name: name.clone(), uid: uid.clone() })
}

/// The same, if it is of our group, in whatever version its writer knows the kind.
pub(crate) fn our_controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    let is_ours =
        |owner: &&OwnerReference| owner.api_version.split_once('/').is_some_and(|(group, _)| group == GROUP);
    controlling_owner(metadata).filter(is_ours)
}

/// Whom an object concerns because they control it.
pub(crate) fn owner_relation(metadata: &ObjectMeta) -> Option<RelationId> {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    controlling_owner(metadata).map(|owner| Relation::ControlledBy { uid: &owner.uid }.id(namespace))
}

/// The fields that `manager` has applied, but for those of subresources.
pub(crate) fn applied_fields<'a>(metadata: &'a ObjectMeta, manager: &str) -> Option<&'a FieldsV1> {
    let ours = metadata.managed_fields.iter().flatten().find(|entry| is_of(entry, manager, "Apply", ""));
    ours?.fields_v1.as_ref()
}

pub(crate) fn identity(metadata: &ObjectMeta) -> Option<Identity> {
    Some(Identity { uid: metadata.uid.clone()?, resource_version: metadata.resource_version.clone()? })
}

pub(crate) fn annotation<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_owner(api_version: &str) -> ObjectMeta {
        serde_json::from_value(json!({"ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n"},
            {"apiVersion": api_version, "kind": "MCPServer", "name": "s", "uid": "u", "controller": true},
        ]}))
        .unwrap()
    }

    #[test]
    fn owners_are_known_by_group_in_every_version() {
        for version in ["v1alpha1", "v1beta1"] {
            let owner =
                our_controller(&with_owner(&format!("{GROUP}/{version}"))).map(|owner| owner.uid.clone());
            assert_eq!(owner.as_deref(), Some("u"), "{version}");
        }
        for other in ["apps/v1", GROUP] {
            assert!(our_controller(&with_owner(other)).is_none(), "{other}");
            assert!(controller(&with_owner(other)).is_some(), "{other}");
        }
    }

    #[test]
    fn what_a_proxy_has_written_is_not_the_operators() {
        let written_by = |managers: &[&str]| {
            let entries: Vec<_> = managers.iter().map(|name| json!({"manager": name})).collect();
            Writer::of(&serde_json::from_value(json!({"managedFields": entries})).unwrap())
        };
        assert_eq!(written_by(&["kubectl"]), Writer::Other);
        assert_eq!(written_by(&["kubectl", "thv-operator"]), Writer::GoOperator);
        assert_eq!(written_by(&["thv-operator", "toolhive-operator"]), Writer::Operator);
        assert_eq!(written_by(&["toolhive-operator-handoff", "toolhive-proxyrunner"]), Writer::Proxy);
        assert!(Writer::GoOperator.is_operator() && !Writer::Proxy.is_operator());
    }
}
