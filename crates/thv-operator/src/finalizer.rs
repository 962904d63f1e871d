//! Adding and removing our finalizer, and no other.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

/// What happens to a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalizerChange {
    /// It is added.
    Add(&'static str),
    /// It is removed.
    Remove(&'static str),
}

impl FinalizerChange {
    /// The JSON patch, which holds for the version of the object that was read and no other; nothing if the object
    /// has no version.
    pub(crate) fn operations(self, metadata: &ObjectMeta) -> Option<Value> {
        let version = metadata.resource_version.as_deref()?;
        let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": version});
        let present = metadata.finalizers.as_deref().unwrap_or_default();
        let change = match self {
            Self::Add(name) if present.iter().any(|finalizer| finalizer == name) => return None,
            Self::Add(name) if present.is_empty() => {
                json!({"op": "add", "path": "/metadata/finalizers", "value": [name]})
            }
            Self::Add(name) => json!({"op": "add", "path": "/metadata/finalizers/-", "value": name}),
            Self::Remove(name) => {
                let index = present.iter().position(|finalizer| finalizer == name)?;
                json!({"op": "remove", "path": format!("/metadata/finalizers/{index}")})
            }
        };
        Some(json!([test, change]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(finalizers: &[&str]) -> ObjectMeta {
        ObjectMeta {
            resource_version: Some("7".to_owned()),
            finalizers: Some(finalizers.iter().map(|name| (*name).to_owned()).collect()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn only_our_finalizer_is_touched() {
        let add = FinalizerChange::Add("ours");
        let remove = FinalizerChange::Remove("ours");
        let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"});
        let expect = |operation: Value| Some(json!([test, operation]));
        assert_eq!(
            add.operations(&with(&[])),
            expect(json!({"op": "add", "path": "/metadata/finalizers", "value": ["ours"]}))
        );
        assert_eq!(
            add.operations(&with(&["theirs"])),
            expect(json!({"op": "add", "path": "/metadata/finalizers/-", "value": "ours"}))
        );
        assert_eq!(
            remove.operations(&with(&["theirs", "ours"])),
            expect(json!({"op": "remove", "path": "/metadata/finalizers/1"}))
        );
        assert_eq!(remove.operations(&with(&["theirs"])), None);
        assert_eq!(add.operations(&with(&["ours"])), None);
    }
}
