//! The pods of an embedding server.

use serde_json::{Value, json};
use thv_api::kinds::EmbeddingServerSpec;
use thv_api::names::{HTTP_PORT_NAME, containers, env, volumes};
use thv_api::shared::{EnvVar, SecretKeyRef};
use thv_api::value::Port;

use crate::env::{Env, EnvValue};
use crate::metadata::{Metadata, OnPods};
use crate::overrides::{IgnoredOverrides, RESERVED};
use crate::probe::Probe;
use crate::proxy::pod::resources;
use crate::proxy::secret_references;

/// Where models are kept, if there is a volume for them.
const CACHE_PATH: &str = "/data";

/// The pods.
#[derive(Clone, Debug)]
pub(super) struct Pod<'a> {
    pub(super) spec: &'a EmbeddingServerSpec,
    pub(super) metadata: Metadata<OnPods>,
    pub(super) pull_secrets: Vec<String>,
    /// Whether models are kept on a volume.
    pub(super) has_cache: bool,
}

impl Pod<'_> {
    /// The template of a StatefulSet, without the user's.
    pub(super) fn template(&self, ignored: &mut IgnoredOverrides) -> Value {
        let mut spec = json!({ "containers": [self.container(ignored)] });
        if let Some(spec) = spec.as_object_mut().filter(|_| !self.pull_secrets.is_empty()) {
            spec.insert("imagePullSecrets".to_owned(), secret_references(&self.pull_secrets));
        }
        json!({ "metadata": self.metadata.render(), "spec": spec })
    }

    fn container(&self, ignored: &mut IgnoredOverrides) -> Value {
        let EmbeddingServerSpec {
            model,
            image,
            image_pull_policy,
            port,
            args,
            resources: requirements,
            // The environment.
            hf_token_secret_ref: _,
            env: _,
            // The StatefulSet, and what is around it.
            model_cache: _,
            pod_template_spec: _,
            resource_overrides: _,
            replicas: _,
        } = self.spec;
        let ours = ["--model-id".to_owned(), model.clone(), "--port".to_owned(), port.to_string()];
        let args: Vec<String> = ours.into_iter().chain(args.iter().flatten().cloned()).collect();
        let mut container = json!({
            "name": containers::EMBEDDING,
            "image": image,
            "imagePullPolicy": image_pull_policy,
            "args": args,
            "env": self.environment(ignored).render(),
            "ports": [{ "name": HTTP_PORT_NAME, "containerPort": port, "protocol": "TCP" }],
            "livenessProbe": probe(*port, 60, 30, 10).render(),
            "readinessProbe": probe(*port, 30, 10, 5).render(),
        });
        if let Some(container) = container.as_object_mut() {
            let resources = requirements.as_ref().map(resources).unwrap_or_default();
            if !resources.is_empty() {
                container.insert("resources".to_owned(), resources.into());
            }
            if self.has_cache {
                let mount = json!({ "name": volumes::MODEL_CACHE, "mountPath": CACHE_PATH });
                container.insert("volumeMounts".to_owned(), json!([mount]));
            }
        }
        container
    }

    /// The environment: ours, and what the user adds.
    fn environment(&self, ignored: &mut IgnoredOverrides) -> Env {
        let mut all = Env::default();
        all.set(env::MODEL_ID, EnvValue::literal(&self.spec.model));
        if let Some(SecretKeyRef { name, key }) = &self.spec.hf_token_secret_ref {
            all.set(env::HF_TOKEN, EnvValue::Secret { name: name.clone(), key: key.clone() });
        }
        if self.has_cache {
            all.set(env::HF_HOME, EnvValue::literal(CACHE_PATH));
        }
        for EnvVar { name, value } in self.spec.env.iter().flatten() {
            let value = EnvValue::literal(value);
            if all.get(name).is_some_and(|ours| *ours != value) {
                ignored.ignore(format!("spec.env[{name}]"), RESERVED);
            } else {
                all.set(name, value);
            }
        }
        all
    }
}

/// Asks the server whether it is well.
fn probe(port: Port, initial_delay: i32, period: i32, timeout: i32) -> Probe {
    let (port, initial_delay) = (json!(port), Some(initial_delay));
    Probe { path: "/health", port, initial_delay, period, timeout, failures: 3 }
}
