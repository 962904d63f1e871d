//! What a server becomes, but for the revision: everything that revisions tell apart, and the children around it.

use thv_api::kinds::{HostVolume, MCPServer, MCPServerSpec, SecretEnv};
use thv_api::names::annotations;
use thv_api::names::children::mcp_server;
use thv_api::names::labels::Workload;
use thv_api::shared::AuthzConfig;
use thv_config::RunConfig;

use super::backend::{overruled_env, sorted_volumes};
use super::pod_patch::{self, Additions};
use super::{name_of, pod_identity};
use crate::child::Child;
use crate::metadata::{Metadata, OnDeployment, OnPods, Pairs};
use crate::overrides::IgnoredOverrides;
use crate::owner::Owner;
use crate::proxy::env::compose;
use crate::proxy::mounts::mounts;
use crate::proxy::overrides::Overrides;
use crate::proxy::pod::ProxyPod;
use crate::proxy::service::service;
use crate::proxy::{Names, Proxy, config_maps, rbac};
use crate::proxy_role;
use crate::rotation::{self, Used, content_digest};
use crate::run_config::{VolumeWiring, Wiring};
use crate::settings::Platform;
use crate::snapshot::Snapshot;
use crate::volumes::{Mount, VolumeSource};

/// What references add to the proxy, and its configuration.
#[derive(Clone, Debug)]
pub(super) struct Resolution {
    /// Variables and volumes that references cause.
    pub(super) wiring: Wiring,
    /// The configuration, without a stamp.
    pub(super) run_config: RunConfig,
}

/// What a server becomes, but for the revision.
#[derive(Debug)]
pub(super) struct Content<'a> {
    /// The server, as the owner of its children.
    pub(super) proxy: Proxy<'a>,
    /// The pods of the proxy, without an identity.
    pub(super) pod: ProxyPod<'a>,
    /// The configuration of the proxy.
    pub(super) run_config: RunConfig,
    /// The metadata of the Deployment.
    pub(super) deployment: Metadata<OnDeployment>,
    /// The children that do not depend on the revision.
    pub(super) others: Vec<Child>,
    /// The overrides that are ignored.
    pub(super) ignored: IgnoredOverrides,
}

/// What a server becomes. `restarted_at` is the time of the last restart that rolls its pods.
pub(super) fn content(
    snapshot: &Snapshot<MCPServerSpec>,
    resolution: Resolution,
    restarted_at: Option<String>,
) -> Content<'_> {
    let (owner, settings) = (snapshot.owner.as_ref(), snapshot.settings.as_ref());
    let MCPServerSpec {
        image,
        proxy_port,
        resources,
        secrets,
        service_account,
        pod_template_spec,
        resource_overrides,
        authz_config,
        session_affinity,
        // The RunConfig, and the pods of the proxy.
        volumes: _,
        // The RunConfig.
        transport: _,
        proxy_mode: _,
        mcp_port: _,
        args: _,
        env: _,
        audit: _,
        trust_proxy_headers: _,
        endpoint_prefix: _,
        backend_replicas: _,
        rate_limiting: _,
        // The RunConfig, and what references cause.
        permission_profile: _,
        oidc_config_ref: _,
        authz_config_ref: _,
        tool_config_ref: _,
        external_auth_config_ref: _,
        webhook_config_ref: _,
        auth_server_ref: _,
        telemetry_config_ref: _,
        session_storage: _,
        // The status, and whoever looks after groups.
        group_ref: _,
        // The Deployment, not its pods.
        replicas: _,
    } = &owner.spec;
    let Resolution { wiring, run_config: document } = resolution;
    let rotated = Rotated::of(snapshot, &wiring);
    let Wiring { env: wired_env, volumes: wired_volumes } = wiring;
    let proxy = proxy(owner);
    let overrides = Overrides::new(resource_overrides.as_ref());
    let mut ignored = IgnoredOverrides::default();
    for name in overruled_env(&owner.spec) {
        ignored.ignore(format!("spec.env[{name}]"), "set by the transport");
    }

    let pull_secrets = overrides.pull_secrets(settings);
    // OpenShift keeps credentials of its own in the ServiceAccounts, in a list that has one owner.
    let (for_accounts, for_backend) = match settings.platform {
        Platform::Kubernetes => (pull_secrets.clone(), Vec::new()),
        Platform::OpenShift => (Vec::new(), pull_secrets.clone()),
    };

    let mut others = Vec::new();
    if let Some(AuthzConfig { inline: Some(rules), .. }) = authz_config {
        others.push(config_maps::inline_authz(&proxy, rules));
    }
    others.push(rbac::account(&proxy, &proxy.names.account, &for_accounts));
    let our_account = mcp_server::backend_service_account(name_of(owner));
    if service_account.is_none() {
        others.push(rbac::account(&proxy, &our_account, &for_accounts));
    }
    others.push(rbac::role(&proxy, proxy_role::rules(name_of(owner))));
    others.push(rbac::role_binding(&proxy));
    others.push(service(&proxy, *proxy_port, *session_affinity, &overrides.service, &mut ignored));

    let additions = Additions {
        service_account: service_account.as_deref().unwrap_or(&our_account),
        secrets: secrets.as_deref().unwrap_or_default(),
        pull_secrets: if service_account.is_none() { &for_backend } else { &[] },
        rotated_content: rotated.backend.as_deref(),
    };
    let patch = pod_patch::argument(pod_template_spec.as_ref(), additions, &mut ignored);
    let args = ["run".to_owned()].into_iter().chain(patch).chain([image.clone()]).collect();

    let on_pods: Pairs =
        [(annotations::RESTARTED_AT, restarted_at), (annotations::ROTATED_CONTENT, rotated.proxy)]
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
    let pod = ProxyPod {
        settings,
        metadata: Metadata::<OnPods>::new(proxy.labels(), on_pods).with(&overrides.pods, &mut ignored),
        service_account: proxy.names.account.clone(),
        args,
        port: *proxy_port,
        resources: resources.as_ref(),
        env: compose(
            wired_env.into_iter().chain(pod_identity::variables()),
            &pod_identity::RESERVED,
            overrides.env,
            &mut ignored,
        ),
        volumes: mounts(&proxy.names.run_config, wired_volumes, user_volumes(&owner.spec), &mut ignored),
        pull_secrets,
    };
    let deployment =
        Metadata::<OnDeployment>::new(proxy.labels(), Pairs::new()).with(&overrides.deployment, &mut ignored);
    Content { proxy, pod, run_config: document, deployment, others, ignored }
}

/// Digests of the content that pods use and that is rotated behind its name, if the user wants them to restart for that.
#[derive(Debug, Default)]
struct Rotated {
    proxy: Option<String>,
    backend: Option<String>,
}

impl Rotated {
    fn of(snapshot: &Snapshot<MCPServerSpec>, wiring: &Wiring) -> Self {
        if !rotation::is_requested(&snapshot.owner.metadata) {
            return Self::default();
        }
        let secrets = snapshot.owner.spec.secrets.iter().flatten();
        let variables = secrets.map(|SecretEnv { name, key, target_env_name: _ }| Used::Secret { name, key });
        Self {
            proxy: content_digest(rotation::used_by(wiring), &snapshot.references),
            backend: content_digest(variables, &snapshot.references),
        }
    }
}

/// Whether a user adds anything to our objects.
pub(super) fn has_overrides(spec: &MCPServerSpec) -> bool {
    spec.resource_overrides.is_some() || spec.volumes.as_ref().is_some_and(|volumes| !volumes.is_empty())
}

/// The children of a server with its proxy.
fn proxy(owner: &MCPServer) -> Proxy<'_> {
    let name = name_of(owner);
    let names = Names {
        deployment: mcp_server::deployment(name),
        service: mcp_server::proxy_service(name),
        run_config: mcp_server::run_config(name),
        inline_authz: mcp_server::inline_authz(name),
        account: mcp_server::proxy_runner(name),
    };
    Proxy { owner: Owner::from(owner), workload: Workload::McpServer, names }
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
