//! The pods of the proxy.

use serde_json::{Map, Value, json};
use thv_api::names::HTTP_PORT_NAME;
use thv_api::shared::{ResourceList, ResourceRequirements};
use thv_api::value::Port;

use super::secret_references;
use crate::env::Env;
use crate::image::pull_policy;
use crate::metadata::{Metadata, OnPods};
use crate::probe::Probe;
use crate::security;
use crate::settings::Platform;
use crate::volumes::Volumes;

/// How long a pod may take to end, in seconds. Sessions are drained in that time.
const TERMINATION_GRACE_PERIOD_SECONDS: i64 = 30;

/// Where a container tells whether it is well.
pub(crate) const HEALTH: &str = "/health";

/// The pods of the proxy.
#[derive(Clone, Debug)]
pub(crate) struct ProxyPod<'a> {
    /// The name of the container.
    pub(crate) container: &'static str,
    pub(crate) image: &'a str,
    pub(crate) platform: Platform,
    pub(crate) metadata: Metadata<OnPods>,
    pub(crate) service_account: String,
    pub(crate) args: Vec<String>,
    pub(crate) port: Port,
    /// Where the container tells whether it can be called.
    pub(crate) readiness: &'static str,
    pub(crate) resources: Option<&'a ResourceRequirements>,
    pub(crate) env: Env,
    pub(crate) volumes: Volumes,
    pub(crate) pull_secrets: Vec<String>,
}

impl ProxyPod<'_> {
    /// The template of a Deployment.
    pub(crate) fn template(&self) -> Value {
        let mut spec = json!({
            "serviceAccountName": self.service_account,
            "terminationGracePeriodSeconds": TERMINATION_GRACE_PERIOD_SECONDS,
            "securityContext": security::pod(self.platform),
            "containers": [self.container()],
            "volumes": self.volumes.render(),
        });
        if let Some(spec) = spec.as_object_mut().filter(|_| !self.pull_secrets.is_empty()) {
            spec.insert("imagePullSecrets".to_owned(), secret_references(&self.pull_secrets));
        }
        json!({ "metadata": self.metadata.render(), "spec": spec })
    }

    fn container(&self) -> Value {
        let mut container = json!({
            "name": self.container,
            "image": self.image,
            "imagePullPolicy": pull_policy(self.image),
            "args": self.args,
            "ports": [{ "name": HTTP_PORT_NAME, "containerPort": self.port, "protocol": "TCP" }],
            "env": self.env.render(),
            "volumeMounts": self.volumes.render_mounts(),
            "securityContext": security::container(self.platform),
            "startupProbe": probe(HEALTH, None, 5, 3, 18).render(),
            "livenessProbe": probe(HEALTH, Some(30), 10, 5, 3).render(),
            "readinessProbe": probe(self.readiness, Some(5), 5, 3, 3).render(),
        });
        let resources = self.resources.map(resources).unwrap_or_default();
        if let Some(container) = container.as_object_mut().filter(|_| !resources.is_empty()) {
            container.insert("resources".to_owned(), resources.into());
        }
        container
    }
}

/// Asks the container.
fn probe(path: &'static str, initial_delay: Option<i32>, period: i32, timeout: i32, failures: i32) -> Probe {
    Probe { path, port: HTTP_PORT_NAME.into(), initial_delay, period, timeout, failures }
}

/// How much a container may use. Empty texts count as absent.
pub(crate) fn resources(requirements: &ResourceRequirements) -> Map<String, Value> {
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
