//! What an object with a proxy becomes, but for the revision: everything that revisions tell apart, and the children
//! around it.

use thv_api::names::{annotations, containers};
use thv_api::shared::AuthzConfig;
use thv_api::value::RawObject;
use thv_config::RunConfig;

use super::{Proxied, ProxySpec};
use crate::child::Child;
use crate::deployed::pod_identity;
use crate::metadata::{Metadata, OnDeployment, OnPods, Pairs};
use crate::overrides::IgnoredOverrides;
use crate::owner::Owner;
use crate::proxy::env::compose;
use crate::proxy::mounts::{mounts, run_config_volume};
use crate::proxy::overrides::Overrides;
use crate::proxy::pod::{HEALTH, ProxyPod};
use crate::proxy::service::service;
use crate::proxy::{Proxy, config_maps};
use crate::pull_secrets::PullSecrets;
use crate::rotation::{self, content_digest};
use crate::run_config::{VolumeWiring, Wiring};
use crate::snapshot::Snapshot;

/// What references add to the proxy, and its configuration.
#[derive(Clone, Debug)]
pub(super) struct Resolution {
    /// Variables and volumes that references cause.
    pub(super) wiring: Wiring,
    /// The configuration, without a stamp.
    pub(super) run_config: RunConfig,
}

/// What only its kind knows of the pods of an object, and its further children.
#[derive(Debug)]
pub(crate) struct Own<'a> {
    /// The ServiceAccount of the pods.
    pub(crate) service_account: String,
    /// The arguments of the proxy.
    pub(crate) args: Vec<String>,
    /// The volumes that the user adds to the proxy, as it sees them.
    pub(crate) volumes: Vec<VolumeWiring>,
    /// What the user merges into the pods of the proxy.
    pub(crate) pod_template: Option<&'a RawObject>,
    /// ServiceAccounts, and what they may do.
    pub(crate) children: Vec<Child>,
}

/// What an object becomes, but for the revision.
#[derive(Debug)]
pub(super) struct Content<'a> {
    /// The object, as the owner of its children.
    pub(super) proxy: Proxy<'a>,
    /// The pods of the proxy, without an identity.
    pub(super) pod: ProxyPod<'a>,
    /// What the user merges into them.
    pub(super) pod_template: Option<&'a RawObject>,
    /// The configuration of the proxy.
    pub(super) run_config: RunConfig,
    /// The metadata of the Deployment.
    pub(super) deployment: Metadata<OnDeployment>,
    /// The children that do not depend on the revision.
    pub(super) others: Vec<Child>,
    /// The overrides that are ignored.
    pub(super) ignored: IgnoredOverrides,
}

/// What an object becomes. `restarted_at` is the time of the last restart that rolls its pods.
pub(super) fn content<S: Proxied>(
    snapshot: &Snapshot<S>,
    resolution: Resolution,
    restarted_at: Option<String>,
) -> Content<'_> {
    let (owner, settings) = (snapshot.owner.as_ref(), snapshot.settings.as_ref());
    let ProxySpec {
        proxy_port,
        resources,
        resource_overrides,
        authz_config,
        session_affinity,
        // What the kind has of its own.
        pod_template_spec: _,
        secrets: _,
        // The RunConfig, and what references cause.
        session_storage: _,
        audit: _,
        trust_proxy_headers: _,
        endpoint_prefix: _,
        oidc_config_ref: _,
        authz_config_ref: _,
        tool_config_ref: _,
        telemetry_config_ref: _,
        external_auth_config_ref: _,
        auth_server_ref: _,
        webhook_config_ref: _,
        permission_profile: _,
        header_forward: _,
        // The status, and whoever looks after groups.
        group_ref: _,
    } = owner.spec.proxy_spec();
    let Resolution { wiring, run_config } = resolution;
    let rotated = rotation::is_requested(&owner.metadata)
        .then(|| content_digest(rotation::used_by(&wiring), &snapshot.references))
        .flatten();
    let Wiring { env: wired_env, volumes: wired_volumes } = wiring;
    let names = S::names(snapshot.name());
    let proxy = Proxy { owner: Owner::from(owner), workload: S::WORKLOAD, names };
    let overrides = Overrides::new(resource_overrides);
    let pull_secrets = PullSecrets::new(overrides.pull_secrets(), settings);
    let mut ignored = IgnoredOverrides::default();
    let own = S::own(snapshot, &proxy, &pull_secrets, &mut ignored);
    let Own { service_account, args, volumes, pod_template, children: mut others } = own;
    if let Some(AuthzConfig { inline: Some(rules), .. }) = authz_config {
        others.push(config_maps::inline_authz(&proxy, rules));
    }
    others.push(service(&proxy, None, proxy_port, session_affinity, &overrides.service, &mut ignored));

    let on_pods: Pairs = [(annotations::RESTARTED_AT, restarted_at), (annotations::ROTATED_CONTENT, rotated)]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
    let pod = ProxyPod {
        container: containers::PROXY,
        image: &settings.runner_image,
        platform: settings.platform,
        metadata: Metadata::<OnPods>::new(proxy.labels(), on_pods).with(&overrides.pods, &mut ignored),
        service_account,
        args,
        port: proxy_port,
        readiness: HEALTH,
        resources,
        env: compose(
            wired_env.into_iter().chain(pod_identity::variables()),
            &pod_identity::RESERVED,
            overrides.env,
            &mut ignored,
        ),
        volumes: mounts(run_config_volume(&proxy.names.run_config), wired_volumes, volumes, &mut ignored),
        pull_secrets: pull_secrets.all().to_vec(),
    };
    let deployment =
        Metadata::<OnDeployment>::new(proxy.labels(), Pairs::new()).with(&overrides.deployment, &mut ignored);
    Content { proxy, pod, pod_template, run_config, deployment, others, ignored }
}
