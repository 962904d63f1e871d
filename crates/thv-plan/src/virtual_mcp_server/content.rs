//! What a virtual server becomes, but for the revision: everything that revisions tell apart, and the children around it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::json;
use thv_api::kinds::{LogLevel, OutgoingAuthSource, VirtualMCPServerSpec};
use thv_api::names::children::{keys, virtual_mcp_server};
use thv_api::names::labels::{self, Workload};
use thv_api::names::{annotations, containers, env, volumes};
use thv_api::shared::{ResourceList, ResourceRequirements};
use thv_api::value::RawObject;
use thv_config::vmcp::VmcpConfig;

use super::PORT;
use super::refs::source;
use super::resolved::Resolved;
use crate::backends::Backend;
use crate::child::{Child, ChildKind, Random};
use crate::deployed::pod_identity;
use crate::env::EnvValue;
use crate::metadata::{Metadata, OnDeployment, OnPods, OnService, Pairs, UserMetadata};
use crate::overrides::IgnoredOverrides;
use crate::owner::Owner;
use crate::proxy::env::compose;
use crate::proxy::mounts::mounts;
use crate::proxy::pod::ProxyPod;
use crate::proxy::service::service;
use crate::proxy::{Names, Proxy, rbac};
use crate::pull_secrets::PullSecrets;
use crate::rotation::{self, content_digest};
use crate::run_config::{VolumeWiring, Wiring, wiring};
use crate::snapshot::Snapshot;
use crate::vmcp_role;
use crate::volumes::{Mount, VolumeSource};

/// Where the pods find their configuration.
const CONFIG_PATH: &str = "/etc/vmcp-config";
/// Where a pod tells whether it can be called.
const READINESS: &str = "/readyz";
/// How many random bytes sessions are bound with.
const HMAC_BYTES: usize = 32;

/// What a pod may use, unless the pod template says otherwise.
static RESOURCES: LazyLock<ResourceRequirements> = LazyLock::new(|| {
    let list =
        |cpu: &str, memory: &str| ResourceList { cpu: Some(cpu.to_owned()), memory: Some(memory.to_owned()) };
    ResourceRequirements { limits: Some(list("500m", "512Mi")), requests: Some(list("100m", "128Mi")) }
});

/// What a virtual server becomes, but for the revision.
#[derive(Debug)]
pub(super) struct Content<'a> {
    /// The server, as the owner of its children.
    pub(super) proxy: Proxy<'a>,
    /// The pods, without an identity.
    pub(super) pod: ProxyPod<'a>,
    /// What the user merges into them.
    pub(super) pod_template: Option<&'a RawObject>,
    /// The configuration.
    pub(super) config: VmcpConfig,
    /// The metadata of the Deployment.
    pub(super) deployment: Metadata<OnDeployment>,
    /// The children that do not depend on the revision.
    pub(super) others: Vec<Child>,
    /// The overrides that are ignored.
    pub(super) ignored: IgnoredOverrides,
}

/// What a virtual server becomes. `restarted_at` is the time of the last restart that rolls its pods.
pub(super) fn content<'a>(
    snapshot: &'a Snapshot<VirtualMCPServerSpec>,
    resolved: &Resolved<'_>,
    config: VmcpConfig,
    restarted_at: Option<String>,
) -> Content<'a> {
    let (owner, settings) = (snapshot.owner.as_ref(), snapshot.settings.as_ref());
    let VirtualMCPServerSpec {
        service_type,
        session_affinity,
        service_account,
        pod_template_spec,
        image_pull_secrets,
        outgoing_auth,
        config: behaviour,
        // The configuration, and what references cause.
        group_ref: _,
        incoming_auth: _,
        passthrough_headers: _,
        telemetry_config_ref: _,
        embedding_server_ref: _,
        auth_server_config: _,
        session_storage: _,
        // The Deployment, not its pods.
        replicas: _,
    } = &owner.spec;
    let name = snapshot.name();
    let proxy = Proxy { owner: Owner::from(owner), workload: Workload::VirtualMcpServer, names: names(name) };
    let mut ignored = IgnoredOverrides::default();
    let named = image_pull_secrets.iter().flatten().map(|secret| secret.name.as_str());
    let pull_secrets = PullSecrets::new(named, settings);

    let mut others = vec![hmac_secret(&proxy)];
    if service_account.is_none() {
        let backends = match source(outgoing_auth.as_ref()) {
            OutgoingAuthSource::Discovered => vmcp_role::Backends::Watched,
            OutgoingAuthSource::Inline => vmcp_role::Backends::Fixed,
        };
        others.push(rbac::account(&proxy, &proxy.names.account, pull_secrets.for_accounts()));
        others.push(rbac::role(&proxy, vmcp_role::rules(name, backends)));
        others.push(rbac::role_binding(&proxy));
    }
    let users = UserMetadata::<OnService>::new("", None, None);
    others.push(service(&proxy, Some(*service_type), PORT, *session_affinity, &users, &mut ignored));

    let mut wiring = wiring(&resolved.referenced());
    wiring.env.extend(resolved.outgoing.variables());
    for Backend { name, ca_bundle, .. } in &resolved.backends.usable {
        if let Some(bundle) = ca_bundle {
            wiring.entry_bundle(name, bundle);
        }
    }
    let rotated = rotation::is_requested(&owner.metadata)
        .then(|| content_digest(rotation::used_by(&wiring), &snapshot.references))
        .flatten();
    let Wiring { env: wired_env, volumes: wired_volumes } = wiring;
    let on_pods: Pairs = [(annotations::RESTARTED_AT, restarted_at), (annotations::ROTATED_CONTENT, rotated)]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();

    let log_level = behaviour.as_ref().and_then(|it| it.operational.as_ref()).and_then(|it| it.log_level);
    let debug = log_level.map(|LogLevel::Debug| "--debug".to_owned());
    let pod = ProxyPod {
        container: containers::VMCP,
        image: &settings.vmcp_image,
        platform: settings.platform,
        metadata: Metadata::<OnPods>::new(proxy.labels(), on_pods),
        service_account: service_account.clone().unwrap_or_else(|| proxy.names.account.clone()),
        args: [
            "serve".to_owned(),
            format!("--config={CONFIG_PATH}/{}", keys::CONFIG),
            format!("--host={}", settings.proxy_host),
            format!("--port={PORT}"),
        ]
        .into_iter()
        .chain(debug)
        .collect(),
        port: PORT,
        readiness: READINESS,
        resources: Some(&RESOURCES),
        env: compose(
            wired_env.into_iter().chain(own_variables(snapshot)).chain(pod_identity::variables()),
            &pod_identity::RESERVED,
            &[],
            &mut ignored,
        ),
        volumes: mounts(config_volume(&proxy.names.run_config), wired_volumes, Vec::new(), &mut ignored),
        pull_secrets: pull_secrets.all().to_vec(),
    };
    let deployment = Metadata::<OnDeployment>::new(proxy.labels(), Pairs::new());
    Content { proxy, pod, pod_template: pod_template_spec.as_ref(), config, deployment, others, ignored }
}

/// What the children are called.
fn names(name: &str) -> Names {
    Names {
        deployment: virtual_mcp_server::deployment(name),
        service: virtual_mcp_server::service(name),
        run_config: virtual_mcp_server::config(name),
        // The rules are in the configuration.
        inline_authz: String::new(),
        account: virtual_mcp_server::service_account(name),
    }
}

/// The variables by which a pod knows whose it is, and what it binds sessions with.
fn own_variables(snapshot: &Snapshot<VirtualMCPServerSpec>) -> Vec<(String, EnvValue)> {
    let secret = EnvValue::Secret {
        name: virtual_mcp_server::hmac_secret(snapshot.name()),
        key: keys::HMAC_SECRET.to_owned(),
    };
    [
        (env::VMCP_NAME, EnvValue::literal(snapshot.name())),
        (env::VMCP_NAMESPACE, EnvValue::literal(snapshot.namespace())),
        (env::VMCP_POD_IP, EnvValue::Field("status.podIP")),
        (env::VMCP_SESSION_HMAC_SECRET, secret),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The Secret that sessions are bound with. It is made once, and nobody ever changes it.
fn hmac_secret(proxy: &Proxy<'_>) -> Child {
    let labels: BTreeMap<String, String> = [
        (labels::APP_NAME, Workload::VirtualMcpServer.as_str()),
        (labels::APP_INSTANCE, proxy.owner.name),
        (labels::APP_COMPONENT, labels::SESSION_SECURITY),
        (labels::APP_MANAGED_BY, labels::OPERATOR),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .collect();
    let body = json!({
        "metadata": {
            "labels": labels,
            "annotations": { annotations::PURPOSE: annotations::PURPOSE_SESSION_HMAC },
            "ownerReferences": proxy.owner.references(),
        },
        "type": "Opaque",
    });
    let random = Random { key: keys::HMAC_SECRET.to_owned(), bytes: HMAC_BYTES };
    let name = virtual_mcp_server::hmac_secret(proxy.owner.name);
    Child::random_secret(&name, body, random).identified_by(labels)
}

fn config_volume(config_map: &str) -> VolumeWiring {
    VolumeWiring {
        name: volumes::VMCP_CONFIG.to_owned(),
        source: VolumeSource::ConfigMap { name: config_map.to_owned(), items: BTreeMap::new() },
        mount: Mount::read_only(CONFIG_PATH),
    }
}

/// The ConfigMap with the configuration. It has labels of its own, and is known by them.
pub(super) fn config_map(proxy: &Proxy<'_>, data: &BTreeMap<String, String>, checksum: &str) -> Child {
    let labels = labels::configuration(proxy.workload, proxy.owner.name);
    let body = json!({
        "metadata": { "labels": labels, "annotations": { annotations::CONTENT_CHECKSUM: checksum } },
        "data": data,
    });
    proxy.child(ChildKind::ConfigMap, &proxy.names.run_config, body).identified_by(labels)
}
