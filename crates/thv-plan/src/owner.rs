//! What children need to know of the object that they belong to.

use serde_json::{Value, json};
use thv_api::{Kind, Object};

use crate::child::{Child, ChildKind};
use crate::json::object;
use crate::metadata::Pairs;

/// The object that children belong to, whatever its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    api_version: String,
    kind: &'static str,
    /// Its name.
    pub(crate) name: &'a str,
    /// Its namespace, which is that of its children.
    pub(crate) namespace: &'a str,
    uid: &'a str,
}

impl<'a, S: Kind> From<&'a Object<S>> for Owner<'a> {
    fn from(object: &'a Object<S>) -> Self {
        let metadata = &object.metadata;
        Self {
            api_version: Object::<S>::api_version_text(),
            kind: S::KIND,
            name: metadata.name.as_deref().unwrap_or_default(),
            namespace: metadata.namespace.as_deref().unwrap_or_default(),
            uid: metadata.uid.as_deref().unwrap_or_default(),
        }
    }
}

impl Owner<'_> {
    /// A child that it controls, known by these labels.
    pub(crate) fn child(&self, kind: ChildKind, name: &str, mut body: Value, labels: Pairs) -> Child {
        if let Some(fields) = body.as_object_mut() {
            object(fields, "metadata", |metadata| {
                metadata.insert("ownerReferences".to_owned(), self.references());
            });
        }
        Child::new(kind, name, body).identified_by(labels)
    }

    /// The `ownerReferences` of a child that it controls. The child goes when it goes.
    pub(crate) fn references(&self) -> Value {
        let Self { api_version, kind, name, namespace: _, uid } = self;
        json!([{
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }])
    }
}

#[cfg(test)]
mod tests {
    use thv_api::kinds::{MCPGroup, MCPGroupSpec};

    use super::*;

    #[test]
    fn an_object_of_any_kind_is_the_controller_of_its_children() {
        let mut group = MCPGroup::new("tools", MCPGroupSpec::default());
        group.metadata.uid = Some("u-1".to_owned());
        let expected = json!([{
            "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPGroup", "name": "tools", "uid": "u-1",
            "controller": true, "blockOwnerDeletion": true,
        }]);
        assert_eq!(Owner::from(&group).references(), expected);
    }
}
