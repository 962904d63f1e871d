//! The configuration of a proxy, and what the proxy's pod needs because of it. Nothing here knows which kind of object
//! the proxy belongs to.

mod auth_server;
mod incoming;
mod input;
mod outgoing;
mod paths;
mod telemetry;
mod upstream;
mod webhooks;
mod wiring;

use std::collections::BTreeMap;

use thv_api::names::labels;
use thv_api::value::Port;
use thv_config::rate_limit::{RateLimitBucket, RateLimitConfig, ToolRateLimit};
use thv_config::scaling::{ScalingConfig, SessionRedis};
use thv_config::tool::ToolOverride;
use thv_config::{GoDuration, Json, RunConfig, Transport};

pub(crate) use self::auth_server::config as auth_server_config;
pub(crate) use self::incoming::oidc as oidc_config;
pub(crate) use self::input::{Backend, Input, Referenced, Target};
pub(crate) use self::outgoing::token_type;
pub(crate) use self::paths::{entry_ca as entry_ca_file, profile as profile_file};
pub(crate) use self::telemetry::telemetry as telemetry_config;
pub(crate) use self::wiring::wiring;
pub use self::wiring::{VolumeWiring, Wiring};

use crate::invalid::{Invalid, InvalidList};

/// The configuration of a proxy, unless it would not be valid.
pub(crate) fn build(input: Input<'_>, referenced: &Referenced<'_>) -> Result<RunConfig, InvalidList> {
    let fields = input.fields;
    let config = assemble(input, referenced)?;
    config.validate().map_err(|invalid| {
        let problems = invalid.0.iter();
        problems
            .map(|problem| {
                let message = format!("{}: {}", problem.kind, problem.kind.remedy());
                Invalid::new(field(fields, &problem.path), message)
            })
            .collect::<InvalidList>()
    })?;
    Ok(config)
}

/// Puts the configuration together. Every input is here, so that a new one cannot be forgotten.
fn assemble(input: Input<'_>, referenced: &Referenced<'_>) -> Result<RunConfig, InvalidList> {
    let Input {
        name,
        namespace,
        generation,
        host,
        port,
        transport,
        proxy_mode,
        audit,
        trust_proxy_headers,
        endpoint_prefix,
        rate_limits,
        target,
        fields: _,
    } = input;
    let (remote_url, backend) = match target {
        Target::Backend(backend) => ("", *backend),
        Target::Remote(url) => (url, Backend::none(transport)),
    };
    let Backend { image, args, port: target_port, env, volumes, profile, profile_name, replicas } = backend;
    let oidc = referenced.oidc.map(|oidc| incoming::oidc(oidc, referenced));
    let rate_limit_config = rate_limits.map(rate_limit_config);
    let (tools_filter, tools_override) = tools(referenced);
    let (validating_webhooks, mutating_webhooks) = webhooks::lists(referenced);
    let mut config = RunConfig {
        schema_version: RunConfig::SCHEMA_VERSION.to_owned(),
        mcpserver_generation: generation,
        image: image.to_owned(),
        remote_url: remote_url.to_owned().into(),
        remote_auth_config: outgoing::bearer_token(referenced),
        cmd_args: args.to_vec().into(),
        name: name.to_owned(),
        container_name: name.to_owned(),
        base_name: name.to_owned(),
        transport,
        host: host.to_owned(),
        port: port.get(),
        target_port,
        permission_profile_name_or_path: profile_name,
        permission_profile: Some(profile),
        env_vars: env.into(),
        volumes,
        container_labels: container_labels(name, transport, port),
        thv_ca_bundle: oidc.as_ref().map(|oidc| oidc.ca_cert_path.clone()).unwrap_or_default(),
        jwks_auth_token_file: oidc.as_ref().map(|oidc| oidc.auth_token_file.clone()).unwrap_or_default(),
        oidc_config: oidc,
        token_exchange_config: outgoing::token_exchange(referenced),
        aws_sts_config: outgoing::aws_sts(referenced),
        authz_config: authz(referenced)?,
        audit_config: audit.then(thv_config::audit::AuditConfig::standard),
        telemetry_config: referenced.telemetry.map(telemetry::telemetry),
        rate_limit_namespace: rate_limits.map(|_| namespace.to_owned()).unwrap_or_default(),
        rate_limit_config,
        trust_proxy_headers,
        proxy_mode: Some(transport.implied_mode().unwrap_or(proxy_mode)),
        tools_filter,
        tools_override,
        validating_webhooks,
        mutating_webhooks,
        endpoint_prefix: endpoint_prefix.unwrap_or_default().to_owned(),
        header_forward: referenced.headers.map(outgoing::headers),
        embedded_auth_server_config: auth_server::config(namespace, name, referenced),
        scaling_config: scaling(replicas, referenced),
        ..RunConfig::default()
    };
    config.middleware_configs =
        config.computed_chain().map_err(|error| Invalid::new(error.path, error.problem))?;
    Ok(config)
}

/// The labels of what the proxy makes.
fn container_labels(name: &str, transport: Transport, port: Port) -> BTreeMap<String, String> {
    let pairs = [
        (labels::TOOLHIVE, "true".to_owned()),
        (labels::TOOLHIVE_NAME, name.to_owned()),
        ("toolhive-basename", name.to_owned()),
        ("toolhive-transport", transport.to_string()),
        ("toolhive-port", port.to_string()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Who may do what.
fn authz(referenced: &Referenced<'_>) -> Result<Option<Json>, InvalidList> {
    let json = referenced.authz.map(Json::of).transpose();
    json.map_err(|_| Invalid::new("spec.authzConfig", "cannot be written as JSON").into())
}

/// Which tools are offered. The order of the filter has no meaning.
fn tools(referenced: &Referenced<'_>) -> (Vec<String>, BTreeMap<String, ToolOverride>) {
    let Some(config) = referenced.tools else { return Default::default() };
    let mut filter = config.tools_filter.clone().unwrap_or_default();
    filter.sort();
    filter.dedup();
    let faces = config.tools_override.iter().flatten().map(|(tool, change)| {
        // A note in the condition tells that annotations have no effect here.
        let thv_api::shared::ToolOverride { name, description, annotations: _ } = change.clone();
        let (name, description) = (name.unwrap_or_default(), description.unwrap_or_default());
        (tool.clone(), ToolOverride { name, description })
    });
    (filter, faces.filter(|(_, face)| *face != ToolOverride::default()).collect())
}

/// Limits on calls, those on tools by name: their order in the spec has no meaning.
fn rate_limit_config(limits: &thv_api::shared::RateLimiting) -> RateLimitConfig {
    let thv_api::shared::RateLimiting { shared, per_user, tools } = limits;
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
    RateLimitConfig { shared: shared.as_ref().map(bucket), per_user: per_user.as_ref().map(bucket), tools }
}

fn bucket(bucket: &thv_api::shared::RateLimitBucket) -> RateLimitBucket {
    let thv_api::shared::RateLimitBucket { max_tokens, refill_period } = bucket;
    RateLimitBucket { max_tokens: *max_tokens, refill_period: printed(refill_period) }
}

fn scaling(backend_replicas: Option<i32>, referenced: &Referenced<'_>) -> Option<ScalingConfig> {
    let session_redis = referenced.session_redis.map(|redis| SessionRedis {
        address: redis.address.clone(),
        db: redis.db,
        key_prefix: redis.key_prefix.clone(),
    });
    let scaling = ScalingConfig { backend_replicas, session_redis };
    (scaling != ScalingConfig::default()).then_some(scaling)
}

/// A duration as Go prints it.
fn printed(duration: &GoDuration) -> GoDuration {
    GoDuration::from_nanos(duration.as_nanos())
}

/// The field of the spec that a place in the configuration comes from.
fn field(fields: &[(&str, &str)], path: &str) -> String {
    let known =
        fields.iter().find_map(|(prefix, field)| Some(format!("{field}{}", path.strip_prefix(prefix)?)));
    known.unwrap_or_else(|| path.to_owned())
}
