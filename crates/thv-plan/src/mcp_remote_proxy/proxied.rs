//! `MCPRemoteProxy` as a kind with a proxy.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_remote_proxy::Ready;
use thv_api::kinds::{MCPRemoteProxyPhase, MCPRemoteProxySpec, MCPRemoteProxyStatus};
use thv_api::names::children::mcp_remote_proxy;
use thv_api::names::labels::Workload;
use thv_api::shared::HttpTransport;
use thv_config::{ProxyMode, Transport};

use super::{checks, conditions};
use crate::deployed::health::{PROXIES, newest};
use crate::deployed::{Deployed, LiveWorkload, Observed, replicas};
use crate::health::{Health, Phase};
use crate::invalid::InvalidList;
use crate::overrides::IgnoredOverrides;
use crate::plan::Scaling;
use crate::proxied::{ConfigHashes, Findings, Own, Proxied, ProxySpec, Resolved, Route, Told};
use crate::proxy::{Names, Proxy, rbac};
use crate::pull_secrets::PullSecrets;
use crate::revision::Revision;
use crate::run_config::Target;
use crate::snapshot::Snapshot;

/// Places in the configuration, and the fields of the spec that they come from.
const FIELDS: &[(&str, &str)] = &[
    ("remote_url", checks::REMOTE_URL),
    ("tools_", "spec.toolConfigRef: tools_"),
    ("scaling_config.session_redis.key_prefix", "spec.sessionStorage.keyPrefix"),
    ("token_exchange_config", "spec.externalAuthConfigRef"),
    ("aws_sts_config", "spec.externalAuthConfigRef"),
    ("embedded_auth_server_config", "spec.authServerRef"),
];

impl Phase for MCPRemoteProxyPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

impl Deployed for MCPRemoteProxySpec {
    fn workload(live: &LiveWorkload) -> &LiveWorkload {
        live
    }

    fn replicas(&self) -> Option<i32> {
        self.replicas
    }

    fn observed(status: &MCPRemoteProxyStatus) -> Observed {
        let is_ready = status.phase == Some(MCPRemoteProxyPhase::Ready);
        Observed { generation: status.observed_generation, is_ready }
    }
}

impl Proxied for MCPRemoteProxySpec {
    type Phase = MCPRemoteProxyPhase;

    const WORKLOAD: Workload = Workload::McpRemoteProxy;
    const IS_REMOTE: bool = true;

    fn names(name: &str) -> Names {
        Names {
            deployment: mcp_remote_proxy::deployment(name),
            service: mcp_remote_proxy::service(name),
            run_config: mcp_remote_proxy::run_config(name),
            inline_authz: mcp_remote_proxy::inline_authz(name),
            account: mcp_remote_proxy::proxy_runner(name),
        }
    }

    /// Every field of the spec is here, so that a new one cannot be forgotten.
    fn proxy_spec(&self) -> ProxySpec<'_> {
        let Self {
            proxy_port,
            resources,
            pod_template_spec,
            resource_overrides,
            session_affinity,
            session_storage,
            audit,
            trust_proxy_headers,
            endpoint_prefix,
            group_ref,
            oidc_config_ref,
            authz_config,
            authz_config_ref,
            tool_config_ref,
            telemetry_config_ref,
            external_auth_config_ref,
            auth_server_ref,
            header_forward,
            // The pods fail to start without it, and say so better than we could.
            service_account: _,
            // The route.
            remote_url: _,
            allow_private_endpoint: _,
            transport: _,
            // The Deployment, not its pods.
            replicas: _,
        } = self;
        ProxySpec {
            proxy_port: *proxy_port,
            resources: resources.as_ref(),
            pod_template_spec: pod_template_spec.as_ref(),
            resource_overrides: resource_overrides.as_ref(),
            session_affinity: *session_affinity,
            session_storage: session_storage.as_ref(),
            audit: audit.as_ref(),
            trust_proxy_headers: *trust_proxy_headers,
            endpoint_prefix: endpoint_prefix.as_deref(),
            group_ref: group_ref.as_ref(),
            oidc_config_ref: oidc_config_ref.as_ref(),
            authz_config: authz_config.as_ref(),
            authz_config_ref: authz_config_ref.as_ref(),
            tool_config_ref: tool_config_ref.as_ref(),
            telemetry_config_ref: telemetry_config_ref.as_ref(),
            external_auth_config_ref: external_auth_config_ref.as_ref(),
            auth_server_ref: auth_server_ref.as_ref(),
            webhook_config_ref: None,
            permission_profile: None,
            secrets: None,
            header_forward: header_forward.as_ref(),
        }
    }

    fn invalid(&self, name: &str) -> InvalidList {
        checks::validate(name, self)
    }

    fn route<'a>(&'a self, _: &Resolved) -> Route<'a> {
        let (transport, proxy_mode) = match self.transport {
            HttpTransport::Sse => (Transport::Sse, ProxyMode::Sse),
            HttpTransport::StreamableHttp => (Transport::StreamableHttp, ProxyMode::StreamableHttp),
        };
        let target = Target::Remote(&self.remote_url);
        Route { target, transport, proxy_mode, rate_limits: None, fields: FIELDS }
    }

    /// The proxy asks nothing of the API server, so it has no rights. The user's pod template is for the proxy.
    fn own<'a>(
        snapshot: &'a Snapshot<Self>,
        proxy: &Proxy<'_>,
        pull_secrets: &PullSecrets,
        _: &mut IgnoredOverrides,
    ) -> Own<'a> {
        let spec = &snapshot.owner.spec;
        let account = &proxy.names.account;
        let children = match spec.service_account {
            Some(_) => Vec::new(),
            None => vec![rbac::account(proxy, account, pull_secrets.for_accounts())],
        };
        Own {
            service_account: spec.service_account.as_ref().unwrap_or(account).clone(),
            // The configuration says what is behind the proxy; the command line wants a word in its place.
            args: ["run", "remote"].map(str::to_owned).to_vec(),
            volumes: Vec::new(),
            pod_template: spec.pod_template_spec.as_ref(),
            children,
        }
    }

    fn scalings(snapshot: &Snapshot<Self>) -> Vec<Scaling> {
        let name = mcp_remote_proxy::deployment(snapshot.name());
        replicas::hand_off(snapshot, name).into_iter().collect()
    }

    fn has_overrides(&self) -> bool {
        self.resource_overrides.is_some() || self.pod_template_spec.is_some()
    }

    fn health(snapshot: &Snapshot<Self>, revision: &Revision) -> Health<MCPRemoteProxyPhase> {
        if replicas::expected(snapshot) == Some(0) {
            return Health::new(MCPRemoteProxyPhase::Pending, "scaled to zero: no proxy runs");
        }
        match newest(snapshot, revision, PROXIES) {
            Ok(note) => Health::new(MCPRemoteProxyPhase::Ready, format!("the proxy runs{note}")),
            Err(health) => health,
        }
    }

    /// Without a path: the remote server has its own.
    fn url(snapshot: &Snapshot<Self>) -> String {
        super::url(snapshot.namespace(), snapshot.name(), &snapshot.owner.spec)
    }

    fn own_conditions(findings: &Findings<'_, Self>, observe: &Observation<'_>) -> Vec<Condition> {
        conditions::own(findings, observe)
    }

    fn ready(health: &Health<MCPRemoteProxyPhase>, is_applied: bool, observe: &Observation<'_>) -> Condition {
        let reason = match (health.phase, is_applied) {
            (MCPRemoteProxyPhase::Ready, _) => Ready::DeploymentReady,
            (_, true) => Ready::DeploymentNotReady,
            (_, false) => Ready::NotReady,
        };
        observe.condition(reason, &health.message)
    }

    fn told(status: &MCPRemoteProxyStatus) -> Told {
        let hashes = ConfigHashes {
            tool_config: status.tool_config_hash.clone(),
            external_auth_config: status.external_auth_config_hash.clone(),
            auth_server_config: status.auth_server_config_hash.clone(),
            authz_config: status.authz_config_hash.clone(),
            oidc_config: status.oidc_config_hash.clone(),
            telemetry_config: status.telemetry_config_hash.clone(),
            webhook_config: None,
        };
        Told { url: status.url.clone(), hashes }
    }

    fn status(
        snapshot: &Snapshot<Self>,
        Health { phase, message }: Health<MCPRemoteProxyPhase>,
        Told { url, hashes }: Told,
        conditions: Vec<Condition>,
    ) -> MCPRemoteProxyStatus {
        let ConfigHashes {
            tool_config,
            external_auth_config,
            auth_server_config,
            authz_config,
            oidc_config,
            telemetry_config,
            // There are no webhooks here.
            webhook_config: _,
        } = hashes;
        MCPRemoteProxyStatus {
            conditions: Some(conditions),
            phase: Some(phase),
            message: Some(message),
            url,
            // Whoever makes a proxy reachable from outside knows how.
            external_url: None,
            observed_generation: Some(snapshot.generation()),
            tool_config_hash: tool_config,
            telemetry_config_hash: telemetry_config,
            external_auth_config_hash: external_auth_config,
            auth_server_config_hash: auth_server_config,
            authz_config_hash: authz_config,
            oidc_config_hash: oidc_config,
        }
    }
}
