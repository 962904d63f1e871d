//! The configuration of the proxy of an `MCPServer`, and what the proxy's pod needs because of it.

mod auth_server;
mod backend;
mod incoming;
mod outgoing;
mod paths;
mod telemetry;
mod upstream;
mod webhooks;
mod wiring;

use std::collections::BTreeMap;
use std::fmt;

use thv_api::kinds::MCPServerSpec;
use thv_config::rate_limit::{RateLimitBucket, RateLimitConfig, ToolRateLimit};
use thv_config::scaling::{ScalingConfig, SessionRedis};
use thv_config::tool::ToolOverride;
use thv_config::{GoDuration, Json, RunConfig};

pub use self::backend::overruled_env;
pub use self::wiring::{VolumeWiring, Wiring, wiring};

use crate::resolve::{Obstacle, Resolved};
use crate::snapshot::Snapshot;

/// Why there is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, such as `spec.env`.
    pub path: String,
    /// What is wrong with it, and what to do. No secret material.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

impl Problem {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// The configuration of a server's proxy. `stamp` is the generation that it is rendered for.
///
/// There is none if anything that the server refers to cannot be used: a proxy must not run without what its user
/// asked for.
pub fn build(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    stamp: i64,
) -> Result<RunConfig, Vec<Problem>> {
    let obstacles = resolved.obstacles();
    if !obstacles.is_empty() {
        let problems = obstacles.into_iter();
        return Err(problems.map(|Obstacle { path, message, .. }| Problem::new(path, message)).collect());
    }
    let config = assemble(snapshot, resolved, stamp)?;
    config.validate().map_err(|invalid| {
        let problems = invalid.0.iter();
        problems
            .map(|problem| {
                Problem::new(field(&problem.path), format!("{}: {}", problem.kind, problem.kind.remedy()))
            })
            .collect::<Vec<_>>()
    })?;
    Ok(config)
}

/// Puts the configuration together. Every field of the spec is here, so that a new one cannot be forgotten.
fn assemble(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    stamp: i64,
) -> Result<RunConfig, Vec<Problem>> {
    let MCPServerSpec {
        image,
        transport,
        proxy_mode,
        proxy_port,
        mcp_port: _,
        args,
        env: _,
        volumes: _,
        // The pods of proxy and backend have these; the configuration does not.
        resources: _,
        secrets: _,
        service_account: _,
        pod_template_spec: _,
        resource_overrides: _,
        session_affinity: _,
        replicas: _,
        // What these refer to has been resolved.
        permission_profile: _,
        oidc_config_ref: _,
        authz_config: _,
        authz_config_ref: _,
        tool_config_ref: _,
        external_auth_config_ref: _,
        webhook_config_ref: _,
        auth_server_ref: _,
        telemetry_config_ref: _,
        session_storage: _,
        // Only those who look at all servers at once heed it.
        group_ref: _,
        audit,
        trust_proxy_headers,
        endpoint_prefix,
        backend_replicas: _,
        rate_limiting: _,
    } = &snapshot.owner.spec;
    let name = snapshot.name().to_owned();
    let backend = backend::backend(snapshot, resolved)?;
    let transport = backend::transport(*transport);
    let oidc = resolved.oidc.usable().map(|oidc| incoming::oidc(oidc, resolved));
    let auth_server = auth_server::config(snapshot, resolved);
    let rate_limits = rate_limits(&snapshot.owner.spec);
    let (tools_filter, tools_override) = tools(resolved);
    let (validating_webhooks, mutating_webhooks) = webhooks::lists(resolved);
    let mut config = RunConfig {
        schema_version: RunConfig::SCHEMA_VERSION.to_owned(),
        mcpserver_generation: stamp,
        image: image.clone(),
        remote_auth_config: outgoing::bearer_token(resolved),
        cmd_args: args.clone().unwrap_or_default().into(),
        container_name: name.clone(),
        base_name: name.clone(),
        name,
        transport,
        host: snapshot.settings.proxy_host.clone(),
        port: proxy_port.get(),
        target_port: backend.port,
        permission_profile_name_or_path: backend.profile_name,
        permission_profile: Some(backend.profile),
        env_vars: backend.env.into(),
        volumes: backend.volumes,
        container_labels: backend.labels,
        thv_ca_bundle: oidc.as_ref().map(|oidc| oidc.ca_cert_path.clone()).unwrap_or_default(),
        jwks_auth_token_file: oidc.as_ref().map(|oidc| oidc.auth_token_file.clone()).unwrap_or_default(),
        oidc_config: oidc,
        token_exchange_config: outgoing::token_exchange(resolved),
        authz_config: authz(resolved)?,
        audit_config: audit
            .as_ref()
            .filter(|audit| audit.enabled)
            .map(|_| thv_config::audit::AuditConfig::standard()),
        telemetry_config: resolved.telemetry.usable().map(telemetry::telemetry),
        rate_limit_namespace: rate_limits
            .as_ref()
            .map(|_| snapshot.namespace().to_owned())
            .unwrap_or_default(),
        rate_limit_config: rate_limits,
        trust_proxy_headers: *trust_proxy_headers,
        proxy_mode: Some(transport.implied_mode().unwrap_or_else(|| backend::mode(*proxy_mode))),
        tools_filter,
        tools_override,
        validating_webhooks,
        mutating_webhooks,
        endpoint_prefix: endpoint_prefix.clone().unwrap_or_default(),
        embedded_auth_server_config: auth_server,
        scaling_config: scaling(&snapshot.owner.spec, resolved),
        ..RunConfig::default()
    };
    config.middleware_configs =
        config.computed_chain().map_err(|error| vec![Problem::new(error.path, error.problem)])?;
    Ok(config)
}

/// Who may do what. The schema allows one of the two places only.
fn authz(resolved: &Resolved) -> Result<Option<Json>, Vec<Problem>> {
    let own = resolved.authz_config.usable().map(|authz| &authz.document);
    let shared = resolved.authz_config_ref.usable().map(|authz| &authz.document);
    if own.is_some() && shared.is_some() {
        return Err(vec![Problem::new(
            "spec.authzConfig",
            "and spec.authzConfigRef are both set: remove one of them",
        )]);
    }
    let Some(document) = own.or(shared) else { return Ok(None) };
    let json = Json::of(document)
        .map_err(|_| vec![Problem::new("spec.authzConfig", "cannot be written as JSON")])?;
    Ok(Some(json))
}

/// Which tools are offered. The order of the filter has no meaning.
fn tools(resolved: &Resolved) -> (Vec<String>, BTreeMap<String, ToolOverride>) {
    let Some(config) = resolved.tool_config.usable() else { return Default::default() };
    let mut filter = config.spec.tools_filter.clone().unwrap_or_default();
    filter.sort();
    filter.dedup();
    let faces = config.spec.tools_override.iter().flatten().map(|(tool, change)| {
        // A note in the condition tells that annotations have no effect here.
        let thv_api::shared::ToolOverride { name, description, annotations: _ } = change.clone();
        let (name, description) = (name.unwrap_or_default(), description.unwrap_or_default());
        (tool.clone(), ToolOverride { name, description })
    });
    (filter, faces.filter(|(_, face)| *face != ToolOverride::default()).collect())
}

/// Limits on calls, those on tools by name: their order in the spec has no meaning.
fn rate_limits(spec: &MCPServerSpec) -> Option<RateLimitConfig> {
    let thv_api::shared::RateLimiting { shared, per_user, tools } = spec.rate_limiting.as_ref()?;
    let mut tools: Vec<_> = tools
        .iter()
        .flatten()
        .map(|thv_api::shared::ToolRateLimit { name, shared, per_user }| ToolRateLimit {
            name: name.clone(),
            shared: shared.as_ref().map(bucket),
            per_user: per_user.as_ref().map(bucket),
        })
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    Some(RateLimitConfig {
        shared: shared.as_ref().map(bucket),
        per_user: per_user.as_ref().map(bucket),
        tools,
    })
}

fn bucket(bucket: &thv_api::shared::RateLimitBucket) -> RateLimitBucket {
    let thv_api::shared::RateLimitBucket { max_tokens, refill_period } = bucket;
    RateLimitBucket { max_tokens: *max_tokens, refill_period: printed(refill_period) }
}

fn scaling(spec: &MCPServerSpec, resolved: &Resolved) -> Option<ScalingConfig> {
    let session_redis = resolved.session_redis.usable().map(|redis| SessionRedis {
        address: redis.address.clone(),
        db: redis.db,
        key_prefix: redis.key_prefix.clone(),
    });
    let scaling = ScalingConfig { backend_replicas: spec.backend_replicas, session_redis };
    (scaling != ScalingConfig::default()).then_some(scaling)
}

/// A duration as Go prints it.
fn printed(duration: &GoDuration) -> GoDuration {
    GoDuration::from_nanos(duration.as_nanos())
}

/// The field of the spec that a place in the configuration comes from.
fn field(path: &str) -> String {
    let fields = [
        ("image", "spec.image"),
        ("env_vars.", "spec.env."),
        ("volumes", "spec.volumes"),
        ("tools_", "spec.toolConfigRef: tools_"),
        ("rate_limit_config", "spec.rateLimiting"),
        ("scaling_config.session_redis.key_prefix", "spec.sessionStorage.keyPrefix"),
        ("token_exchange_config", "spec.externalAuthConfigRef"),
        ("embedded_auth_server_config", "spec.authServerRef"),
    ];
    let known =
        fields.into_iter().find_map(|(prefix, field)| Some(format!("{field}{}", path.strip_prefix(prefix)?)));
    known.unwrap_or_else(|| path.to_owned())
}
