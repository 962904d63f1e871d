//! Everything that has to be read for an object with a proxy, hence watched.

use std::collections::BTreeSet;

use thv_api::kinds::{MCPExternalAuthConfigSpec, MCPGroupSpec, VirtualMCPServerSpec};
use thv_api::shared::{ExternalAuthConfigRef, GroupRef};

use super::ProxySpec;
use crate::reference::{Reference, References};
use crate::resolve::{
    Need, auth_server, authz, external_auth, group, headers, oidc, permission_profile, secrets,
    session_redis, telemetry, tools, webhooks,
};
use crate::settings::Settings;

/// Everything that a spec refers to, directly or through what is known already. Called again with what was found until
/// nothing new comes. Every field is here, so that a new one cannot be forgotten.
pub(crate) fn refs(spec: ProxySpec<'_>, known: &References) -> BTreeSet<Reference> {
    let ProxySpec {
        proxy_port: _,
        resources: _,
        pod_template_spec: _,
        // It names pull secrets, which may be missing where images need none.
        resource_overrides: _,
        session_affinity: _,
        session_storage,
        audit: _,
        trust_proxy_headers: _,
        endpoint_prefix: _,
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
        header_forward,
    } = spec;
    let objects = [
        oidc_config_ref.map(|it| oidc::references(it, known)),
        authz_config_ref.map(authz::shared_references),
        tool_config_ref.map(tools::references),
        external_auth_config_ref.map(|it| external_auth::references(&it.name, known)),
        webhook_config_ref.map(|it| webhooks::references(it, known)),
        auth_server_ref.map(|it| auth_server::references(it, known)),
        telemetry_config_ref.map(|it| telemetry::references(it, known)),
        group_ref.map(group::references),
        group_ref.map(|group| gateways(group, external_auth_config_ref, known)),
    ];
    let needs = [
        secrets.map(secrets::needs),
        permission_profile.map(permission_profile::needs),
        authz_config.map(authz::needs),
        session_storage.map(session_redis::needs),
        header_forward.map(headers::needs),
    ];
    let needs = needs.iter().flatten().flatten().map(Need::reference);
    // Nothing has an empty name, so there is nothing to read.
    let is_named = |reference: &Reference| !reference.name().is_empty();
    objects.into_iter().flatten().flatten().chain(needs).filter(is_named).collect()
}

/// The virtual servers that offer the group of an object, where that decides whether credentials have any effect.
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
pub(crate) fn settings_refs(spec: ProxySpec<'_>, settings: &Settings) -> BTreeSet<Reference> {
    session_redis::default_references(spec.session_storage, settings).into_iter().collect()
}
