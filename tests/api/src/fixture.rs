//! Objects that many tests start from.

use std::net::IpAddr;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thv_testbed::{Space, SubjectBuilder, wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Server-side apply of `body` as `manager`, taking fields over from others.
pub(crate) async fn apply<K>(api: &Api<K>, name: &str, manager: &str, body: &Value) -> kube::Result<K>
where
    K: Clone + DeserializeOwned + std::fmt::Debug,
{
    api.patch(name, &PatchParams::apply(manager).force(), &Patch::Apply(body)).await
}

/// The same for the status.
pub(crate) async fn apply_status<K>(api: &Api<K>, name: &str, manager: &str, body: &Value) -> kube::Result<K>
where
    K: DeserializeOwned,
{
    api.patch_status(name, &PatchParams::apply(manager).force(), &Patch::Apply(body)).await
}

/// The status code of a request that the API server refused.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(result: kube::Result<T>) -> (u16, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.message.clone()),
        other => panic!("expected a refusal by the API server, got {other:?}"),
    }
}

/// Who is recorded as a writer of the object.
pub(crate) fn managers<K: Resource>(object: &K) -> Vec<String> {
    object.managed_fields().iter().filter_map(|entry| entry.manager.clone()).collect()
}

pub(crate) fn resource_version<K: Resource>(object: &K) -> String {
    object.resource_version().expect("an object from the API server has a resourceVersion")
}

pub(crate) fn json_of<K: Serialize>(object: &K) -> Value {
    serde_json::to_value(object).expect("objects are JSON")
}

/// A Deployment named `name` with `spec` on top of what one needs.
pub(crate) fn deployment(name: &str, spec: Value) -> Value {
    let mut body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "localhost/none:1"}]},
            },
        },
    });
    merge(&mut body["spec"], spec);
    body
}

/// A StatefulSet named `name`.
pub(crate) fn stateful_set(name: &str, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    })
}

/// A ConfigMap named `name` with one entry.
pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}})
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// Runs `kubectl <command> --filename <manifest>` in the test's namespace.
pub(crate) async fn kubectl(space: &Space, command: &[&str], manifest: &Value) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("manifest.json");
    std::fs::write(&file, manifest.to_string())?;
    let mut kubectl = SubjectBuilder::new(space.bed().program("kubectl")?)
        .args(command.iter().copied())
        .args(["--namespace", space.namespace(), "--filename"])
        .args([file.as_os_str()])
        .env("KUBECONFIG", &space.bed().description().kubeconfig)
        .env("HOME", folder.path())
        .start()?;
    assert!(kubectl.exit().await?.success(), "kubectl {command:?}: {}", kubectl.output());
    Ok(())
}

pub(crate) fn replicas(deployment: &Deployment) -> i32 {
    deployment.spec.as_ref().and_then(|spec| spec.replicas).expect("the API server sets replicas")
}

/// A custom resource of the test's own: kind `Thing`, with a status that has conditions, in two versions.
pub(crate) struct Things {
    pub(crate) group: String,
    pub(crate) api: Api<DynamicObject>,
    pub(crate) resource: ApiResource,
}

impl Things {
    /// Installs the kind, and has it removed with the test.
    pub(crate) async fn install(space: &Space) -> Result<Self> {
        let group = format!("{}.toolhive.test", space.namespace());
        let name = format!("things.{group}");
        let version = |name: &str, storage: bool| {
            json!({
                "name": name, "served": true, "storage": storage,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "status": {"type": "object", "properties": {"conditions": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                        "items": {"type": "object", "required": ["type"], "properties": {
                            "type": {"type": "string"}, "status": {"type": "string"},
                        }},
                    }}},
                }}},
            })
        };
        let definition: CustomResourceDefinition = serde_json::from_value(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
                "versions": [version("v1alpha1", false), version("v1beta1", true)],
            },
        }))?;
        let definitions: Api<CustomResourceDefinition> = Api::all(space.client());
        definitions.create(&PostParams::default(), &definition).await.context("cannot install the kind")?;
        let (removal, removed) = (definitions.clone(), name.clone());
        space.finally(async move {
            removal.delete(&removed, &DeleteParams::default()).await?;
            wait::gone(&removal, &removed).await
        });
        wait::until(&definitions, &name, "the kind is served", |definition| {
            wait::has_condition(definition, "Established", "True")
        })
        .await?;
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(&group, "v1beta1", "Thing"));
        let api = Api::namespaced_with(space.client(), space.namespace(), &resource);
        Ok(Self { group, api, resource })
    }

    /// A Thing named `name` with `rest` beside its name.
    pub(crate) fn thing(&self, name: &str, rest: Value) -> Value {
        let mut body =
            json!({"apiVersion": self.resource.api_version, "kind": "Thing", "metadata": {"name": name}});
        merge(&mut body, rest);
        body
    }
}

/// Has objects of a kind stored in this version from now on.
pub(crate) async fn store_as(
    definitions: &Api<CustomResourceDefinition>,
    name: &str,
    version: &str,
) -> Result<CustomResourceDefinition> {
    let mut versions = definitions.get(name).await?.spec.versions;
    for served in &mut versions {
        served.storage = served.name == version;
    }
    let patch = Patch::Merge(json!({"spec": {"versions": versions}}));
    Ok(definitions.patch(name, &PatchParams::default(), &patch).await?)
}

/// The versions that objects of a kind may be stored in.
pub(crate) fn stored_versions(definition: &CustomResourceDefinition) -> Vec<String> {
    let status = definition.status.as_ref();
    status.and_then(|status| status.stored_versions.clone()).unwrap_or_default()
}

/// The status and the text of an answer to a GET.
pub(crate) async fn ask(address: IpAddr, port: u16, path: &str) -> Result<(u16, String)> {
    let mut socket = TcpStream::connect((address, port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket.take(1 << 20).read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status")?;
    Ok((status, body.to_owned()))
}
