//! The configuration of a proxy: what the spec says, and what it refers to.

use thv_api::shared::RateLimiting;
use thv_config::{ProxyMode, RunConfig, Transport};

use super::{Proxied, ProxySpec, Resolved};
use crate::invalid::InvalidList;
use crate::run_config::{self, Input, Target, Wiring};
use crate::snapshot::Snapshot;

/// Between whom the proxies of an object stand.
#[derive(Clone, Debug)]
pub(crate) struct Route<'a> {
    /// What is behind them.
    pub(crate) target: Target<'a>,
    /// What that speaks.
    pub(crate) transport: Transport,
    /// What clients speak, where the transport does not say it.
    pub(crate) proxy_mode: ProxyMode,
    /// Limits on calls.
    pub(crate) rate_limits: Option<&'a RateLimiting>,
    /// Places in the configuration, and the fields of the spec that they come from.
    pub(crate) fields: &'static [(&'static str, &'static str)],
}

/// The configuration of an object's proxies. `stamp` is the generation that it is rendered for.
///
/// There is none if anything that the object refers to cannot be used: a proxy must not run without what its user asked
/// for.
pub(crate) fn run_config<S: Proxied>(
    snapshot: &Snapshot<S>,
    resolved: &Resolved,
    stamp: i64,
) -> Result<RunConfig, InvalidList> {
    resolved.invalid().finish()?;
    let mut invalid = snapshot.owner.spec.unwritable();
    let both = resolved.authz_config.usable().is_some() && resolved.authz_config_ref.usable().is_some();
    invalid.unless(!both, "spec.authzConfig", "and spec.authzConfigRef are both set: remove one of them");
    invalid.finish()?;
    run_config::build(input(snapshot, resolved, stamp), &resolved.referenced())
}

/// What the pods of an object's proxies need because of what the object refers to.
pub(crate) fn wiring(resolved: &Resolved) -> Wiring {
    run_config::wiring(&resolved.referenced())
}

/// What the spec says. Every field is here, so that a new one cannot be forgotten.
fn input<'a, S: Proxied>(snapshot: &'a Snapshot<S>, resolved: &Resolved, stamp: i64) -> Input<'a> {
    let ProxySpec {
        proxy_port,
        audit,
        trust_proxy_headers,
        endpoint_prefix,
        // The pods and other children have these; the configuration does not.
        resources: _,
        pod_template_spec: _,
        resource_overrides: _,
        session_affinity: _,
        secrets: _,
        // What these refer to has been resolved.
        session_storage: _,
        oidc_config_ref: _,
        authz_config: _,
        authz_config_ref: _,
        tool_config_ref: _,
        telemetry_config_ref: _,
        external_auth_config_ref: _,
        auth_server_ref: _,
        webhook_config_ref: _,
        permission_profile: _,
        header_forward: _,
        // Only those who look at all servers at once heed it.
        group_ref: _,
    } = snapshot.owner.spec.proxy_spec();
    let Route { target, transport, proxy_mode, rate_limits, fields } = snapshot.owner.spec.route(resolved);
    Input {
        name: snapshot.name(),
        namespace: snapshot.namespace(),
        generation: stamp,
        host: &snapshot.settings.proxy_host,
        port: proxy_port,
        transport,
        proxy_mode,
        audit: audit.is_some_and(|audit| audit.enabled),
        trust_proxy_headers,
        endpoint_prefix,
        rate_limits,
        target,
        fields,
    }
}
