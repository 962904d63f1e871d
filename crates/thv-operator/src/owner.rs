//! Custom resources as we cache them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use thv_api::names::field_managers;
use thv_api::{Kind, Malformed, Object, Watched};
use thv_plan::digest;

use crate::fields::{is_of, restrict, sorted};
use crate::key::Key;
use crate::shelf::Sight;
use crate::takeover::{self, Part};

/// A custom resource of ours, with what its `managedFields` say but without them.
pub struct Cached<S: Kind> {
    /// The object, or what is wrong with it.
    pub object: Result<Arc<Object<S>>, Malformed>,
    /// The digest of the part of the status that we have applied; nothing if we have applied none.
    pub status: Option<String>,
    /// The types of the conditions that we have applied. Others may have theirs.
    pub(crate) conditions: Box<[String]>,
    /// Whether the Go operator's part of the status is to be taken over.
    pub takeover: bool,
}

/// A custom resource as a watch delivers it: any JSON at all.
pub(crate) struct Raw<S> {
    metadata: ObjectMeta,
    value: Value,
    kind: PhantomData<fn() -> S>,
}

impl<S> Clone for Raw<S> {
    fn clone(&self) -> Self {
        Self { metadata: self.metadata.clone(), value: self.value.clone(), kind: PhantomData }
    }
}

impl<S> fmt::Debug for Raw<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw").field("name", &self.metadata.name).finish_non_exhaustive()
    }
}

impl<'de, S> Deserialize<'de> for Raw<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let metadata = value.get("metadata").and_then(|metadata| ObjectMeta::deserialize(metadata).ok());
        Ok(Self { metadata: metadata.unwrap_or_default(), value, kind: PhantomData })
    }
}

impl<S: Kind> Resource for Raw<S> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Object::<S>::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        Object::<S>::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        Object::<S>::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        Object::<S>::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// What is kept of a custom resource that has children. It is its own owner.
pub(crate) fn owner<S: Kind>(raw: Raw<S>) -> Sight<Cached<S>> {
    let key = Key::of(&raw);
    Sight { kept: Some(cache(raw)), owner: Some(key) }
}

/// What is kept of a custom resource that others refer to.
pub(crate) fn referent<S: Kind>(raw: Raw<S>) -> Sight<Cached<S>> {
    Sight { kept: Some(cache(raw)), owner: None }
}

fn cache<S: Kind>(raw: Raw<S>) -> Cached<S> {
    let Raw { metadata, value, kind: PhantomData } = raw;
    let status = applied_status(&metadata, &value);
    let takeover = takeover::is_due(&metadata, Part::Status);
    let object = Watched::<Object<S>>::deserialize(&value).map_or_else(
        |error| {
            Err(Malformed {
                path: String::new(),
                reason: error.to_string(),
                metadata: Box::new(metadata.clone()),
            })
        },
        |watched| watched.0,
    );
    let without_fields = |mut object: Object<S>| {
        object.metadata.managed_fields = None;
        Arc::new(object)
    };
    Cached {
        object: object.map(without_fields),
        conditions: status.as_ref().map(condition_types).unwrap_or_default(),
        status: status.as_ref().map(status_digest),
        takeover,
    }
}

/// The part of a status that we have applied.
fn applied_status(metadata: &ObjectMeta, object: &Value) -> Option<Value> {
    let mut entries = metadata.managed_fields.iter().flatten();
    let entry = entries.find(|entry| is_of(entry, field_managers::OPERATOR, "Apply", "status"))?;
    let fields = entry.fields_v1.as_ref()?.0.get("f:status")?;
    Some(restrict(object.get("status")?, fields))
}

fn condition_types(status: &Value) -> Box<[String]> {
    let conditions = status.get("conditions").and_then(Value::as_array);
    let types = conditions.into_iter().flatten().filter_map(|condition| condition.get("type")?.as_str());
    types.map(str::to_owned).collect()
}

/// The digest of a status, in which the order of conditions does not count.
pub(crate) fn status_digest(status: &Value) -> String {
    let mut status = status.clone();
    if let Some(conditions) = status.get_mut("conditions") {
        *conditions = sorted(conditions.take());
    }
    digest(&status)
}
