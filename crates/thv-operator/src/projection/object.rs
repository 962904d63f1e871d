//! Custom resources as we cache them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use thv_api::conditions::Observation;
use thv_api::names::{annotations, field_managers};
use thv_api::{Kind, Malformed, Object, Watched, metadata_of};
use thv_plan::managed_fields::is_of;
use thv_plan::{Planned, Reference, References, Refers, Settings, Target, digest, named_targets};

use super::fields::{restrict, sorted};
use crate::cache::{DefinitionId, Projection};
use crate::clock;
use crate::hash::hash;
use crate::relation::{Relation, RelationId};
use crate::takeover::{self, Part};

/// A custom resource of ours, with what its `managedFields` say but without them.
pub(crate) struct Cached<S: Kind> {
    /// The object, or what is wrong with it.
    pub object: Result<Arc<Object<S>>, Malformed>,
    /// The status of an object that is malformed elsewhere.
    pub(crate) malformed_status: Option<Box<S::Status>>,
    /// The digest of the part of the status that we have applied, as a number; nothing if we have applied none.
    pub status: Option<u64>,
    /// The types of the conditions that we have applied. Others may have theirs.
    pub(crate) conditions: Box<[String]>,
    /// Whether the Go operator's part of the status is to be taken over.
    pub takeover: bool,
    /// When the annotations that are requests were written, by the clock of the API server.
    pub(crate) requested: BTreeMap<String, Timestamp>,
}

impl<S: Kind> Cached<S> {
    /// What identifies the object, malformed or not.
    pub(crate) fn metadata(&self) -> &ObjectMeta {
        match &self.object {
            Ok(object) => &object.metadata,
            Err(malformed) => &malformed.metadata,
        }
    }

    /// Our part of the status that the object has: without what others report, and the conditions of others.
    pub(crate) fn our_status(&self) -> Option<S::Status>
    where
        S: Planned,
    {
        let mut status = S::ours(self.live_status()?.clone());
        if let Some(conditions) = S::conditions_mut(&mut status) {
            conditions.retain(|condition| self.conditions.contains(&condition.type_));
        }
        Some(status)
    }

    /// What conditions are made from.
    pub(crate) fn observation(&self) -> Observation<'_>
    where
        S: Planned,
    {
        let live = self.live_status().map(S::conditions).unwrap_or_default();
        Observation::new(self.metadata().generation.unwrap_or_default(), clock::now(), live)
    }

    /// The status that the object has, malformed or not.
    pub(crate) fn live_status(&self) -> Option<&S::Status> {
        match &self.object {
            Ok(object) => object.status.as_ref(),
            Err(_) => self.malformed_status.as_deref(),
        }
    }
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
        let mut value = Value::deserialize(deserializer)?;
        let metadata = value.get_mut("metadata").map(metadata_of).unwrap_or_default();
        Ok(Self { metadata, value, kind: PhantomData })
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

/// What is kept of a custom resource, and whom it refers to.
pub(crate) fn project<S: Refers>(
    raw: Raw<S>,
    requests: &[&str],
    settings: &Settings,
) -> Projection<Cached<S>> {
    let namespace = raw.metadata.namespace.clone().unwrap_or_default();
    let value = cache(&raw, requests);
    let (relations, definition) = match &value.object {
        Ok(object) => (refers_to(object, &namespace, settings), definition(&object.metadata)),
        // What it names must not go either.
        Err(_) => (raw.value.get("spec").map(|spec| names(spec, &namespace)).unwrap_or_default(), None),
    };
    Projection { value, relations, definition }
}

/// The objects that a spec names which cannot be read.
fn names(spec: &Value, namespace: &str) -> Vec<RelationId> {
    let targets = named_targets(spec).into_iter();
    targets.map(|Target { kind, name }| Relation::RefersTo { kind, name: &name }.id(namespace)).collect()
}

/// Identifies what the user of an object says: the generation counts changes of the spec.
fn definition(metadata: &ObjectMeta) -> Option<DefinitionId> {
    /// What we write ourselves.
    const OURS: [&str; 2] = [annotations::REVISION, annotations::LAST_PROCESSED_RESTART];
    let ObjectMeta { uid, generation, deletion_timestamp, labels, annotations, .. } = metadata;
    generation.as_ref()?;
    let annotations: Vec<_> =
        annotations.iter().flatten().filter(|(key, _)| !OURS.contains(&key.as_str())).collect();
    let number = hash((uid, generation, deletion_timestamp.is_some(), labels, annotations));
    NonZeroU64::new(number).map(DefinitionId)
}

/// The objects that one names itself. They are told when it changes, as much as it is told when they do.
fn refers_to<S: Refers>(object: &Object<S>, namespace: &str, settings: &Settings) -> Vec<RelationId> {
    let refs = S::refs(object, &References::new(), settings).into_iter();
    refs.filter_map(|reference| match reference {
        Reference::Object(Target { kind, name }) => {
            let can_refer = S::REFERS_TO.contains(&kind);
            debug_assert!(can_refer, "{} refers to a {kind}, which it cannot", S::KIND);
            can_refer.then(|| Relation::RefersTo { kind, name: &name }.id(namespace))
        }
        // Whoever asks for the status of an object names the object, too.
        Reference::Status(_)
        | Reference::ConfigMap(_)
        | Reference::Secret(_)
        | Reference::Referrers { .. }
        | Reference::ReferredBy(_) => None,
    })
    .collect()
}

fn cache<S: Kind>(raw: &Raw<S>, requests: &[&str]) -> Cached<S> {
    let Raw { metadata, value, kind: PhantomData } = raw;
    let status = applied_status(metadata, value);
    let takeover = takeover::is_due(metadata, Part::Status);
    let requested = requests.iter().filter_map(|key| Some(((*key).to_owned(), written_at(metadata, key)?)));
    let requested = requested.collect();
    let object = match read::<S>(value, metadata) {
        // Whoever may write a status must not keep the spec from being read.
        Err(malformed) if malformed.path.starts_with("status") => {
            let mut value = value.clone();
            if let Some(fields) = value.as_object_mut() {
                fields.remove("status");
            }
            read(&value, metadata)
        }
        object => object,
    };
    let without_fields = |mut object: Object<S>| {
        object.metadata.managed_fields = None;
        Arc::new(object)
    };
    let malformed_status = match &object {
        Ok(_) => None,
        Err(_) => value.get("status").and_then(|status| S::Status::deserialize(status).ok()).map(Box::new),
    };
    Cached {
        object: object.map(without_fields),
        malformed_status,
        conditions: status.as_ref().map(condition_types).unwrap_or_default(),
        status: status.as_ref().map(|status| hash(status_digest(status))),
        takeover,
        requested,
    }
}

fn read<S: Kind>(value: &Value, metadata: &ObjectMeta) -> Result<Object<S>, Malformed> {
    Watched::<Object<S>>::deserialize(value).map_or_else(
        |error| {
            Err(Malformed {
                path: String::new(),
                reason: error.to_string(),
                metadata: Box::new(metadata.clone()),
            })
        },
        |watched| watched.0,
    )
}

/// When an annotation was written last: when whoever owns it wrote last.
fn written_at(metadata: &ObjectMeta, annotation: &str) -> Option<Timestamp> {
    let field = format!("f:{annotation}");
    let owns = |entry: &&ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().and_then(|FieldsV1(fields)| fields.get("f:metadata"));
        fields.and_then(|fields| fields.get("f:annotations")?.get(&field)).is_some()
    };
    let times = metadata.managed_fields.iter().flatten().filter(owns).filter_map(|entry| entry.time.as_ref());
    times.map(|time| time.0).min()
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
