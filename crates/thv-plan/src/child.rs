//! The objects that make up a desired state.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::digest::digest;

/// A kind of object that we make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChildKind {
    /// `ConfigMap`.
    ConfigMap,
    /// `Deployment`.
    Deployment,
    /// `Role`.
    Role,
    /// `RoleBinding`.
    RoleBinding,
    /// `Secret`.
    Secret,
    /// `Service`.
    Service,
    /// `ServiceAccount`.
    ServiceAccount,
    /// `StatefulSet`. Its pods may have volume claims by template, which nobody can change later.
    StatefulSet,
}

impl ChildKind {
    /// Every kind, in the order in which children are written: what others need comes first, and workloads
    /// last, so that a pod never starts before its configuration and its rights are there.
    pub const ALL: [Self; 8] = [
        Self::Secret,
        Self::ConfigMap,
        Self::ServiceAccount,
        Self::Role,
        Self::RoleBinding,
        Self::Service,
        Self::StatefulSet,
        Self::Deployment,
    ];

    /// The group and version, as in `apiVersion`.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::ConfigMap | Self::Secret | Self::Service | Self::ServiceAccount => "v1",
            Self::Deployment | Self::StatefulSet => "apps/v1",
            Self::Role | Self::RoleBinding => "rbac.authorization.k8s.io/v1",
        }
    }

    /// The name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Deployment => "Deployment",
            Self::Role => "Role",
            Self::RoleBinding => "RoleBinding",
            Self::Secret => "Secret",
            Self::Service => "Service",
            Self::ServiceAccount => "ServiceAccount",
            Self::StatefulSet => "StatefulSet",
        }
    }

    /// Whether the API server counts changes of its spec in `metadata.generation`.
    pub const fn has_generation(self) -> bool {
        match self {
            Self::Deployment | Self::StatefulSet => true,
            Self::ConfigMap
            | Self::Role
            | Self::RoleBinding
            | Self::Secret
            | Self::Service
            | Self::ServiceAccount => false,
        }
    }
}

/// An object that we want to be there: everything that we own of it, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    kind: ChildKind,
    name: String,
    body: Value,
    identity: BTreeMap<String, String>,
    random: Option<Random>,
    carries_revision: bool,
}

/// Content that is made up when a child is created, and never changes afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// The key in the data of a Secret.
    pub key: String,
    /// How many bytes. They are written in base64.
    pub bytes: usize,
}

impl Child {
    /// A child from its fields. `apiVersion`, `kind` and `metadata.name` are put in here, so that they cannot
    /// contradict `kind` and `name`.
    pub fn new(kind: ChildKind, name: &str, mut body: Value) -> Self {
        if let Some(fields) = body.as_object_mut() {
            fields.insert("apiVersion".to_owned(), kind.api_version().into());
            fields.insert("kind".to_owned(), kind.kind().into());
            let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(serde_json::Map::new()));
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("name".to_owned(), name.into());
            }
        }
        Self {
            kind,
            name: name.to_owned(),
            body,
            identity: BTreeMap::new(),
            random: None,
            carries_revision: false,
        }
    }

    /// A Secret that is made once, with random content that nobody ever changes. `body` has everything else.
    pub fn random_secret(name: &str, body: Value, random: Random) -> Self {
        Self { random: Some(random), ..Self::new(ChildKind::Secret, name, body) }
    }

    /// Says by which labels an object is known as a child of its owner. One that has them, that nobody else controls
    /// and that we have written is adopted.
    #[must_use]
    pub fn identified_by(self, labels: BTreeMap<String, String>) -> Self {
        Self { identity: labels, ..self }
    }

    /// Says that it changes with the revision, and so has to wait with it.
    #[must_use]
    pub fn with_revision(self) -> Self {
        Self { carries_revision: true, ..self }
    }

    /// Whether it changes with the revision.
    pub const fn carries_revision(&self) -> bool {
        self.carries_revision
    }

    /// The labels by which it is known.
    pub const fn identity(&self) -> &BTreeMap<String, String> {
        &self.identity
    }

    /// The content that is made up, if there is some.
    pub const fn random(&self) -> Option<&Random> {
        self.random.as_ref()
    }

    /// Its kind.
    pub const fn kind(&self) -> ChildKind {
        self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is applied.
    pub const fn body(&self) -> &Value {
        &self.body
    }

    /// The digest of what is applied.
    pub fn digest(&self) -> String {
        digest(&self.body)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_child_is_what_its_kind_and_name_say() {
        let body = json!({"kind": "Secret", "metadata": {"name": "x", "labels": {"a": "b"}}, "data": {}});
        let child = Child::new(ChildKind::ConfigMap, "c", body);
        let expected = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "b"}}, "data": {},
        });
        assert_eq!(child.body(), &expected);
    }

    #[test]
    fn every_kind_has_its_place_in_the_order() {
        let mut kinds = ChildKind::ALL.to_vec();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), ChildKind::ALL.len());
        assert_eq!(ChildKind::ALL.last(), Some(&ChildKind::Deployment));
    }
}
