//! The one way to write to the API server. There is no `replace`.

mod stored;

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{GroupVersionKind, PartialObjectMeta};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thv_api::names::field_managers;
use thv_api::{Kind, Object};
use thv_plan::{Child, ChildKind, Random, Scaling};

use crate::finalizer::FinalizerChange;
use crate::key::NamespacedName;
use crate::metrics::{Metrics, Sent};
use crate::takeover::{self, Part};
use crate::write_error::{WriteError, is_not_found};

/// What stands in the way of a creation.
const NEVER_WRITTEN: &str = "1";

/// Writes objects, under the name of the operator and with preconditions.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    metrics: Arc<Metrics>,
}

impl Writer {
    /// A writer with the rights of `client`.
    pub(crate) fn new(client: Client, metrics: Arc<Metrics>) -> Self {
        Self { client, metrics }
    }

    /// Applies a child. `live` is the uid and resourceVersion of the one that is there; without it, the child is
    /// created, and only if there is none.
    pub(crate) async fn apply(
        &self,
        namespace: &str,
        child: &Child,
        live: Option<(&str, &str)>,
    ) -> Result<DynamicObject, WriteError> {
        self.send(namespace, child, live, Sent::Apply).await
    }

    /// Applies a child without effect: whether the API server would refuse it.
    pub(crate) async fn dry_run(
        &self,
        namespace: &str,
        child: &Child,
        live: Option<(&str, &str)>,
    ) -> Result<(), WriteError> {
        self.send(namespace, child, live, Sent::DryRun).await.map(drop)
    }

    async fn send(
        &self,
        namespace: &str,
        child: &Child,
        live: Option<(&str, &str)>,
        sent: Sent,
    ) -> Result<DynamicObject, WriteError> {
        let mut body = child.body().clone();
        put_precondition(&mut body, live);
        let api = self.children(child.kind(), namespace);
        let dry_run = sent == Sent::DryRun;
        let params = PatchParams { dry_run, ..PatchParams::apply(field_managers::OPERATOR).force() };
        let result = api.patch(child.name(), &params, &Patch::Apply(&body)).await;
        self.metrics.wrote(sent, result.is_ok());
        result.map_err(|error| WriteError::of(child_text(child), error))
    }

    /// Creates a Secret with random content. It is not applied: what we apply and do not mention later would go, and
    /// nobody is to know the content later.
    pub(crate) async fn create(
        &self,
        namespace: &str,
        child: &Child,
        random: &Random,
    ) -> Result<DynamicObject, WriteError> {
        let what = child_text(child);
        let mut bytes = vec![0; random.bytes];
        getrandom::fill(&mut bytes).map_err(|error| WriteError::Api {
            what: what.clone(),
            source: Box::new(kube::Error::Service(Box::new(error))),
        })?;
        let mut body = child.body().clone();
        // Programs read it as text, from a variable or a file.
        let text = json!(ByteString(bytes)).as_str().unwrap_or_default().to_owned();
        put(&mut body, "stringData", json!({ random.key.as_str(): text }));
        let object = serde_json::from_value(body).map_err(|error| WriteError::Api {
            what: what.clone(),
            source: Box::new(kube::Error::SerdeError(error)),
        })?;
        let params =
            PostParams { field_manager: Some(field_managers::OPERATOR.to_owned()), ..PostParams::default() };
        let result = self.children(child.kind(), namespace).create(&params, &object).await;
        self.metrics.wrote(Sent::Create, result.is_ok());
        result.map_err(|error| WriteError::of(what, error))
    }

    /// The metadata of a child as it is now, whoever made it.
    pub(crate) async fn child_metadata(
        &self,
        namespace: &str,
        child: &Child,
    ) -> Result<Option<ObjectMeta>, WriteError> {
        let found = self.children(child.kind(), namespace).get_metadata_opt(child.name()).await;
        let found = found.map_err(|error| WriteError::of(child_text(child), error))?;
        Ok(found.map(|object| object.metadata))
    }

    /// Applies the status of an object, if it is still the one with this uid.
    pub(crate) async fn apply_status<S: Kind>(
        &self,
        name: &NamespacedName,
        uid: &str,
        status: &Value,
    ) -> Result<PartialObjectMeta<Object<S>>, WriteError> {
        let body = json!({
            "apiVersion": Object::<S>::api_version_text(), "kind": S::KIND,
            "metadata": {"name": &*name.name, "uid": uid}, "status": status,
        });
        let params = PatchParams::apply(field_managers::OPERATOR).force();
        // The answer is read as metadata alone: the rest of the object may be malformed.
        let api: Api<PartialObjectMeta<Object<S>>> = Api::namespaced(self.client.clone(), &name.namespace);
        let result = api.patch_status(&name.name, &params, &Patch::Apply(&body)).await;
        self.metrics.wrote(Sent::ApplyStatus, result.is_ok());
        result.map_err(|error| WriteError::of(format!("the status of {} {name}", S::KIND), error))
    }

    /// Writes annotations on an object, if it is still the version that was read.
    pub(crate) async fn annotate<S: Kind>(
        &self,
        name: &NamespacedName,
        resource_version: &str,
        annotations: &Value,
    ) -> Result<Object<S>, WriteError> {
        let body = json!({"metadata": {"resourceVersion": resource_version, "annotations": annotations}});
        let params = PatchParams {
            field_manager: Some(field_managers::OPERATOR.to_owned()),
            ..PatchParams::default()
        };
        let result = self.owners::<S>(name).patch(&name.name, &params, &Patch::Merge(&body)).await;
        self.metrics.wrote(Sent::MergePatch, result.is_ok());
        result.map_err(|error| WriteError::of(format!("annotations of {} {name}", S::KIND), error))
    }

    /// Adds or removes our finalizer and no other, if the object is still the version that was read. Nothing is written
    /// if it is that way already.
    pub(crate) async fn finalizer<S: Kind>(
        &self,
        name: &NamespacedName,
        metadata: &ObjectMeta,
        change: FinalizerChange,
    ) -> Result<Option<PartialObjectMeta<Object<S>>>, WriteError> {
        let what = format!("the finalizer of {} {name}", S::KIND);
        let Some(operations) = change.operations(metadata) else { return Ok(None) };
        match self.json_patch(&self.owners::<S>(name), &name.name, what, operations).await {
            // Without the object there is no finalizer either.
            Err(WriteError::Api { source, .. }) if is_not_found(&source) => Ok(None),
            result => result.map(Some),
        }
    }

    /// Makes the Go operator's part of a status ours. Nothing happens if there is none.
    pub(crate) async fn take_over_status<S: Kind>(
        &self,
        name: &NamespacedName,
    ) -> Result<Option<PartialObjectMeta<Object<S>>>, WriteError> {
        let what = format!("the managed fields of {} {name}", S::KIND);
        let api = self.owners::<S>(name);
        let metadata =
            api.get_metadata_opt(&name.name).await.map_err(|error| WriteError::of(what.clone(), error))?;
        let Some(patch) = metadata.and_then(|object| takeover::patch(&object.metadata, Part::Status)) else {
            return Ok(None);
        };
        self.json_patch(&api, &name.name, what, patch).await.map(Some)
    }

    /// Makes the Go operator's fields of a child ours, if it is still the one and the version that is `known`, and returns
    /// the uid and resourceVersion that it has afterwards.
    pub(crate) async fn take_over_child(
        &self,
        kind: ChildKind,
        name: &NamespacedName,
        known: &(String, String),
    ) -> Result<(String, String), WriteError> {
        let what = format!("the managed fields of {} {name}", kind.kind());
        let api = self.children(kind, &name.namespace);
        let found =
            api.get_metadata_opt(&name.name).await.map_err(|error| WriteError::of(what.clone(), error))?;
        let found = found.map(|object| object.metadata).filter(|metadata| {
            metadata.uid.as_ref() == Some(&known.0) && metadata.resource_version.as_ref() == Some(&known.1)
        });
        let Some(metadata) = found else { return Err(WriteError::Conflict { what }) };
        let Some(patch) = takeover::patch(&metadata, Part::Main) else { return Ok(known.clone()) };
        let metadata = self.json_patch(&api, &name.name, what.clone(), patch).await?.metadata;
        metadata.uid.zip(metadata.resource_version).ok_or(WriteError::Conflict { what })
    }

    /// Sends a JSON patch that has its own precondition. The answer is the metadata alone, so that it can be read even
    /// when the rest of the object cannot.
    async fn json_patch<K>(
        &self,
        api: &Api<K>,
        name: &str,
        what: String,
        operations: Value,
    ) -> Result<PartialObjectMeta<K>, WriteError>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        let tested = operations.pointer("/0/value").and_then(Value::as_str).map(str::to_owned);
        let patch = serde_json::from_value(operations).map(Patch::<()>::Json);
        let patch = patch.map_err(|error| WriteError::Api {
            what: what.clone(),
            source: Box::new(kube::Error::SerdeError(error)),
        })?;
        let params = PatchParams {
            field_manager: Some(field_managers::OPERATOR.to_owned()),
            ..PatchParams::default()
        };
        let result = api.patch_metadata(name, &params, &patch).await;
        self.metrics.wrote(Sent::JsonPatch, result.is_ok());
        let error = match result {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        if !matches!(&error, kube::Error::Api(status) if status.code == 422) {
            return Err(WriteError::of(what, error));
        }
        // Either the test within the patch has failed, or the API server refuses what would come of it.
        let found = api.get_metadata_opt(name).await.map_err(|error| WriteError::of(what.clone(), error))?;
        let is_tested = found.is_some_and(|object| object.metadata.resource_version == tested);
        Err(if is_tested { WriteError::of(what, error) } else { WriteError::Conflict { what } })
    }

    /// Writes a replica count under the name of the hand-off manager.
    pub(crate) async fn scale(
        &self,
        namespace: &str,
        scaling: &Scaling,
    ) -> Result<DynamicObject, WriteError> {
        let Scaling { kind, name, identity, replicas, annotations, before_children: _ } = scaling;
        let kind = kind.kind();
        let mut metadata = json!({
            "name": name, "uid": identity.uid, "resourceVersion": identity.resource_version,
        });
        if !annotations.is_empty() {
            put(&mut metadata, "annotations", json!(annotations));
        }
        let body = json!({
            "apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {"replicas": replicas},
        });
        let params = PatchParams::apply(field_managers::HANDOFF).force();
        let api = self.dynamic("apps/v1", kind, namespace);
        let result = api.patch(name, &params, &Patch::Apply(&body)).await;
        self.metrics.wrote(Sent::Scale, result.is_ok());
        result.map_err(|error| WriteError::of(format!("the replicas of {kind} {namespace}/{name}"), error))
    }

    /// Deletes a child, if it is still the one that was meant. That it is gone already is fine.
    pub(crate) async fn delete(
        &self,
        kind: ChildKind,
        name: &NamespacedName,
        uid: &str,
    ) -> Result<(), WriteError> {
        self.delete_object(kind.api_version(), kind.kind(), name, uid).await
    }

    /// Deletes any object by its uid.
    pub(crate) async fn delete_object(
        &self,
        api_version: &str,
        kind: &str,
        name: &NamespacedName,
        uid: &str,
    ) -> Result<(), WriteError> {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
        let result = self.dynamic(api_version, kind, &name.namespace).delete(&name.name, &params).await;
        self.metrics.wrote(Sent::Delete, result.is_ok());
        match result {
            Ok(_) => Ok(()),
            // Another object of that name, or none: the one that was meant is gone.
            Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => Ok(()),
            Err(error) => Err(WriteError::of(format!("{kind} {name}"), error)),
        }
    }

    /// The children of one kind in a namespace, for reading.
    pub(crate) fn children(&self, kind: ChildKind, namespace: &str) -> Api<DynamicObject> {
        self.dynamic(kind.api_version(), kind.kind(), namespace)
    }

    fn dynamic(&self, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    fn owners<S: Kind>(&self, name: &NamespacedName) -> Api<Object<S>> {
        Api::namespaced(self.client.clone(), &name.namespace)
    }
}

/// Makes an apply hold for one version of one object only, or for its creation only.
fn put_precondition(body: &mut Value, live: Option<(&str, &str)>) {
    let Some(metadata) = body.get_mut("metadata") else { return };
    match live {
        Some((uid, resource_version)) => {
            put(metadata, "uid", uid.into());
            put(metadata, "resourceVersion", resource_version.into());
        }
        None => put(metadata, "resourceVersion", NEVER_WRITTEN.into()),
    }
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

fn child_text(child: &Child) -> String {
    format!("{} {}", child.kind().kind(), child.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apply_names_the_version_it_is_for() {
        let mut body = json!({"metadata": {"name": "a"}});
        put_precondition(&mut body, Some(("u", "9")));
        assert_eq!(body, json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "9"}}));
        let mut body = json!({"metadata": {"name": "a"}});
        put_precondition(&mut body, None);
        assert_eq!(body, json!({"metadata": {"name": "a", "resourceVersion": "1"}}));
    }
}
