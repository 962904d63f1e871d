//! What an object with a proxy refers to, and what became of it.

use thv_api::kinds::{MCPOIDCConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec};
use thv_api::names::{children, sessions};

use super::{Proxied, ProxySpec};
use crate::invalid::InvalidList;
use crate::resolve::{
    AuthServer, Authz, CaBundle, Cause, Config, ExternalAuth, ExternalAuthMethod, Headers, Misfit, Oidc,
    Outcome, Profile, SessionRedis, SharedAuthz, Telemetry, Unusable, auth_server, authz, ca_bundle,
    external_auth, group, headers, oidc, permission_profile, secrets, session_redis, telemetry, tools,
    webhooks,
};
use crate::run_config::Referenced;
use crate::snapshot::Snapshot;

/// The field that names an authorization server.
const AUTH_SERVER_REF: &str = "spec.authServerRef";

/// What became of everything that an object refers to. What its kind cannot refer to is not referenced.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// `spec.toolConfigRef`.
    pub tool_config: Outcome<Config<MCPToolConfigSpec>>,
    /// `spec.telemetryConfigRef`.
    pub telemetry: Outcome<Telemetry>,
    /// `spec.externalAuthConfigRef`.
    pub external_auth: Outcome<ExternalAuth>,
    /// `spec.authServerRef`.
    pub auth_server: Outcome<AuthServer>,
    /// `spec.webhookConfigRef`.
    pub webhooks: Outcome<Config<MCPWebhookConfigSpec>>,
    /// `spec.oidcConfigRef`.
    pub oidc: Outcome<Oidc>,
    /// The certificate authorities of the identity provider.
    pub oidc_ca_bundle: Outcome<CaBundle>,
    /// `spec.authzConfigRef`.
    pub authz_config_ref: Outcome<SharedAuthz>,
    /// `spec.authzConfig`.
    pub authz_config: Outcome<Authz>,
    /// `spec.permissionProfile`.
    pub permission_profile: Outcome<Profile>,
    /// `spec.sessionStorage`, or the Redis that the operator gives to servers without.
    pub session_redis: Outcome<SessionRedis>,
    /// `spec.secrets`: whether all of them are there.
    pub secrets: Outcome<()>,
    /// `spec.headerForward`.
    pub headers: Outcome<Headers>,
    /// `spec.groupRef`. Nothing that runs depends on it.
    pub group: Outcome<String>,
}

/// Digests of the configuration in use, for the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigHashes {
    /// For `status.toolConfigHash`.
    pub tool_config: Option<String>,
    /// For `status.externalAuthConfigHash`.
    pub external_auth_config: Option<String>,
    /// For `status.authServerConfigHash`.
    pub auth_server_config: Option<String>,
    /// For `status.authzConfigHash`.
    pub authz_config: Option<String>,
    /// For `status.oidcConfigHash`.
    pub oidc_config: Option<String>,
    /// For `status.telemetryConfigHash`.
    pub telemetry_config: Option<String>,
    /// For `status.webhookConfigHash`.
    pub webhook_config: Option<String>,
}

impl Resolved {
    /// Everything that keeps the proxy from being configured.
    pub fn invalid(&self) -> InvalidList {
        self.unusable().into_iter().map(|unusable| unusable.invalid.clone()).collect()
    }

    /// The references that keep the proxy from being configured, in the order of the spec. A group is not among them:
    /// nothing that runs depends on it.
    pub fn unusable(&self) -> Vec<&Unusable> {
        let Self {
            tool_config,
            telemetry,
            external_auth,
            auth_server,
            webhooks,
            oidc,
            oidc_ca_bundle,
            authz_config_ref,
            authz_config,
            permission_profile,
            session_redis,
            secrets,
            headers,
            group: _,
        } = self;
        let all = [
            secrets.unusable(),
            permission_profile.unusable(),
            oidc.unusable(),
            oidc_ca_bundle.unusable(),
            authz_config.unusable(),
            authz_config_ref.unusable(),
            tool_config.unusable(),
            external_auth.unusable(),
            webhooks.unusable(),
            auth_server.unusable(),
            telemetry.unusable(),
            session_redis.unusable(),
            headers.unusable(),
        ];
        all.into_iter().flatten().collect()
    }

    /// Digests of the configuration in use.
    pub fn hashes(&self) -> ConfigHashes {
        ConfigHashes {
            tool_config: self.tool_config.usable().map(|it| it.hash.clone()),
            external_auth_config: self.external_auth.usable().map(|it| it.hash.clone()),
            auth_server_config: self.auth_server.usable().map(|it| it.hash.clone()),
            authz_config: self.authz_config_ref.usable().map(|it| it.hash.clone()),
            oidc_config: self.oidc.usable().map(|it| it.config.hash.clone()),
            telemetry_config: self.telemetry.usable().map(|it| it.config.hash.clone()),
            webhook_config: self.webhooks.usable().map(|it| it.hash.clone()),
        }
    }

    /// What the proxy is configured with.
    pub(super) fn referenced(&self) -> Referenced<'_> {
        let Self {
            tool_config,
            telemetry,
            external_auth,
            auth_server,
            webhooks,
            oidc,
            oidc_ca_bundle,
            authz_config_ref,
            authz_config,
            permission_profile,
            session_redis,
            headers,
            // The backend's, not the proxy's.
            secrets: _,
            group: _,
        } = self;
        let external_auth = external_auth.usable().map(|it| &it.method);
        let embedded = auth_server.usable().map(|it| it.server.as_ref());
        let shared = || authz_config_ref.usable().map(|it| &it.document);
        Referenced {
            tools: tool_config.usable().map(|it| &it.spec),
            telemetry: telemetry.usable(),
            external_auth,
            auth_server: embedded.or_else(|| external_auth?.embedded_auth_server()),
            webhooks: webhooks.usable().map(|it| &it.spec),
            oidc: oidc.usable(),
            oidc_client_secret: None,
            oidc_ca_bundle: oidc_ca_bundle.usable(),
            authz: authz_config.usable().map(|it| &it.document).or_else(shared),
            authz_file: authz_config.usable(),
            profile: permission_profile.usable().map(|it| &it.origin),
            session_redis: session_redis.usable(),
            headers: headers.usable(),
        }
    }
}

/// Finds out what became of everything that an object refers to. Every field is here, so that a new one cannot be
/// forgotten.
pub(crate) fn resolve<S: Proxied>(snapshot: &Snapshot<S>) -> Resolved {
    let (name, namespace, known) = (snapshot.name(), snapshot.namespace(), &snapshot.references);
    let names = S::names(name);
    let ProxySpec {
        proxy_port,
        session_storage,
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
        // These refer to nothing that is looked at.
        resources: _,
        pod_template_spec: _,
        resource_overrides: _,
        session_affinity: _,
        audit: _,
        trust_proxy_headers: _,
        endpoint_prefix: _,
    } = snapshot.owner.spec.proxy_spec();
    // The URL by which clients within the cluster know it: that of its Service.
    let host = children::service_host(&names.service, namespace);
    let resource_url = format!("http://{host}:{proxy_port}");
    let fits = |server: &_| auth_server::fits(server, oidc_config_ref, &resource_url);
    let suits = |method: &ExternalAuthMethod| match method {
        ExternalAuthMethod::EmbeddedAuthServer(server) => {
            auth_server::single_upstream(server).and_then(|()| fits(server))
        }
        ExternalAuthMethod::AwsSts(_) if !S::IS_REMOTE => Err(remote_servers_only(S::KIND)),
        ExternalAuthMethod::AwsSts(_)
        | ExternalAuthMethod::TokenExchange(_)
        | ExternalAuthMethod::BearerToken(_)
        | ExternalAuthMethod::ByGateway(_) => Ok(()),
    };
    let ca_source = oidc_config_ref
        .and_then(|it| known.object::<MCPOIDCConfigSpec>(&it.name).found())
        .and_then(|config| oidc::ca_bundle(config.spec));
    let key_prefix = sessions::default_key_prefix(namespace, name);
    let mut resolved = Resolved {
        tool_config: tools::resolve("spec.toolConfigRef", tool_config_ref, known),
        telemetry: telemetry::resolve(
            "spec.telemetryConfigRef",
            telemetry_config_ref,
            known,
            namespace,
            name,
        ),
        external_auth: external_auth::resolve(
            "spec.externalAuthConfigRef",
            external_auth_config_ref,
            known,
            suits,
        ),
        auth_server: auth_server::resolve(AUTH_SERVER_REF, auth_server_ref, known, fits),
        webhooks: webhooks::resolve("spec.webhookConfigRef", webhook_config_ref, known),
        oidc: oidc::resolve("spec.oidcConfigRef", oidc_config_ref, known, &resource_url),
        oidc_ca_bundle: ca_bundle::resolve("spec.oidcConfigRef", ca_source, known),
        authz_config_ref: authz::resolve_shared("spec.authzConfigRef", authz_config_ref, known),
        authz_config: authz::resolve("spec.authzConfig", authz_config, known, &names.inline_authz),
        permission_profile: permission_profile::resolve("spec.permissionProfile", permission_profile, known),
        session_redis: session_redis::resolve(
            "spec.sessionStorage",
            session_storage,
            &snapshot.settings,
            known,
            key_prefix,
        ),
        secrets: secrets::resolve("spec.secrets", secrets, known),
        headers: headers::resolve("spec.headerForward", header_forward, name, known),
        group: group::resolve("spec.groupRef", group_ref, known),
    };
    refuse_two_auth_servers(&mut resolved);
    resolved
}

fn remote_servers_only(kind: &str) -> Misfit {
    let text = format!(
        "type awsSts signs requests to a remote server, and an {kind} is none: refer to it from an MCPRemoteProxy, or \
         remove the reference"
    );
    (Cause::WrongType, text)
}

/// A proxy runs one authorization server at most.
fn refuse_two_auth_servers(resolved: &mut Resolved) {
    let external = resolved.external_auth.usable();
    let two = external.is_some_and(|external| external.method.embedded_auth_server().is_some());
    if two && resolved.auth_server.usable().is_some() {
        let message =
            "authServerRef and externalAuthConfigRef both name an authorization server: remove one of them";
        resolved.auth_server = Outcome::Unusable(Cause::Unfit.at(AUTH_SERVER_REF, message));
    }
}
