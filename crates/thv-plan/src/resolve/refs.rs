//! Everything that has to be read for a server, hence watched.

use std::collections::BTreeSet;

use thv_api::Kind;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServer, MCPServerSpec,
    MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::shared::AuthServerKind;

use super::need::Need;
use super::{
    authz, ca_bundle, external_auth, oidc, permission_profile, secrets, session_redis, telemetry, webhooks,
};
use crate::reference::{Reference, References, Target};
use crate::settings::Settings;

/// Everything that a server refers to, directly or through what is known already. Called again with what was found
/// until nothing new comes.
pub fn refs(server: &MCPServer, known: &References) -> BTreeSet<Reference> {
    let direct = direct(&server.spec);
    let indirect: BTreeSet<_> = direct.iter().flat_map(|reference| through(reference, known)).collect();
    direct.into_iter().chain(indirect).collect()
}

/// What is to be read because of the operator's settings: the password of the Redis for servers that name none.
pub fn settings_refs(server: &MCPServer, settings: &Settings) -> BTreeSet<Reference> {
    let password = settings.default_redis.as_ref().and_then(|redis| redis.password.as_ref());
    let uses_default = server.spec.session_storage.is_none();
    password.filter(|_| uses_default).map(|(name, _)| Reference::secret(name)).into_iter().collect()
}

/// What the spec of a server names itself. Every field is here, so that a new one cannot be forgotten.
fn direct(spec: &MCPServerSpec) -> BTreeSet<Reference> {
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
    } = spec;
    let auth_server = auth_server_ref.as_ref().map(|it| match it.kind {
        AuthServerKind::MCPExternalAuthConfig => &it.name,
    });
    let objects = [
        object::<MCPOIDCConfigSpec>(oidc_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPAuthzConfigSpec>(authz_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPToolConfigSpec>(tool_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPExternalAuthConfigSpec>(external_auth_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPWebhookConfigSpec>(webhook_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPExternalAuthConfigSpec>(auth_server),
        object::<MCPTelemetryConfigSpec>(telemetry_config_ref.as_ref().map(|it| &it.name)),
        object::<MCPGroupSpec>(group_ref.as_ref().map(|it| &it.name)),
    ];
    let needs = [
        secrets.as_deref().map(secrets::needs),
        permission_profile.as_ref().map(permission_profile::needs),
        authz_config.as_ref().map(authz::needs),
        session_storage.as_ref().map(session_redis::needs),
    ];
    objects
        .into_iter()
        .flatten()
        .chain(needs.into_iter().flatten().flatten().map(|need| need.reference()))
        .filter(is_named)
        .collect()
}

fn object<S: Kind>(name: Option<&String>) -> Option<Reference> {
    name.map(|name| Reference::object::<S>(name))
}

/// What an object names that has been read.
fn through(reference: &Reference, known: &References) -> Vec<Reference> {
    let Reference::Object(Target { kind, name }) = reference else { return Vec::new() };
    let needs: Vec<Need> = match *kind {
        MCPOIDCConfigSpec::KIND => known.oidc_config(name).found().map_or_else(Vec::new, |config| {
            let bundle =
                oidc::ca_bundle(&config.spec).and_then(|source| ca_bundle::need("caBundleRef", source));
            oidc::needs(&config.spec).into_iter().chain(bundle).collect()
        }),
        MCPTelemetryConfigSpec::KIND => known
            .telemetry_config(name)
            .found()
            .map_or_else(Vec::new, |config| telemetry::needs(&config.spec)),
        MCPWebhookConfigSpec::KIND => {
            known.webhook_config(name).found().map_or_else(Vec::new, |config| webhooks::needs(&config.spec))
        }
        MCPExternalAuthConfigSpec::KIND => known
            .external_auth_config(name)
            .found()
            .map_or_else(Vec::new, |config| external_auth::needs(&config.spec)),
        // The others name nothing.
        _ => Vec::new(),
    };
    needs.iter().map(Need::reference).filter(is_named).collect()
}

/// Nothing has an empty name, so there is nothing to read.
fn is_named(reference: &Reference) -> bool {
    !reference.name().is_empty()
}
