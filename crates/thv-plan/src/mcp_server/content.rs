//! What a server becomes, but for the revision: everything that revisions tell apart, and the children around it.

use std::collections::{BTreeMap, BTreeSet};

use thv_api::kinds::{HostVolume, MCPServerSpec};
use thv_api::names::labels::{self, Workload};
use thv_api::names::{annotations, children, volumes as volume_names};
use thv_api::shared::{
    AuthzConfig, MetadataOverrides, ProxyDeploymentOverrides, PullSecretRef, ResourceOverrides,
};
use thv_config::RunConfig;

use super::deployment::ProxyPod;
use super::pod_patch::{self, Additions};
use super::{config_maps, name_of, proxy_env, rbac, service};
use crate::child::Child;
use crate::metadata::{Metadata, OnDeployment, OnPods, OnService, Pairs, Wishes};
use crate::overrides::{RESERVED, Refusals};
use crate::run_config::{self, VolumeWiring, Wiring};
use crate::settings::{Platform, Settings};
use crate::snapshot::Snapshot;
use crate::volumes::{Mount, Taken, VolumeSource, Volumes};

/// Where the proxy finds its configuration.
const RUN_CONFIG_PATH: &str = "/etc/runconfig";

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
    /// The pods of the proxy.
    pub(super) pod: ProxyPod<'a>,
    /// The configuration of the proxy.
    pub(super) run_config: RunConfig,
    /// The metadata of the Deployment.
    pub(super) deployment: Metadata<OnDeployment>,
    /// The children that do not depend on the revision.
    pub(super) others: Vec<Child>,
    /// What the user asked for and did not get.
    pub(super) refusals: Refusals,
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
        volumes,
        resources,
        secrets,
        service_account,
        pod_template_spec,
        resource_overrides,
        authz_config,
        session_affinity,
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
    let Resolution { wiring: Wiring { env: wired_env, volumes: wired_volumes }, run_config: document } =
        resolution;
    let overrides = overrides(resource_overrides.as_ref());
    let mut refusals = Refusals::default();
    for name in run_config::overruled_env(&owner.spec) {
        refusals.refuse(format!("spec.env[{name}]"), "set by the transport");
    }

    let pull_secrets = pull_secrets(overrides.pull_secrets, settings);
    // OpenShift keeps credentials of its own in the ServiceAccounts, in a list that has one owner.
    let (for_accounts, for_backend) = match settings.platform {
        Platform::Kubernetes => (pull_secrets.clone(), Vec::new()),
        Platform::OpenShift => (Vec::new(), pull_secrets.clone()),
    };

    let mut others = Vec::new();
    if let Some(AuthzConfig { inline: Some(rules), .. }) = authz_config {
        others.push(config_maps::inline_authz(owner, rules));
    }
    others.push(rbac::proxy_account(owner, &for_accounts));
    if service_account.is_none() {
        others.push(rbac::backend_account(owner, &for_accounts));
    }
    others.push(rbac::role(owner));
    others.push(rbac::role_binding(owner));
    let affinity = *session_affinity;
    others.push(service::service(owner, *proxy_port, affinity, &overrides.service, &mut refusals));

    let our_account = children::mcp_server::backend_service_account(name_of(owner));
    let additions = Additions {
        service_account: service_account.as_deref().unwrap_or(&our_account),
        secrets: secrets.as_deref().unwrap_or_default(),
        pull_secrets: if service_account.is_none() { &for_backend } else { &[] },
    };
    let patch = pod_patch::argument(pod_template_spec.as_ref(), additions, &mut refusals);
    let args = ["run".to_owned()].into_iter().chain(patch).chain([image.clone()]).collect();

    let labels = labels::workload(Workload::McpServer, name_of(owner));
    let on_pods: Pairs =
        restarted_at.map(|at| (annotations::RESTARTED_AT.to_owned(), at)).into_iter().collect();
    let pod = ProxyPod {
        settings,
        metadata: Metadata::<OnPods>::new(labels.clone(), on_pods).with(&overrides.pods, &mut refusals),
        args,
        port: *proxy_port,
        resources: resources.as_ref(),
        env: proxy_env::compose(wired_env, overrides.env, &mut refusals),
        volumes: mounts(name_of(owner), wired_volumes, volumes.as_deref().unwrap_or_default(), &mut refusals),
        pull_secrets,
    };
    let deployment =
        Metadata::<OnDeployment>::new(labels, Pairs::new()).with(&overrides.deployment, &mut refusals);
    Content { pod, run_config: document, deployment, others, refusals }
}

/// What users may add to our objects, each at its level.
struct Overrides<'a> {
    deployment: Wishes<'a, OnDeployment>,
    pods: Wishes<'a, OnPods>,
    service: Wishes<'a, OnService>,
    env: &'a [thv_api::shared::EnvVar],
    pull_secrets: &'a [PullSecretRef],
}

fn overrides(all: Option<&ResourceOverrides>) -> Overrides<'_> {
    const DEPLOYMENT: &str = "spec.resourceOverrides.proxyDeployment";
    const PODS: &str = "spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides";
    const SERVICE: &str = "spec.resourceOverrides.proxyService";
    let mut overrides = Overrides {
        deployment: Wishes::new(DEPLOYMENT, None, None),
        pods: Wishes::new(PODS, None, None),
        service: Wishes::new(SERVICE, None, None),
        env: &[],
        pull_secrets: &[],
    };
    let Some(ResourceOverrides { proxy_deployment, proxy_service }) = all else { return overrides };
    if let Some(MetadataOverrides { annotations, labels }) = proxy_service {
        overrides.service = Wishes::new(SERVICE, labels.as_ref(), annotations.as_ref());
    }
    let Some(ProxyDeploymentOverrides {
        annotations,
        labels,
        pod_template_metadata_overrides,
        env,
        image_pull_secrets,
    }) = proxy_deployment
    else {
        return overrides;
    };
    overrides.deployment = Wishes::new(DEPLOYMENT, labels.as_ref(), annotations.as_ref());
    overrides.env = env.as_deref().unwrap_or_default();
    overrides.pull_secrets = image_pull_secrets.as_deref().unwrap_or_default();
    if let Some(MetadataOverrides { annotations, labels }) = pod_template_metadata_overrides {
        overrides.pods = Wishes::new(PODS, labels.as_ref(), annotations.as_ref());
    }
    overrides
}

/// Whether a user adds anything to our objects.
pub(super) fn has_overrides(spec: &MCPServerSpec) -> bool {
    spec.resource_overrides.is_some() || spec.volumes.as_ref().is_some_and(|volumes| !volumes.is_empty())
}

/// The user's pull secrets and those of the whole operator, each once. A node tries all of them, so their order means
/// nothing and is always the same.
fn pull_secrets(wanted: &[PullSecretRef], settings: &Settings) -> Vec<String> {
    let all = wanted.iter().map(|secret| &secret.name).chain(&settings.image_pull_secrets);
    let all: BTreeSet<&String> = all.filter(|name| !name.is_empty()).collect();
    all.into_iter().cloned().collect()
}

/// The volumes of the proxy: its configuration, what references cause, and the user's.
fn mounts(name: &str, wired: Vec<VolumeWiring>, wanted: &[HostVolume], refusals: &mut Refusals) -> Volumes {
    let run_config =
        VolumeSource::ConfigMap { name: children::mcp_server::run_config(name), items: BTreeMap::new() };
    let ours = VolumeWiring {
        name: volume_names::RUN_CONFIG.to_owned(),
        source: run_config,
        mount: Mount::read_only(RUN_CONFIG_PATH),
    };
    let mut sorted: Vec<&HostVolume> = wanted.iter().collect();
    sorted.sort_by_key(|volume| &volume.name);
    let users =
        sorted.into_iter().map(|HostVolume { name, host_path, mount_path, read_only }| VolumeWiring {
            name: name.clone(),
            source: VolumeSource::HostPath(host_path.clone()),
            mount: Mount { path: mount_path.clone(), sub_path: None, read_only: *read_only },
        });
    let mut all = Volumes::default();
    for VolumeWiring { name, source, mount } in [ours].into_iter().chain(wired).chain(users) {
        match all.add(name.as_str(), source, mount) {
            Ok(()) => {}
            Err(Taken::Name) => refusals.refuse(format!("spec.volumes[{name}]"), RESERVED),
            Err(Taken::Path) => {
                refusals.refuse(format!("spec.volumes[{name}].mountPath"), "another volume is mounted there");
            }
        }
    }
    all
}
