//! `MCPServer` as a kind with a proxy.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind as _;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServerPhase, MCPServerSpec, MCPServerStatus, Transport};
use thv_api::names::children::mcp_server;
use thv_api::names::labels::Workload;
use thv_api::shared::HttpTransport;
use thv_config::ProxyMode;

use super::{backend, checks, conditions, own, phase, replicas};
use crate::deployed::{Deployed, LiveWorkload, Observed};
use crate::health::{Health, ready_pods};
use crate::invalid::InvalidList;
use crate::overrides::IgnoredOverrides;
use crate::plan::{Scalable, Scaling};
use crate::proxied::{ConfigHashes, Findings, Own, Proxied, ProxySpec, Resolved, Route, Told};
use crate::proxy::{Names, Proxy};
use crate::pull_secrets::PullSecrets;
use crate::revision::Revision;
use crate::run_config::Target;
use crate::snapshot::Snapshot;
use crate::verdict::taken;

/// Places in the configuration, and the fields of the spec that they come from.
const FIELDS: &[(&str, &str)] = &[
    ("image", "spec.image"),
    ("env_vars.", "spec.env."),
    ("volumes", "spec.volumes"),
    ("tools_", "spec.toolConfigRef: tools_"),
    ("rate_limit_config", "spec.rateLimiting"),
    ("scaling_config.session_redis.key_prefix", "spec.sessionStorage.keyPrefix"),
    ("token_exchange_config", "spec.externalAuthConfigRef"),
    ("embedded_auth_server_config", "spec.authServerRef"),
];

impl Deployed for MCPServerSpec {
    fn workload(live: &Self::Live) -> &LiveWorkload {
        &live.proxy
    }

    fn replicas(&self) -> Option<i32> {
        self.replicas
    }

    /// Standard input and output belong to one process, so a `stdio` server has one proxy at most.
    fn most_replicas(&self) -> Option<i32> {
        match self.transport {
            Transport::Stdio => Some(1),
            Transport::StreamableHttp | Transport::Sse => None,
        }
    }

    fn further_revision(snapshot: &Snapshot<Self>) -> Option<u64> {
        let applied = snapshot.live.backend.as_ref()?.applied.as_ref();
        applied.filter(|token| token.uid == snapshot.uid()).map(|token| token.number)
    }

    /// The proxies would wait for the StatefulSet in vain. One of an earlier server of this name goes by itself.
    fn further_taken(snapshot: &Snapshot<Self>) -> Option<String> {
        let controller = snapshot.live.backend.as_ref()?.controller.as_ref()?;
        let is_leftover = controller.kind == Self::KIND && controller.name == snapshot.name();
        let name = mcp_server::backend(snapshot.name());
        taken(snapshot, Scalable::StatefulSet, &name, Some(controller).filter(|_| !is_leftover))
    }

    fn observed(status: &MCPServerStatus) -> Observed {
        let is_ready = status.phase == Some(MCPServerPhase::Ready);
        Observed { generation: status.observed_generation, is_ready }
    }
}

impl Proxied for MCPServerSpec {
    type Phase = MCPServerPhase;

    const WORKLOAD: Workload = Workload::McpServer;
    const IS_REMOTE: bool = false;

    fn names(name: &str) -> Names {
        Names {
            deployment: mcp_server::deployment(name),
            service: mcp_server::proxy_service(name),
            run_config: mcp_server::run_config(name),
            inline_authz: mcp_server::inline_authz(name),
            account: mcp_server::proxy_runner(name),
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
            webhook_config_ref,
            permission_profile,
            secrets,
            // The account of the backend. Its pods fail to start without it, and say so better than we could.
            service_account: _,
            // The route.
            transport: _,
            proxy_mode: _,
            rate_limiting: _,
            // The backend; the volumes, and the image as an argument, are the proxy's as well.
            image: _,
            mcp_port: _,
            args: _,
            env: _,
            volumes: _,
            backend_replicas: _,
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
            webhook_config_ref: webhook_config_ref.as_ref(),
            permission_profile: permission_profile.as_ref(),
            secrets: secrets.as_deref(),
            header_forward: None,
        }
    }

    fn invalid(&self, name: &str) -> InvalidList {
        checks::validate(name, self)
    }

    fn unwritable(&self) -> InvalidList {
        checks::volumes(self)
    }

    fn route<'a>(&'a self, resolved: &Resolved) -> Route<'a> {
        Route {
            target: Target::Backend(Box::new(backend::backend(self, resolved.permission_profile.usable()))),
            transport: match self.transport {
                Transport::Stdio => thv_config::Transport::Stdio,
                Transport::Sse => thv_config::Transport::Sse,
                Transport::StreamableHttp => thv_config::Transport::StreamableHttp,
            },
            proxy_mode: match self.proxy_mode {
                HttpTransport::Sse => ProxyMode::Sse,
                HttpTransport::StreamableHttp => ProxyMode::StreamableHttp,
            },
            rate_limits: self.rate_limiting.as_ref(),
            fields: FIELDS,
        }
    }

    fn own<'a>(
        snapshot: &'a Snapshot<Self>,
        proxy: &Proxy<'_>,
        pull_secrets: &PullSecrets,
        ignored: &mut IgnoredOverrides,
    ) -> Own<'a> {
        own::own(snapshot, proxy, pull_secrets, ignored)
    }

    fn scalings(snapshot: &Snapshot<Self>) -> Vec<Scaling> {
        replicas::scalings(snapshot)
    }

    fn has_overrides(&self) -> bool {
        self.resource_overrides.is_some() || self.volumes.as_ref().is_some_and(|volumes| !volumes.is_empty())
    }

    fn health(snapshot: &Snapshot<Self>, revision: &Revision) -> Health<MCPServerPhase> {
        phase::health(snapshot, revision)
    }

    fn url(snapshot: &Snapshot<Self>) -> String {
        phase::url(snapshot.namespace(), snapshot.name(), &snapshot.owner.spec)
    }

    fn own_conditions(findings: &Findings<'_, Self>, observe: &Observation<'_>) -> Vec<Condition> {
        conditions::own(findings, observe)
    }

    fn ready(health: &Health<MCPServerPhase>, _: bool, observe: &Observation<'_>) -> Condition {
        let ready = if health.phase == MCPServerPhase::Ready { Ready::Ready } else { Ready::NotReady };
        observe.condition(ready, &health.message)
    }

    fn told(status: &MCPServerStatus) -> Told {
        let hashes = ConfigHashes {
            tool_config: status.tool_config_hash.clone(),
            external_auth_config: status.external_auth_config_hash.clone(),
            auth_server_config: status.auth_server_config_hash.clone(),
            authz_config: status.authz_config_hash.clone(),
            oidc_config: status.oidc_config_hash.clone(),
            telemetry_config: status.telemetry_config_hash.clone(),
            webhook_config: status.webhook_config_hash.clone(),
        };
        Told { url: status.url.clone(), hashes }
    }

    fn status(
        snapshot: &Snapshot<Self>,
        Health { phase, message }: Health<MCPServerPhase>,
        Told { url, hashes }: Told,
        conditions: Vec<Condition>,
    ) -> MCPServerStatus {
        let ConfigHashes {
            tool_config,
            external_auth_config,
            auth_server_config,
            authz_config,
            oidc_config,
            telemetry_config,
            webhook_config,
        } = hashes;
        MCPServerStatus {
            conditions: Some(conditions),
            phase: Some(phase),
            message: Some(message),
            url,
            ready_replicas: Some(ready_pods(&snapshot.live.proxy.pods)),
            observed_generation: Some(snapshot.generation()),
            tool_config_hash: tool_config,
            external_auth_config_hash: external_auth_config,
            auth_server_config_hash: auth_server_config,
            authz_config_hash: authz_config,
            oidc_config_hash: oidc_config,
            telemetry_config_hash: telemetry_config,
            webhook_config_hash: webhook_config,
        }
    }
}
