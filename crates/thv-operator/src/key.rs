//! Names of objects within the cluster.

use std::fmt;
use std::sync::Arc;

use kube::Resource;

/// Namespace and name: what tells the objects of one kind apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NamespacedName {
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl NamespacedName {
    /// A name from its parts.
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The name of an object.
    pub(crate) fn of<K: Resource>(object: &K) -> Self {
        let metadata = object.meta();
        Self::new(
            metadata.namespace.as_deref().unwrap_or_default(),
            metadata.name.as_deref().unwrap_or_default(),
        )
    }

    /// Another object of the same namespace.
    pub(crate) fn sibling(&self, name: &str) -> Self {
        Self { namespace: self.namespace.clone(), name: name.into() }
    }
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The identity of an object that is looked after. Objects of two kinds may have one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    /// Its kind.
    pub kind: &'static str,
    /// Its namespace and name.
    pub object: NamespacedName,
}

impl Key {
    /// A key from its parts.
    #[cfg(test)]
    pub(crate) fn new(kind: &'static str, namespace: &str, name: &str) -> Self {
        Self { kind, object: NamespacedName::new(namespace, name) }
    }

    /// The namespace.
    pub(crate) fn namespace(&self) -> &str {
        &self.object.namespace
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.object.name
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.object)
    }
}
