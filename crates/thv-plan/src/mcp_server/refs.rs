//! Everything that has to be read for a server, hence watched.

use std::collections::BTreeSet;

use thv_api::kinds::{
    MCPExternalAuthConfigSpec, MCPGroupSpec, MCPServer, MCPServerSpec, VirtualMCPServerSpec,
};
use thv_api::shared::{ExternalAuthConfigRef, GroupRef};

use crate::reference::{Reference, References};
use crate::resolve::{
    Need, auth_server, authz, external_auth, group, oidc, permission_profile, secrets, session_redis,
    telemetry, tools, webhooks,
};
use crate::settings::Settings;

/// Everything that a server refers to, directly or through what is known already. Called again with what was found
/// until nothing new comes. Every field is here, so that a new one cannot be forgotten.
pub fn refs(server: &MCPServer, known: &References) -> BTreeSet<Reference> {
    let MCPServerSpec {
        image: _,
        transport: _,
        proxy_mode: _,
        proxy_port: _,
        mcp_port: _,
        args: _,
        env: _,
        volumes: _,
        resources: _,
        secrets,
        // The pod fails to start without it, and says so better than we could.
        service_account: _,
        permission_profile,
        pod_template_spec: _,
        // It names pull secrets, which may be missing where images need none.
        resource_overrides: _,
        oidc_config_ref,
        authz_config,
        authz_config_ref,
        audit: _,
        tool_config_ref,
        external_auth_config_ref,
        webhook_config_ref,
        auth_server_ref,
        telemetry_config_ref,
        trust_proxy_headers: _,
        endpoint_prefix: _,
        group_ref,
        session_affinity: _,
        replicas: _,
        backend_replicas: _,
        session_storage,
        rate_limiting: _,
    } = &server.spec;
    let objects = [
        oidc_config_ref.as_ref().map(|it| oidc::references(it, known)),
        authz_config_ref.as_ref().map(authz::shared_references),
        tool_config_ref.as_ref().map(tools::references),
        external_auth_config_ref.as_ref().map(|it| external_auth::references(&it.name, known)),
        webhook_config_ref.as_ref().map(|it| webhooks::references(it, known)),
        auth_server_ref.as_ref().map(|it| auth_server::references(it, known)),
        telemetry_config_ref.as_ref().map(|it| telemetry::references(it, known)),
        group_ref.as_ref().map(group::references),
        group_ref.as_ref().map(|group| gateways(group, external_auth_config_ref.as_ref(), known)),
    ];
    let needs = [
        secrets.as_deref().map(secrets::needs),
        permission_profile.as_ref().map(permission_profile::needs),
        authz_config.as_ref().map(authz::needs),
        session_storage.as_ref().map(session_redis::needs),
    ];
    let needs = needs.iter().flatten().flatten().map(Need::reference);
    // Nothing has an empty name, so there is nothing to read.
    let is_named = |reference: &Reference| !reference.name().is_empty();
    objects.into_iter().flatten().flatten().chain(needs).filter(is_named).collect()
}

/// The virtual servers that offer the group of a server, where that decides whether credentials have any effect.
fn gateways(group: &GroupRef, auth: Option<&ExternalAuthConfigRef>, known: &References) -> Vec<Reference> {
    let settings = auth.and_then(|auth| known.object::<MCPExternalAuthConfigSpec>(&auth.name).found());
    let of_group = || Reference::referrers::<VirtualMCPServerSpec, MCPGroupSpec>(&group.name);
    settings
        .filter(|found| external_auth::is_for_gateways(found.spec))
        .map(|_| of_group())
        .into_iter()
        .collect()
}

/// What has to be read because of the operator's settings.
pub fn settings_refs(server: &MCPServer, settings: &Settings) -> BTreeSet<Reference> {
    session_redis::default_references(server.spec.session_storage.as_ref(), settings).into_iter().collect()
}
