//! The volumes of a registry, and where its container sees them.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Volume, VolumeMount};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thv_api::kinds::MCPRegistrySpec;
use thv_api::names::children::mcp_registry;
use thv_api::names::volumes;
use thv_api::shared::KeySelector;
use thv_api::value::RawValue;

use crate::invalid::InvalidList;

/// The folder with the configuration.
pub(super) const CONFIG_PATH: &str = "/config";
/// The password file of the database, where the registry server sees it.
pub(super) const PGPASS_PATH: &str = "/home/appuser/.pgpass";
/// The password file within its volumes.
pub(super) const PGPASS_FILE: &str = ".pgpass";

/// The rights that the API server gives to files unless told otherwise.
const DEFAULT_MODE: i32 = 0o644;

/// The volumes of ours.
pub(super) fn ours(name: &str, pgpass: Option<&KeySelector>) -> Vec<Value> {
    let config = json!({ "name": mcp_registry::config(name), "defaultMode": DEFAULT_MODE });
    let mut all = vec![json!({ "name": volumes::REGISTRY_CONFIG, "configMap": config })];
    if let Some(KeySelector { name, key, optional }) = pgpass {
        let mut secret = Map::new();
        secret.insert("secretName".to_owned(), name.as_str().into());
        secret.insert("items".to_owned(), json!([{ "key": key, "path": PGPASS_FILE }]));
        secret.insert("defaultMode".to_owned(), DEFAULT_MODE.into());
        if let Some(optional) = optional {
            secret.insert("optional".to_owned(), (*optional).into());
        }
        all.push(json!({ "name": volumes::PGPASS_SECRET, "secret": secret }));
        all.push(json!({ "name": volumes::PGPASS, "emptyDir": {} }));
    }
    all
}

/// The mounts of ours.
pub(super) fn our_mounts(has_pgpass: bool) -> Vec<Value> {
    let mut all =
        vec![json!({ "name": volumes::REGISTRY_CONFIG, "mountPath": CONFIG_PATH, "readOnly": true })];
    if has_pgpass {
        all.push(json!({
            "name": volumes::PGPASS, "mountPath": PGPASS_PATH, "subPath": PGPASS_FILE, "readOnly": true,
        }));
    }
    all
}

/// What is wrong with the user's volumes and mounts.
pub(super) fn check(name: &str, spec: &MCPRegistrySpec, invalid: &mut InvalidList) {
    let pgpass = spec.pgpass_secret_ref.as_ref();
    let read = read_all::<Volume>("spec.volumes", spec.volumes.as_deref(), invalid);
    let mut names = texts(&ours(name, pgpass), "name");
    for (place, Volume { name, .. }) in read {
        let message = format!("there is another volume {name:?}, or the operator has one: use another name");
        invalid.unless(names.insert(name), format!("{place}.name"), message);
    }
    let read = read_all::<VolumeMount>("spec.volumeMounts", spec.volume_mounts.as_deref(), invalid);
    let mut paths = texts(&our_mounts(pgpass.is_some()), "mountPath");
    for (place, VolumeMount { mount_path, .. }) in read {
        let message = format!("something else is mounted at {mount_path:?}: use another path");
        let path = mount_path.trim_end_matches('/').to_owned();
        invalid.unless(paths.insert(path), format!("{place}.mountPath"), message);
    }
}

fn texts(all: &[Value], field: &str) -> BTreeSet<String> {
    all.iter().filter_map(|one| one.get(field)?.as_str()).map(str::to_owned).collect()
}

/// What users wrote, with its place, as far as it is what it should be.
fn read_all<T: DeserializeOwned>(
    field: &str,
    all: Option<&[RawValue]>,
    invalid: &mut InvalidList,
) -> Vec<(String, T)> {
    let mut read = Vec::new();
    for (index, RawValue(value)) in all.into_iter().flatten().enumerate() {
        let place = format!("{field}[{index}]");
        match serde_path_to_error::deserialize::<_, T>(value) {
            Ok(one) => read.push((place, one)),
            Err(error) => {
                let path = error.path().to_string();
                let place = if path == "." { place } else { format!("{place}.{path}") };
                invalid.add(place, error.inner().to_string());
            }
        }
    }
    read
}

/// What users wrote, unread.
pub(super) fn users(all: Option<&[RawValue]>) -> impl Iterator<Item = Value> {
    all.into_iter().flatten().map(|RawValue(value)| value.clone())
}
