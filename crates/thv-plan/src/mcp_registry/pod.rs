//! The pods of a registry.

use serde_json::{Map, Value, json};
use thv_api::kinds::MCPRegistrySpec;
use thv_api::names::children::{keys, mcp_registry};
use thv_api::names::{HTTP_PORT_NAME, containers, env, volumes as names};
use thv_api::value::Port;

use super::volumes::{self, CONFIG_PATH, PGPASS_FILE, PGPASS_PATH};
use crate::image::pull_policy;
use crate::invalid::Invalid;
use crate::metadata::Pairs;
use crate::pod_template;
use crate::probe::Probe;
use crate::proxy::secret_references;
use crate::settings::Settings;

/// The port on which the registry server says how it does.
const HEALTH_PORT: i32 = 8081;
/// What copies the password file.
const PGPASS_IMAGE: &str = "cgr.dev/chainguard/busybox:latest";
/// Where the container that copies it sees the Secret, and where it puts the copy.
const PGPASS_FOLDERS: (&str, &str) = ("/secret", "/pgpass");

/// The template of the Deployment, without the user's.
pub(super) fn template(
    name: &str,
    spec: &MCPRegistrySpec,
    labels: &Pairs,
    pull_secrets: &[String],
    settings: &Settings,
) -> Value {
    let MCPRegistrySpec {
        volumes: users,
        volume_mounts: _,
        pgpass_secret_ref,
        // The ConfigMap.
        config_yaml: _,
        // For people.
        display_name: _,
        // Merged in later, and in the list of pull secrets.
        pod_template_spec: _,
        image_pull_secrets: _,
    } = spec;
    let all = volumes::ours(name, pgpass_secret_ref.as_ref());
    let all: Vec<Value> = all.into_iter().chain(volumes::users(users.as_deref())).collect();
    let mut pod = Map::new();
    pod.insert("serviceAccountName".to_owned(), mcp_registry::service_account(name).into());
    pod.insert("containers".to_owned(), json!([container(spec, settings)]));
    pod.insert("volumes".to_owned(), all.into());
    if pgpass_secret_ref.is_some() {
        pod.insert("initContainers".to_owned(), json!([setup_pgpass()]));
    }
    if !pull_secrets.is_empty() {
        pod.insert("imagePullSecrets".to_owned(), secret_references(pull_secrets));
    }
    json!({ "metadata": { "labels": labels }, "spec": pod })
}

fn container(spec: &MCPRegistrySpec, settings: &Settings) -> Value {
    let image = &settings.registry_api_image;
    let has_pgpass = spec.pgpass_secret_ref.is_some();
    let mounts = volumes::our_mounts(has_pgpass).into_iter();
    let mounts: Vec<Value> = mounts.chain(volumes::users(spec.volume_mounts.as_deref())).collect();
    let mut container = json!({
        "name": containers::REGISTRY_API,
        "image": image,
        "imagePullPolicy": pull_policy(image),
        "args": ["serve", format!("--config={CONFIG_PATH}/{}", keys::CONFIG)],
        "ports": [{ "name": HTTP_PORT_NAME, "containerPort": Port::HTTP, "protocol": "TCP" }],
        "resources": {
            "requests": { "cpu": "100m", "memory": "128Mi" },
            "limits": { "cpu": "500m", "memory": "512Mi" },
        },
        "livenessProbe": probe("/health", 30, 10).render(),
        "readinessProbe": probe("/readiness", 5, 5).render(),
        "volumeMounts": mounts,
    });
    if let Some(container) = container.as_object_mut().filter(|_| has_pgpass) {
        container.insert("env".to_owned(), json!([{ "name": env::PGPASSFILE, "value": PGPASS_PATH }]));
    }
    container
}

/// Asks the registry server whether it is well.
fn probe(path: &'static str, initial_delay: i32, period: i32) -> Probe {
    let (port, initial_delay) = (HEALTH_PORT.into(), Some(initial_delay));
    Probe { path, port, initial_delay, period, timeout: 1, failures: 3 }
}

/// Copies the password file: the database wants it to belong to who uses it, and to be read by nobody else, and a Secret
/// cannot be mounted like that.
fn setup_pgpass() -> Value {
    let (from, to) = PGPASS_FOLDERS;
    let copy = format!("{to}/{PGPASS_FILE}");
    json!({
        "name": containers::SETUP_PGPASS,
        "image": PGPASS_IMAGE,
        "imagePullPolicy": pull_policy(PGPASS_IMAGE),
        "command": ["sh", "-c", format!("cp {from}/{PGPASS_FILE} {copy} && chmod 0600 {copy}")],
        "resources": {
            "requests": { "cpu": "10m", "memory": "16Mi" },
            "limits": { "cpu": "50m", "memory": "32Mi" },
        },
        "securityContext": {
            "runAsNonRoot": true,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": [
            { "name": names::PGPASS_SECRET, "mountPath": from, "readOnly": true },
            { "name": names::PGPASS, "mountPath": to },
        ],
    })
}

/// Whether a user's template has left alone what the registry server needs: our volumes, and where it sees them.
pub(super) fn check_merged(name: &str, spec: &MCPRegistrySpec, merged: &Value) -> Result<(), Invalid> {
    let has = |pointer: &str, field: &str, ours: &Value| {
        let all = merged.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        all.filter(|one| one.get(field) == ours.get(field)).any(|one| one == ours)
    };
    let text =
        |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    for volume in volumes::ours(name, spec.pgpass_secret_ref.as_ref()) {
        if !has("/spec/volumes", "name", &volume) {
            let place = format!("{}.spec.volumes[{}]", pod_template::FIELD, text(&volume, "name"));
            return Err(Invalid::new(place, "the operator has a volume of this name: use another name"));
        }
    }
    let containers = merged.pointer("/spec/containers").and_then(Value::as_array);
    let is_ours = |container: &&Value| text(container, "name") == containers::REGISTRY_API;
    let container = containers.into_iter().flatten().find(is_ours);
    let mounts = container.and_then(|container| container.get("volumeMounts")?.as_array());
    for mount in volumes::our_mounts(spec.pgpass_secret_ref.is_some()) {
        if !mounts.is_some_and(|mounts| mounts.contains(&mount)) {
            let place = format!(
                "{}.spec.containers[{}].volumeMounts[{}]",
                pod_template::FIELD,
                containers::REGISTRY_API,
                text(&mount, "mountPath"),
            );
            return Err(Invalid::new(place, "the operator mounts a volume there: use another path"));
        }
    }
    Ok(())
}
