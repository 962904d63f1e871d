//! The pods of a backend.
//!
//! The user's patch is merged over our template, the way Kubernetes merges, and then everything that is not the user's
//! to change is put right: what the server is, how it is spoken to, and how the pods are found.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thv_api::names::{annotations, containers};
use thv_config::{RunConfig, Transport};
use thv_plan::json::{list, object};
use thv_plan::pod_template::merged;
use thv_plan::{Env, EnvValue, Platform, pull_policy, security};

use super::RenderError;
use super::ports::Ports;
use crate::birth::Birth;

/// Annotations that are not the user's: of the proxy, and of `kubectl rollout restart`, which would be undone.
const RESERVED: [&str; 2] = [annotations::MCP_SERVER_GENERATION, annotations::KUBECTL_RESTARTED_AT];

/// What OpenShift chooses.
const IDS: [&str; 3] = ["runAsUser", "runAsGroup", "fsGroup"];

/// The template, but for what depends on the platform.
#[derive(Clone)]
pub(super) struct Template {
    metadata: Map<String, Value>,
    spec: Map<String, Value>,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It has the values of variables in it.
        f.debug_struct("Template").finish_non_exhaustive()
    }
}

impl Template {
    pub(super) fn new(
        config: &RunConfig,
        birth: &Birth,
        labels: &BTreeMap<String, String>,
        ports: &Ports,
    ) -> Result<Self, RenderError> {
        let base =
            json!({ "spec": { "restartPolicy": "Always", "containers": [{ "name": containers::MCP }] } });
        let mut merged = match patch(config, birth)? {
            Some(patch) => merged(&base, patch, containers::MCP)?,
            None => base,
        };
        let mut part = |field: &str| match merged.get_mut(field).map(Value::take) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let (metadata, mut spec) = (metadata(part("metadata"), labels), part("spec"));
        spec.entry("restartPolicy").or_insert_with(|| "Always".into());
        edit_server(&mut spec, |server| assert_server(server, config, birth, ports));
        Ok(Self { metadata, spec })
    }

    /// The template for a platform. What the user does not say about security is that of the restricted profile.
    pub(super) fn render(&self, platform: Platform) -> Value {
        let mut spec = self.spec.clone();
        object(&mut spec, "securityContext", |context| fill(context, security::pod(platform), platform));
        edit_server(&mut spec, |server| {
            object(server, "securityContext", |context| {
                fill(context, security::container(platform), platform);
            });
        });
        json!({ "metadata": self.metadata, "spec": spec })
    }
}

/// The patch of the proxy's birth, else that of the configuration.
fn patch(config: &RunConfig, birth: &Birth) -> Result<Option<Map<String, Value>>, RenderError> {
    let text = birth.pod_patch.as_deref().filter(|text| !text.is_empty());
    let text = text.unwrap_or(&config.k8s_pod_template_patch);
    if text.is_empty() {
        return Ok(None);
    }
    let patch: Value = serde_json::from_str(text).map_err(|error| {
        RenderError::PatchSyntax(format!("line {}, column {}", error.line(), error.column()))
    })?;
    match patch {
        Value::Object(patch) => Ok(Some(patch)),
        _ => Err(RenderError::PatchSyntax("it is something else".to_owned())),
    }
}

fn metadata(mut merged: Map<String, Value>, labels: &BTreeMap<String, String>) -> Map<String, Value> {
    let mut metadata = Map::new();
    let mut all = taken(&mut merged, "labels");
    all.extend(labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())));
    metadata.insert("labels".to_owned(), Value::Object(all));
    let mut all = taken(&mut merged, "annotations");
    all.retain(|key, _| !RESERVED.contains(&key.as_str()));
    if !all.is_empty() {
        metadata.insert("annotations".to_owned(), Value::Object(all));
    }
    metadata
}

fn taken(fields: &mut Map<String, Value>, field: &str) -> Map<String, Value> {
    match fields.remove(field) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Changes the container of the server, which is made if the patch has removed it.
fn edit_server(spec: &mut Map<String, Value>, change: impl FnOnce(&mut Map<String, Value>)) {
    list(spec, "containers", |all| {
        let is_server = |container: &Value| container.get("name").is_some_and(|name| name == containers::MCP);
        let index = all.iter().position(is_server).unwrap_or(all.len());
        let mut server = match all.get_mut(index).map(Value::take) {
            Some(Value::Object(server)) => server,
            _ => Map::from_iter([("name".to_owned(), containers::MCP.into())]),
        };
        change(&mut server);
        match all.get_mut(index) {
            Some(place) => *place = Value::Object(server),
            None => all.push(Value::Object(server)),
        }
    });
}

/// Puts everything right that is not the user's to change.
fn assert_server(server: &mut Map<String, Value>, config: &RunConfig, birth: &Birth, ports: &Ports) {
    server.insert("image".to_owned(), birth.image.as_str().into());
    server.entry("imagePullPolicy").or_insert_with(|| pull_policy(&birth.image).into());
    server.insert("stdin".to_owned(), (config.transport == Transport::Stdio).into());
    server.insert("tty".to_owned(), false.into());
    if !config.cmd_args.is_empty() {
        list(server, "args", |args| args.extend(config.cmd_args.iter().map(|arg| arg.as_str().into())));
    }
    let variables = environment(taken_list(server, "env"), config);
    server.insert("env".to_owned(), variables.render());
    match config.transport {
        Transport::Sse => list(server, "ports", |all| ports.add_to_container(all)),
        Transport::Stdio | Transport::StreamableHttp => {}
    }
}

fn taken_list(fields: &mut Map<String, Value>, field: &str) -> Vec<Value> {
    match fields.remove(field) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// The variables of the patch, then those of the configuration, then those that say how the server is spoken to. What
/// comes later wins.
fn environment(patched: Vec<Value>, config: &RunConfig) -> Env {
    let mut all = Env::of(patched);
    for (name, value) in config.env_vars.iter() {
        all.set(name, EnvValue::literal(value));
    }
    all.set("MCP_TRANSPORT", EnvValue::literal(config.transport.to_string()));
    match config.transport {
        Transport::Stdio => {}
        Transport::Sse | Transport::StreamableHttp => {
            let port = config.target_port.to_string();
            all.set("MCP_PORT", EnvValue::literal(&port));
            all.set("FASTMCP_PORT", EnvValue::literal(port));
            all.set("MCP_HOST", EnvValue::literal(&config.target_host));
        }
    }
    all
}

/// Adds what a security context does not say. On OpenShift nobody but the platform chooses ids.
fn fill(context: &mut Map<String, Value>, defaults: Value, platform: Platform) {
    if let Value::Object(defaults) = defaults {
        for (field, value) in defaults {
            context.entry(field).or_insert(value);
        }
    }
    match platform {
        Platform::Kubernetes => {}
        Platform::OpenShift => context.retain(|field, _| !IDS.contains(&field.as_str())),
    }
}
