//! A server, and the account of its proxies.

use anyhow::Result;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Service;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use tests_fixture::grant_proxy;
use thv_api::kinds::MCPServer;
use thv_api::names::annotations::REVISION;
use thv_testbed::{Breakpoint, Moment, Pattern, Recorder, Space, client_for, wait};

use super::proxy::{Proxy, Sketch};
use crate::crds;
use crate::fixture::{apply, json_of};

/// The server that a test is about.
pub(super) const NAME: &str = "web";

const ACCOUNT: &str = "proxy";

/// A proxy, and a request of it that is held.
pub(super) struct Held {
    pub(super) proxy: Proxy,
    pub(super) held: Breakpoint,
}

/// A server, and an account for its proxies.
pub(super) struct Stage {
    pub(super) space: Space,
    pub(super) uid: String,
}

impl Stage {
    /// A server of revision 1.
    pub(super) async fn set(space: &Space) -> Result<Self> {
        crds::install(space).await?;
        grant_proxy(&space.client(), space.namespace(), ACCOUNT, NAME).await?;
        let uid = server(space).await?;
        let stage = Self { space: space.clone(), uid };
        stage.mint(1).await?;
        Ok(stage)
    }

    /// The same, with the server made anew.
    pub(super) async fn anew(self) -> Result<Self> {
        self.servers().delete(NAME, &kube::api::DeleteParams::default()).await?;
        wait::gone(&self.servers(), NAME).await?;
        let uid = server(&self.space).await?;
        let stage = Self { uid, ..self };
        stage.mint(1).await?;
        Ok(stage)
    }

    /// A new revision, as an operator writes it.
    pub(super) async fn mint(&self, number: u64) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {REVISION: format!("{number}/d")}}}));
        self.servers().patch_metadata(NAME, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Starts a proxy, under the role of proxies and behind a recorder.
    pub(super) async fn start(&self, sketch: &Sketch) -> Result<Proxy> {
        self.start_with(Recorder::start(self.space.bed()).await?, sketch).await
    }

    /// Starts a proxy whose first request of this kind is held before the API server sees it.
    pub(super) async fn start_held(&self, sketch: &Sketch, pattern: Pattern) -> Result<Held> {
        let recorder = Recorder::start(self.space.bed()).await?;
        let held = recorder.breakpoint(pattern, 0, Moment::Before);
        Ok(Held { proxy: self.start_with(recorder, sketch).await?, held })
    }

    /// Starts a proxy behind a recorder that has something in store for it.
    pub(super) async fn start_with(&self, recorder: Recorder, sketch: &Sketch) -> Result<Proxy> {
        let client = client_for(&recorder.kubeconfig_for(&self.space.token_of(ACCOUNT).await?)?).await?;
        Proxy::start(recorder, client, self.space.namespace(), &self.uid, sketch)
    }

    /// Starts a proxy, and waits until the backend is what it was made for.
    pub(super) async fn bound(&self, sketch: &Sketch) -> Result<Proxy> {
        let mut proxy = self.start(sketch).await?;
        proxy.until("bound").await?;
        Ok(proxy)
    }

    pub(super) fn servers(&self) -> Api<MCPServer> {
        self.space.api()
    }

    pub(super) fn sets(&self) -> Api<StatefulSet> {
        self.space.api()
    }

    pub(super) fn services(&self) -> Api<Service> {
        self.space.api()
    }

    /// The StatefulSet.
    pub(super) async fn backend(&self) -> Result<StatefulSet> {
        Ok(self.sets().get(NAME).await?)
    }

    /// The image of the backend.
    pub(super) async fn image(&self) -> Result<String> {
        Ok(image(&self.backend().await?))
    }

    /// The StatefulSet and the Services as JSON, with who owns what, but for what the controllers write.
    pub(super) async fn everything(&self) -> Result<Vec<Value>> {
        let mut all = vec![json_of(&self.backend().await?)];
        for name in ["mcp-web", "mcp-web-headless"] {
            all.push(json_of(&self.services().get(name).await?));
        }
        for object in &mut all {
            object.as_object_mut().map(|fields| fields.remove("status"));
            let metadata = &mut object["metadata"];
            metadata.as_object_mut().map(|fields| fields.remove("resourceVersion"));
            let entries = metadata["managedFields"].as_array_mut();
            if let Some(entries) = entries {
                entries.retain(|entry| entry["subresource"] != "status");
            }
        }
        Ok(all)
    }
}

/// The image of a StatefulSet's server.
pub(super) fn image(set: &StatefulSet) -> String {
    let spec = set.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    let server = spec.and_then(|spec| spec.containers.iter().find(|container| container.name == "mcp"));
    server.and_then(|server| server.image.clone()).unwrap_or_default()
}

/// The image that belongs to a revision.
pub(super) fn image_of(number: u64) -> String {
    format!("localhost/server:{number}")
}

async fn server(space: &Space) -> Result<String> {
    let body = json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": NAME},
        "spec": {"image": "localhost/server:1", "transport": "streamable-http"},
    });
    let server = apply(&space.api::<MCPServer>(), NAME, "user", &body).await?;
    Ok(server.uid().unwrap_or_default())
}
