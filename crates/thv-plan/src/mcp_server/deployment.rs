//! The Deployment of the proxy.

use serde_json::{Map, Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::children::mcp_server;
use thv_api::names::labels::{self, Workload};
use thv_api::names::{HTTP_PORT_NAME, annotations, containers, env};
use thv_api::shared::{ResourceList, ResourceRequirements};
use thv_api::value::Port;

use super::{name_of, rbac};
use crate::child::{Child, ChildKind};
use crate::env::{Env, EnvValue};
use crate::image::pull_policy;
use crate::metadata::{Metadata, OnDeployment, OnPods, controller};
use crate::revision::Revision;
use crate::security;
use crate::settings::Settings;
use crate::volumes::Volumes;

/// How long a pod may take to end, in seconds. Sessions are drained in that time.
pub(crate) const TERMINATION_GRACE_PERIOD_SECONDS: i64 = 30;

/// What a pod is bound to from its birth: the revision that it was rendered with, and the digest of the
/// configuration that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Birth {
    /// The generation of the server that changed the content last.
    pub(super) stamp: i64,
    /// `<uid>/<number>`.
    pub(super) revision: String,
    /// The digest of the configuration.
    pub(super) checksum: String,
}

/// The pods of the proxy, but for what they are born with.
#[derive(Clone, Debug)]
pub(super) struct ProxyPod<'a> {
    pub(super) settings: &'a Settings,
    pub(super) metadata: Metadata<OnPods>,
    pub(super) args: Vec<String>,
    pub(super) port: Port,
    pub(super) resources: Option<&'a ResourceRequirements>,
    pub(super) env: Env,
    pub(super) volumes: Volumes,
    pub(super) pull_secrets: Vec<String>,
}

impl ProxyPod<'_> {
    /// The template, with or without what pods are born with. Without, it is what revisions tell apart.
    pub(super) fn template(&self, owner: &MCPServer, birth: Option<&Birth>) -> Value {
        let mut metadata = self.metadata.clone();
        let mut variables = self.env.clone();
        if let Some(Birth { stamp, revision, checksum }) = birth {
            metadata.annotate(annotations::RUN_CONFIG_CHECKSUM, checksum);
            metadata.annotate(annotations::MCP_SERVER_GENERATION, &stamp.to_string());
            variables.set(env::MCP_SERVER_REVISION, EnvValue::literal(revision));
        }
        let mut spec = json!({
            "serviceAccountName": mcp_server::proxy_runner(name_of(owner)),
            "terminationGracePeriodSeconds": TERMINATION_GRACE_PERIOD_SECONDS,
            "securityContext": security::pod(self.settings.platform),
            "containers": [self.container(&variables)],
            "volumes": self.volumes.render(),
        });
        if let Some(spec) = spec.as_object_mut().filter(|_| !self.pull_secrets.is_empty()) {
            spec.insert("imagePullSecrets".to_owned(), rbac::named(&self.pull_secrets));
        }
        json!({ "metadata": metadata.render(), "spec": spec })
    }

    fn container(&self, variables: &Env) -> Value {
        let mut container = json!({
            "name": containers::PROXY,
            "image": self.settings.runner_image,
            "imagePullPolicy": pull_policy(&self.settings.runner_image),
            "args": self.args,
            "ports": [{ "name": HTTP_PORT_NAME, "containerPort": self.port, "protocol": "TCP" }],
            "env": variables.render(),
            "volumeMounts": self.volumes.render_mounts(),
            "securityContext": security::container(self.settings.platform),
            "startupProbe": probe(None, 5, 3, 18),
            "livenessProbe": probe(Some(30), 10, 5, 3),
            "readinessProbe": probe(Some(5), 5, 3, 3),
        });
        let resources = self.resources.map(resources).unwrap_or_default();
        if let Some(container) = container.as_object_mut().filter(|_| !resources.is_empty()) {
            container.insert("resources".to_owned(), resources.into());
        }
        container
    }
}

/// Asks the proxy whether it is well. Scheme and success threshold are those that the API server would choose.
fn probe(initial_delay: Option<i32>, period: i32, timeout: i32, failures: i32) -> Value {
    let mut probe = json!({
        "httpGet": { "path": "/health", "port": HTTP_PORT_NAME, "scheme": "HTTP" },
        "periodSeconds": period,
        "timeoutSeconds": timeout,
        "failureThreshold": failures,
        "successThreshold": 1,
    });
    if let (Some(delay), Some(probe)) = (initial_delay, probe.as_object_mut()) {
        probe.insert("initialDelaySeconds".to_owned(), delay.into());
    }
    probe
}

/// How much the proxy may use. Empty texts count as absent.
fn resources(requirements: &ResourceRequirements) -> Map<String, Value> {
    let ResourceRequirements { limits, requests } = requirements;
    [("limits", limits), ("requests", requests)]
        .into_iter()
        .filter_map(|(half, list)| Some((half.to_owned(), amounts(list.as_ref()?)?)))
        .collect()
}

fn amounts(ResourceList { cpu, memory }: &ResourceList) -> Option<Value> {
    let amounts: Map<String, Value> = [("cpu", cpu), ("memory", memory)]
        .into_iter()
        .filter_map(|(resource, amount)| Some((resource, amount.as_deref().filter(|text| !text.is_empty())?)))
        .map(|(resource, amount)| (resource.to_owned(), amount.into()))
        .collect();
    (!amounts.is_empty()).then_some(Value::Object(amounts))
}

/// The Deployment. Without `replicas`, their number is not ours.
pub(super) fn deployment(
    owner: &MCPServer,
    mut metadata: Metadata<OnDeployment>,
    revision: &Revision,
    replicas: Option<i32>,
    template: Value,
) -> Child {
    metadata.annotate(annotations::REVISION, &revision.to_string());
    let mut metadata = metadata.render();
    metadata.insert("ownerReferences".to_owned(), controller(owner));
    let selector = labels::workload(Workload::McpServer, name_of(owner));
    let mut spec = json!({ "selector": { "matchLabels": &selector }, "template": template });
    if let (Some(replicas), Some(spec)) = (replicas, spec.as_object_mut()) {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    let body = json!({ "metadata": metadata, "spec": spec });
    Child::new(ChildKind::Deployment, &mcp_server::deployment(name_of(owner)), body).identified_by(selector)
}
