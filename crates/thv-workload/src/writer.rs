//! The one way to the API server. It applies, deletes by uid, and cannot replace.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::Value;
use thv_api::kinds::MCPServer;
use thv_api::names::{annotations, field_managers};
use thv_plan::Revision;
use thv_plan::managed_fields::Succession;

use crate::fence::OwnerView;
use crate::render::{Draft, DraftKind};
use crate::seen::SeenPod;
use crate::trouble::Trouble;
use crate::view::annotation;

/// How long an answer may take. The API server itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of replicas, as `managedFields` spell it.
const REPLICAS: [&str; 2] = ["f:spec", "f:replicas"];

/// Reads and writes the objects of one backend.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    namespace: String,
    server: String,
}

impl Writer {
    /// A writer with the rights of `client`, for the backend of `server`.
    pub(crate) fn new(client: Client, namespace: String, server: String) -> Self {
        Self { client, namespace, server }
    }

    /// The name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The server that the backend belongs to.
    pub(crate) async fn owner(&self) -> (OwnerView, Option<Trouble>) {
        let api: Api<MCPServer> = Api::namespaced(self.client.clone(), &self.namespace);
        // The metadata alone can be read even if the spec makes no sense.
        match in_time(api.get_metadata_opt(&self.server)).await {
            Ok(found) => (found.map_or(OwnerView::Absent, |found| owner_view(&found.metadata)), None),
            Err(trouble) => (OwnerView::Unread, Some(trouble)),
        }
    }

    /// Reads an object.
    pub(crate) async fn read(&self, kind: DraftKind, name: &str) -> Result<Option<DynamicObject>, Trouble> {
        in_time(self.api(kind).get_opt(name)).await
    }

    /// Applies a completed draft. Its body says which version of the object it is for.
    pub(crate) async fn apply(&self, draft: &Draft, body: &Value) -> Result<DynamicObject, Trouble> {
        let params = PatchParams::apply(field_managers::PROXY_RUNNER).force();
        in_time(self.api(draft.kind()).patch(draft.name(), &params, &Patch::Apply(body))).await
    }

    /// Makes fields of the Go proxy ours, and gives the number of replicas up if we do not say it any more. Returns the
    /// metadata of the object as it is then.
    pub(crate) async fn take_over(
        &self,
        draft: &Draft,
        metadata: ObjectMeta,
        leaves_replicas: bool,
    ) -> Result<ObjectMeta, Trouble> {
        let succession = Succession {
            predecessor: (field_managers::GO_PROXY_RUNNER, "Apply"),
            successor: field_managers::PROXY_RUNNER,
            subresource: "",
            given_up: (leaves_replicas || !draft.has_replicas()).then_some(&REPLICAS),
        };
        let Some(patch) = succession.patch(&metadata) else { return Ok(metadata) };
        let patch = serde_json::from_value(patch).map(Patch::<()>::Json);
        let patch = patch.map_err(|error| Trouble::Refused(error.to_string()))?;
        let params = PatchParams {
            field_manager: Some(field_managers::PROXY_RUNNER.to_owned()),
            ..PatchParams::default()
        };
        let result = in_time(self.api(draft.kind()).patch_metadata(draft.name(), &params, &patch)).await;
        match result {
            Ok(object) => Ok(object.metadata),
            // A test within the patch has failed, or there is nothing to patch any more.
            Err(Trouble::Refused(_) | Trouble::Missing) => Err(Trouble::Conflict),
            Err(trouble) => Err(trouble),
        }
    }

    /// Deletes an object, if it is still the one that was meant. That it is gone already is fine.
    pub(crate) async fn delete(&self, draft: &Draft, uid: &str) -> Result<(), Trouble> {
        gone(in_time(self.api(draft.kind()).delete(draft.name(), &by_uid(uid))).await.map(drop))
    }

    /// Deletes a pod, if it is still the one that was meant.
    pub(crate) async fn delete_pod(&self, name: &str, uid: &str) -> Result<(), Trouble> {
        let pods: Api<SeenPod> = Api::namespaced(self.client.clone(), &self.namespace);
        gone(in_time(pods.delete(name, &by_uid(uid))).await.map(drop))
    }

    fn api(&self, kind: DraftKind) -> Api<DynamicObject> {
        let (group, version) = kind.api_version().split_once('/').unwrap_or(("", kind.api_version()));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind.kind()));
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }
}

fn owner_view(metadata: &ObjectMeta) -> OwnerView {
    let revision = annotation(metadata, annotations::REVISION).and_then(|text| text.parse::<Revision>().ok());
    OwnerView::Present {
        uid: metadata.uid.clone().unwrap_or_default(),
        is_going: metadata.deletion_timestamp.is_some(),
        revision: revision.map(|revision| revision.number),
    }
}

fn by_uid(uid: &str) -> DeleteParams {
    let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
    DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() }
}

fn gone(result: Result<(), Trouble>) -> Result<(), Trouble> {
    match result {
        // There is another of the name by now, or none.
        Err(Trouble::Conflict | Trouble::Missing) => Ok(()),
        result => result,
    }
}

async fn in_time<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Trouble> {
    match tokio::time::timeout(PATIENCE, request).await {
        Ok(result) => result.map_err(Trouble::from),
        Err(_) => Err(Trouble::Unreachable(format!("no answer within {PATIENCE:?}"))),
    }
}
