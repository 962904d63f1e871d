//! What the configuration of the proxy says of the backend.

use std::collections::BTreeMap;

use thv_api::kinds::{HostVolume, MCPServerSpec, Transport};
use thv_api::shared::EnvVar;
use thv_api::value::Port;
use thv_config::permission::PermissionProfile;

use crate::resolve::{Profile, ProfileOrigin};
use crate::run_config::{Backend, profile_file};

/// Puts together what the configuration says of the backend.
pub(super) fn backend<'a>(spec: &'a MCPServerSpec, profile: Option<&Profile>) -> Backend<'a> {
    let volumes = sorted_volumes(spec);
    let (mut document, profile_name) = match profile {
        None => (PermissionProfile::network(), String::new()),
        Some(Profile { document, origin, notes: _ }) => {
            let name = match origin {
                ProfileOrigin::Builtin(name) => name.clone(),
                ProfileOrigin::ConfigMap { name: _, key } => profile_file(key).path(),
            };
            (document.clone(), name)
        }
    };
    for volume in &volumes {
        let list = if volume.read_only { &mut document.read } else { &mut document.write };
        list.push(format!("{}:{}", volume.host_path, volume.mount_path));
    }
    keep_first_target(&mut document);
    let suffix = |volume: &HostVolume| if volume.read_only { ":ro" } else { "" };
    Backend {
        image: &spec.image,
        args: spec.args.as_deref().unwrap_or_default(),
        port: spec.mcp_port.unwrap_or(Port::HTTP).get(),
        env: env(spec),
        volumes: volumes
            .iter()
            .map(|volume| format!("{}:{}{}", volume.host_path, volume.mount_path, suffix(volume)))
            .collect(),
        profile: document,
        profile_name,
        replicas: spec.backend_replicas,
    }
}

/// The volumes by name: their order in the spec has no meaning.
pub(super) fn sorted_volumes(spec: &MCPServerSpec) -> Vec<&HostVolume> {
    let mut volumes: Vec<_> = spec.volumes.iter().flatten().collect();
    volumes.sort_by_key(|volume| &volume.name);
    volumes
}

/// Where two mounts of a profile have the same target, the first counts.
fn keep_first_target(profile: &mut PermissionProfile) {
    let mut seen = Vec::new();
    for list in [&mut profile.read, &mut profile.write] {
        list.retain(|mount| {
            let target = mount.rsplit_once(':').map_or(mount.as_str(), |(_, target)| target).to_owned();
            let new = !seen.contains(&target);
            seen.push(target);
            new
        });
    }
}

/// The environment of the backend. What the transport needs cannot be set otherwise.
fn env(spec: &MCPServerSpec) -> BTreeMap<String, String> {
    let own = spec.env.iter().flatten().map(|EnvVar { name, value }| (name.clone(), value.clone()));
    own.chain(reserved_env(spec)).collect()
}

fn reserved_env(spec: &MCPServerSpec) -> Vec<(String, String)> {
    let port = spec.mcp_port.unwrap_or(Port::HTTP).to_string();
    let mut reserved = vec![("MCP_TRANSPORT".to_owned(), spec.transport.to_string())];
    if spec.transport != Transport::Stdio {
        reserved.extend(["MCP_PORT", "FASTMCP_PORT"].map(|name| (name.to_owned(), port.clone())));
    }
    reserved
}

/// The variables of `spec.env` whose values do not count, because the transport dictates another.
pub fn overruled_env(spec: &MCPServerSpec) -> Vec<String> {
    let reserved: BTreeMap<String, String> = reserved_env(spec).into_iter().collect();
    let own = spec.env.iter().flatten();
    own.filter(|it| reserved.get(&it.name).is_some_and(|value| *value != it.value))
        .map(|it| it.name.clone())
        .collect()
}
