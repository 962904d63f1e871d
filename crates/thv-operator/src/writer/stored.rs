//! What the storage-version migrator writes.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::field_managers;

use super::Writer;
use crate::metrics::Sent;
use crate::projection::partial::MetadataOnly;
use crate::snapshot::ReadError;
use crate::write_error::{WriteError, is_gone};

impl Writer {
    /// Has the API server store an object anew, in the storage version of its kind, by a merge patch that changes nothing.
    /// Returns its metadata then; nothing if it is gone. If it was stored that way already, nothing is written, and its
    /// resourceVersion stays.
    ///
    /// The resourceVersion is all that is sent. No two objects ever have the same, so that it tells an object from another
    /// of its name as well; a uid in a merge patch is no precondition, and a wrong one an invalid change.
    pub(crate) async fn rewrite(
        &self,
        resource: &ApiResource,
        metadata: &ObjectMeta,
    ) -> Result<Option<ObjectMeta>, WriteError> {
        let what = stored_text(resource, metadata);
        let Some((name, version)) = metadata.name.as_ref().zip(metadata.resource_version.as_ref()) else {
            return Err(WriteError::Conflict { what });
        };
        let patch = Patch::Merge(json!({"metadata": {"resourceVersion": version}}));
        let result = self.objects(resource, metadata).patch(name, &params(), &patch).await;
        self.metrics.wrote(Sent::MergePatch, result.is_ok());
        match result {
            Ok(object) => Ok(Some(object.metadata)),
            Err(error) if is_gone(&error, name) => Ok(None),
            Err(error) => Err(WriteError::of(what, error)),
        }
    }

    /// The metadata of an object as it is now; nothing if it is gone.
    pub(crate) async fn stored(
        &self,
        resource: &ApiResource,
        metadata: &ObjectMeta,
    ) -> Result<Option<ObjectMeta>, ReadError> {
        let name = metadata.name.as_deref().unwrap_or_default();
        match self.objects(resource, metadata).get(name).await {
            Ok(object) => Ok(Some(object.metadata)),
            Err(error) if is_gone(&error, name) => Ok(None),
            Err(error) => Err(ReadError::api(&stored_text(resource, metadata), error)),
        }
    }

    /// Has a CRD say that objects are stored in one version only, if it is still the version of the CRD that was read.
    pub(crate) async fn trim_stored_versions(
        &self,
        crd: &str,
        resource_version: &str,
        storage: &str,
    ) -> Result<(), WriteError> {
        let body: Value = json!({
            "metadata": {"resourceVersion": resource_version}, "status": {"storedVersions": [storage]},
        });
        // The answer is the whole CRD, of which only the metadata is kept.
        let api: Api<MetadataOnly<CustomResourceDefinition>> = Api::all(self.client.clone());
        let result = api.patch_status(crd, &params(), &Patch::Merge(&body)).await;
        self.metrics.wrote(Sent::MergePatch, result.is_ok());
        let what = format!("the stored versions of CustomResourceDefinition {crd}");
        result.map(drop).map_err(|error| WriteError::of(what, error))
    }

    /// The objects of a kind that are where this one is.
    fn objects(&self, resource: &ApiResource, metadata: &ObjectMeta) -> Api<MetadataOnly<DynamicObject>> {
        match &metadata.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        }
    }
}

fn params() -> PatchParams {
    PatchParams { field_manager: Some(field_managers::OPERATOR.to_owned()), ..PatchParams::default() }
}

fn stored_text(resource: &ApiResource, metadata: &ObjectMeta) -> String {
    let name = metadata.name.as_deref().unwrap_or_default();
    match &metadata.namespace {
        Some(namespace) => format!("{} {namespace}/{name}", resource.kind),
        None => format!("{} {name}", resource.kind),
    }
}
