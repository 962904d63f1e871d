//! What a backend looks like.
//!
//! Pure, and the only expression of it: the same configuration and the same [`Birth`] give the same objects, byte for
//! byte. What the API server would put into a list or a union by itself is written out, so that nothing of it is owned
//! by nobody.

mod draft;
mod ports;
mod template;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thv_api::Kind;
use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::names::children::mcp_server;
use thv_api::names::labels;
use thv_config::{RunConfig, Transport};
use thv_plan::Platform;
use thv_plan::strategic_merge::MergeError;

use crate::birth::Birth;

pub use draft::{Completion, Draft, DraftKind};
use ports::Ports;
use template::Template;

/// How long a Service sends a client to the same pod, in seconds.
const AFFINITY_SECONDS: i64 = 1800;

/// Why a backend cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The server has no name.
    #[error("the configuration has no `container_name` and no `name`")]
    Nameless,
    /// The patch is no JSON object.
    #[error("the patch for the pods of the backend is no JSON object: {0}")]
    PatchSyntax(String),
    /// The patch does not fit a pod template.
    #[error("the patch for the pods of the backend does not fit: {0}")]
    Patch(#[from] MergeError),
    /// A port is none.
    #[error("publish[{0}]: write `port` or `host-port:port`, with ports from 1 to 65535")]
    Port(usize),
}

/// A backend, but for what depends on the cluster and on the moment.
#[derive(Clone, Debug)]
pub struct Blueprint {
    name: String,
    labels: BTreeMap<String, String>,
    transport: Transport,
    ports: Ports,
    replicas: Option<i32>,
    generation: i64,
    template: Template,
    is_owned: bool,
}

impl Blueprint {
    /// The backend that a configuration asks for. What the proxy was born with beats what the configuration says.
    pub fn new(config: &RunConfig, birth: &Birth) -> Result<Self, RenderError> {
        let name = [&config.container_name, &config.name].into_iter().find(|name| !name.is_empty());
        let name = name.ok_or(RenderError::Nameless)?.clone();
        let mut labels = config.container_labels.clone();
        labels.insert(labels::APP.to_owned(), name.clone());
        labels.insert(labels::TOOLHIVE.to_owned(), "true".to_owned());
        let ports = Ports::of(config)?;
        let template = Template::new(config, birth, &labels, &ports)?;
        Ok(Self {
            name,
            labels,
            transport: config.transport,
            ports,
            replicas: config.scaling_config.as_ref().and_then(|scaling| scaling.backend_replicas),
            generation: config.mcpserver_generation,
            template,
            is_owned: birth.token.is_some(),
        })
    }

    /// The name of the server, and of its StatefulSet.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The generation of the server that this is about; zero or below if it is not known.
    pub const fn generation(&self) -> i64 {
        self.generation
    }

    /// The StatefulSet. Without a number of replicas in the configuration, their number is not ours.
    pub fn stateful_set(&self, platform: Platform) -> Draft {
        let mut spec = json!({
            "selector": { "matchLabels": { labels::APP: self.name } },
            // No Service of this name exists. It cannot be changed in a StatefulSet that is there.
            "serviceName": self.name,
            "template": self.template.render(platform),
        });
        if let (Some(replicas), Some(spec)) = (self.replicas, spec.as_object_mut()) {
            spec.insert("replicas".to_owned(), replicas.into());
        }
        let owner = self.is_owned.then(|| {
            let api_version = MCPServer::api_version_text();
            json!({ "apiVersion": api_version, "kind": MCPServerSpec::KIND, "name": self.name, "controller": true })
        });
        Draft::new(DraftKind::StatefulSet, mcp_server::backend(&self.name), self.metadata(owner), spec)
    }

    /// The Services, for transports that have ports. They belong to the StatefulSet.
    pub fn services(&self) -> Vec<Draft> {
        match self.transport {
            Transport::Stdio => Vec::new(),
            Transport::Sse | Transport::StreamableHttp => vec![self.headless_service(), self.service()],
        }
    }

    fn headless_service(&self) -> Draft {
        let mut spec = self.service_spec("ClusterIP", false);
        spec.insert("clusterIP".to_owned(), "None".into());
        self.service_draft(mcp_server::backend_headless_service(&self.name), spec)
    }

    fn service(&self) -> Draft {
        let kind = if self.ports.are_on_nodes() { "NodePort" } else { "ClusterIP" };
        let mut spec = self.service_spec(kind, true);
        spec.insert("sessionAffinity".to_owned(), "ClientIP".into());
        let affinity = json!({ "clientIP": { "timeoutSeconds": AFFINITY_SECONDS } });
        spec.insert("sessionAffinityConfig".to_owned(), affinity);
        self.service_draft(mcp_server::backend_service(&self.name), spec)
    }

    fn service_spec(&self, kind: &str, on_nodes: bool) -> Map<String, Value> {
        let mut spec = Map::new();
        spec.insert("type".to_owned(), kind.into());
        spec.insert("selector".to_owned(), json!({ labels::APP: self.name }));
        spec.insert("ports".to_owned(), self.ports.of_service(on_nodes));
        spec
    }

    fn service_draft(&self, name: String, spec: Map<String, Value>) -> Draft {
        let set = mcp_server::backend(&self.name);
        let owner =
            json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": set, "controller": true });
        Draft::new(DraftKind::Service, name, self.metadata(Some(owner)), Value::Object(spec))
    }

    /// Labels and owner. The owner does not wait for the object to go: that would take rights that a proxy does not
    /// need.
    fn metadata(&self, owner: Option<Value>) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("labels".to_owned(), json!(self.labels));
        if let Some(owner) = owner {
            metadata.insert("ownerReferences".to_owned(), json!([owner]));
        }
        metadata
    }
}

#[cfg(test)]
mod tests;
