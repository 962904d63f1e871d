//! Objects as a watch sees them, malformed ones included.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube_core::Resource;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An object that may turn out malformed. This is the type to list and watch.
///
/// A list or watch of the bare type ends at the first object that does not decode, so that one bad object
/// stops the controller for all of them. This one always decodes, and says which object and field are bad.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched<K>(pub Result<K, Malformed>);

/// An object in etcd that is not what its schema promises.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Malformed {
    /// The field that does not decode, such as `spec.transport`.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
    /// What could be read of the metadata: at least name, namespace, uid and resourceVersion.
    pub metadata: Box<ObjectMeta>,
}

impl<'de, K: Resource + serde::de::DeserializeOwned> Deserialize<'de> for Watched<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let metadata = value.get_mut("metadata").map(metadata_of).unwrap_or_default();
        Ok(Self(serde_path_to_error::deserialize(&value).map_err(|error| Malformed {
            path: error.path().to_string(),
            reason: error.inner().to_string(),
            metadata: Box::new(metadata),
        })))
    }
}

/// The metadata as a whole or, when it is the malformed part, what identifies the object.
///
/// The API server takes times that our types do not know, up to the last second of the year 9999, and whoever may write
/// an object may choose the time of an entry in its `managedFields`. Such a time is removed from `metadata`: nobody can
/// keep us from reading the objects of everybody else.
pub fn metadata_of(metadata: &mut Value) -> ObjectMeta {
    if let Ok(metadata) = ObjectMeta::deserialize(&*metadata) {
        return metadata;
    }
    mend_times(metadata);
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).map(str::to_owned);
    ObjectMeta::deserialize(&*metadata).unwrap_or_else(|_| ObjectMeta {
        name: text("name"),
        namespace: text("namespace"),
        uid: text("uid"),
        resource_version: text("resourceVersion"),
        ..ObjectMeta::default()
    })
}

/// The same while an object is being read.
pub fn lenient_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let mut metadata = Value::deserialize(deserializer)?;
    Ok(metadata_of(&mut metadata))
}

/// Removes the times that our types do not know. That an object is being deleted stays true.
fn mend_times(metadata: &mut Value) {
    let is_unknown = |time: &Value| Time::deserialize(time).is_err();
    if metadata.get("creationTimestamp").is_some_and(is_unknown)
        && let Some(fields) = metadata.as_object_mut()
    {
        fields.remove("creationTimestamp");
    }
    if let Some(time) = metadata.get_mut("deletionTimestamp").filter(|time| is_unknown(time)) {
        *time = Timestamp::UNIX_EPOCH.to_string().into();
    }
    let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        if entry.get("time").is_some_and(is_unknown) {
            entry.remove("time");
        }
    }
}

impl<K: Resource> Resource for Watched<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn plural(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn meta(&self) -> &ObjectMeta {
        match &self.0 {
            Ok(object) => object.meta(),
            Err(malformed) => &malformed.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match &mut self.0 {
            Ok(object) => object.meta_mut(),
            Err(malformed) => &mut malformed.metadata,
        }
    }
}
