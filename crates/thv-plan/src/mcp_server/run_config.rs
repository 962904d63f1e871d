//! The configuration of a server's proxy: what its spec says, and what it refers to.

use thv_api::kinds::{MCPServerSpec, Transport};
use thv_api::shared::HttpTransport;
use thv_config::{ProxyMode, RunConfig};

use super::backend::backend;
use super::checks;
use super::resolved::Resolved;
use crate::invalid::InvalidList;
use crate::run_config::{self, Input, Wiring};
use crate::snapshot::Snapshot;

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

/// The configuration of a server's proxy. `stamp` is the generation that it is rendered for.
///
/// There is none if anything that the server refers to cannot be used: a proxy must not run without what its user
/// asked for.
pub fn run_config(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    stamp: i64,
) -> Result<RunConfig, InvalidList> {
    resolved.invalid().finish()?;
    let mut invalid = checks::volumes(&snapshot.owner.spec);
    let both = resolved.authz_config.usable().is_some() && resolved.authz_config_ref.usable().is_some();
    invalid.unless(!both, "spec.authzConfig", "and spec.authzConfigRef are both set: remove one of them");
    invalid.finish()?;
    run_config::build(input(snapshot, resolved, stamp), &resolved.referenced())
}

/// What the pod of a server's proxy needs because of what the server refers to.
pub fn wiring(resolved: &Resolved) -> Wiring {
    run_config::wiring(&resolved.referenced())
}

/// What the spec says. Every field is here, so that a new one cannot be forgotten.
fn input<'a>(snapshot: &'a Snapshot<MCPServerSpec>, resolved: &Resolved, stamp: i64) -> Input<'a> {
    let spec = &snapshot.owner.spec;
    let MCPServerSpec {
        transport,
        proxy_mode,
        proxy_port,
        audit,
        trust_proxy_headers,
        endpoint_prefix,
        rate_limiting,
        // The backend.
        image: _,
        mcp_port: _,
        args: _,
        env: _,
        volumes: _,
        backend_replicas: _,
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
    } = spec;
    Input {
        name: snapshot.name(),
        namespace: snapshot.namespace(),
        generation: stamp,
        host: &snapshot.settings.proxy_host,
        port: *proxy_port,
        transport: match transport {
            Transport::Stdio => thv_config::Transport::Stdio,
            Transport::Sse => thv_config::Transport::Sse,
            Transport::StreamableHttp => thv_config::Transport::StreamableHttp,
        },
        proxy_mode: match proxy_mode {
            HttpTransport::Sse => ProxyMode::Sse,
            HttpTransport::StreamableHttp => ProxyMode::StreamableHttp,
        },
        audit: audit.as_ref().is_some_and(|audit| audit.enabled),
        trust_proxy_headers: *trust_proxy_headers,
        endpoint_prefix: endpoint_prefix.as_deref(),
        rate_limits: rate_limiting.as_ref(),
        backend: backend(spec, resolved.permission_profile.usable()),
        fields: FIELDS,
    }
}
