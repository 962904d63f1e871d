//! What the configuration says of the backend.

use std::collections::BTreeMap;

use thv_api::kinds::{HostVolume, MCPServerSpec, Transport};
use thv_api::names::labels;
use thv_api::shared::{EnvVar, HttpTransport};
use thv_api::value::Port;
use thv_config::ProxyMode;
use thv_config::permission::PermissionProfile;

use super::{Problem, paths};
use crate::resolve::{ProfileOrigin, Resolved};
use crate::snapshot::Snapshot;

/// What a shell would take for something else.
const METACHARACTERS: [char; 5] = ['$', '&', ';', '|', '`'];

/// What the configuration says of the backend.
pub(super) struct Backend {
    pub(super) port: u16,
    pub(super) env: BTreeMap<String, String>,
    pub(super) volumes: Vec<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) profile: PermissionProfile,
    pub(super) profile_name: String,
}

/// Puts together what the configuration says of the backend.
pub(super) fn backend(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
) -> Result<Backend, Vec<Problem>> {
    let spec = &snapshot.owner.spec;
    let volumes = sorted_volumes(spec);
    let problems: Vec<Problem> = volumes.iter().filter_map(|volume| volume_problem(volume)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let (mut profile, profile_name) = match resolved.permission_profile.usable() {
        None => (PermissionProfile::network(), String::new()),
        Some(found) => {
            let name = match &found.origin {
                ProfileOrigin::Builtin(name) => name.clone(),
                ProfileOrigin::ConfigMap { name: _, key } => paths::profile(key).path(),
            };
            (found.document.clone(), name)
        }
    };
    for volume in &volumes {
        let list = if volume.read_only { &mut profile.read } else { &mut profile.write };
        list.push(format!("{}:{}", volume.host_path, volume.mount_path));
    }
    keep_first_target(&mut profile);
    let suffix = |volume: &HostVolume| if volume.read_only { ":ro" } else { "" };
    Ok(Backend {
        port: spec.mcp_port.unwrap_or(Port::HTTP).get(),
        env: env(spec),
        volumes: volumes
            .iter()
            .map(|volume| format!("{}:{}{}", volume.host_path, volume.mount_path, suffix(volume)))
            .collect(),
        labels: container_labels(snapshot),
        profile,
        profile_name,
    })
}

/// The volumes by name: their order in the spec has no meaning.
fn sorted_volumes(spec: &MCPServerSpec) -> Vec<&HostVolume> {
    let mut volumes: Vec<_> = spec.volumes.iter().flatten().collect();
    volumes.sort_by_key(|volume| &volume.name);
    volumes
}

fn volume_problem(volume: &HostVolume) -> Option<Problem> {
    let HostVolume { name, host_path, mount_path, read_only: _ } = volume;
    let bad = |path: &String| path.is_empty() || path.contains(':') || path.contains(METACHARACTERS);
    [host_path, mount_path].into_iter().any(bad).then(|| {
        Problem::new(
            format!("spec.volumes[{name:?}]"),
            "has a path that is empty or has a colon or one of $ & ; | ` in it: use another path",
        )
    })
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

/// The labels of what the proxy makes.
fn container_labels(snapshot: &Snapshot<MCPServerSpec>) -> BTreeMap<String, String> {
    let MCPServerSpec { transport, proxy_port, .. } = &snapshot.owner.spec;
    let pairs = [
        (labels::TOOLHIVE, "true".to_owned()),
        (labels::TOOLHIVE_NAME, snapshot.name().to_owned()),
        ("toolhive-basename", snapshot.name().to_owned()),
        ("toolhive-transport", transport.to_string()),
        ("toolhive-port", proxy_port.to_string()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The transport of the backend.
pub(super) const fn transport(transport: Transport) -> thv_config::Transport {
    match transport {
        Transport::Stdio => thv_config::Transport::Stdio,
        Transport::Sse => thv_config::Transport::Sse,
        Transport::StreamableHttp => thv_config::Transport::StreamableHttp,
    }
}

/// What clients of a `stdio` server speak.
pub(super) const fn mode(mode: HttpTransport) -> ProxyMode {
    match mode {
        HttpTransport::Sse => ProxyMode::Sse,
        HttpTransport::StreamableHttp => ProxyMode::StreamableHttp,
    }
}
