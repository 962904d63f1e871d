//! The pods of a server's proxies, and what they bring up: what only an `MCPServer` has.

use thv_api::kinds::{HostVolume, MCPServerSpec, SecretEnv};
use thv_api::names::children::mcp_server;

use super::backend::{overruled_env, sorted_volumes};
use super::pod_patch::{self, Additions};
use crate::overrides::IgnoredOverrides;
use crate::proxied::Own;
use crate::proxy::{Proxy, rbac};
use crate::proxy_role;
use crate::pull_secrets::PullSecrets;
use crate::rotation::{self, Used, content_digest};
use crate::run_config::VolumeWiring;
use crate::snapshot::Snapshot;
use crate::volumes::{Mount, VolumeSource};

/// The proxy makes the backend, so it has rights of its own, whichever account the user names for the backend; and the
/// user's pod template is for the backend.
pub(super) fn own<'a>(
    snapshot: &'a Snapshot<MCPServerSpec>,
    proxy: &Proxy<'_>,
    pull_secrets: &PullSecrets,
    ignored: &mut IgnoredOverrides,
) -> Own<'a> {
    let (name, spec) = (snapshot.name(), &snapshot.owner.spec);
    for variable in overruled_env(spec) {
        ignored.ignore(format!("spec.env[{variable}]"), "set by the transport");
    }
    let account = &proxy.names.account;
    let mut children = vec![
        rbac::account(proxy, account, pull_secrets.for_accounts()),
        rbac::role(proxy, proxy_role::rules(name)),
        rbac::role_binding(proxy),
    ];
    let our_account = mcp_server::backend_service_account(name);
    if spec.service_account.is_none() {
        children.push(rbac::account(proxy, &our_account, pull_secrets.for_accounts()));
    }
    let rotated = rotated_content(snapshot);
    let additions = Additions {
        service_account: spec.service_account.as_deref().unwrap_or(&our_account),
        secrets: spec.secrets.as_deref().unwrap_or_default(),
        pull_secrets: if spec.service_account.is_none() { pull_secrets.beside_account() } else { &[] },
        rotated_content: rotated.as_deref(),
    };
    let patch = pod_patch::argument(spec.pod_template_spec.as_ref(), additions, ignored);
    Own {
        service_account: account.clone(),
        args: ["run".to_owned()].into_iter().chain(patch).chain([spec.image.clone()]).collect(),
        volumes: user_volumes(spec),
        pod_template: None,
        children,
    }
}

/// A digest of the content that the backend uses and that is rotated behind its name, if the user wants it to restart
/// for that.
fn rotated_content(snapshot: &Snapshot<MCPServerSpec>) -> Option<String> {
    if !rotation::is_requested(&snapshot.owner.metadata) {
        return None;
    }
    let secrets = snapshot.owner.spec.secrets.iter().flatten();
    let variables = secrets.map(|SecretEnv { name, key, target_env_name: _ }| Used::Secret { name, key });
    content_digest(variables, &snapshot.references)
}

/// The volumes that the user adds to the proxy, as it sees them.
fn user_volumes(spec: &MCPServerSpec) -> Vec<VolumeWiring> {
    let volumes = sorted_volumes(spec).into_iter();
    volumes
        .map(|HostVolume { name, host_path, mount_path, read_only }| VolumeWiring {
            name: name.clone(),
            source: VolumeSource::HostPath(host_path.clone()),
            mount: Mount { path: mount_path.clone(), sub_path: None, read_only: *read_only },
        })
        .collect()
}
