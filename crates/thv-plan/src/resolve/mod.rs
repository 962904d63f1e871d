//! What an `MCPServer` refers to, and whether it can be used.
//!
//! - [`refs`] says what has to be read, hence watched.
//! - [`resolve`] says what became of each reference.
//! - The modules have the rules for each kind of configuration, as `validate` over its spec alone, so that whoever
//!   looks after that kind applies the same rules.

pub mod auth_server;
pub mod authz;
mod authz_document;
pub mod ca_bundle;
mod config;
pub mod external_auth;
mod flaw;
mod group;
mod need;
pub mod oidc;
mod outcome;
pub mod permission_profile;
mod refs;
mod secrets;
pub mod session_redis;
pub mod telemetry;
pub mod tools;
mod url;
pub mod webhooks;

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::conditions::mcp_server::{
    AuthServerRefValidated, AuthzConfigRefValidated, CABundleRefValidated, ExternalAuthConfigValidated,
    GroupRefValidated, OIDCConfigRefValidated, Ready, TelemetryConfigRefValidated, WebhookConfigValidated,
};
use thv_api::kinds::{MCPServerSpec, MCPToolConfigSpec, MCPWebhookConfigSpec};
use thv_api::names::{children, sessions};
use thv_api::shared::OIDCConfigRef;

pub use self::auth_server::AuthServer;
pub use self::authz::{Authz, SharedAuthz};
pub use self::ca_bundle::CaBundle;
pub use self::config::{Config, config_hash};
pub use self::external_auth::{ExternalAuth, ExternalAuthMethod};
pub use self::flaw::{Flaw, Invalid};
pub use self::oidc::Oidc;
pub use self::outcome::{Fault, Obstacle, Outcome};
pub use self::permission_profile::{Profile, ProfileOrigin};
pub use self::refs::{refs, settings_refs};
pub use self::session_redis::SessionRedis;
pub use self::telemetry::Telemetry;

use self::flaw::Flaws;
use crate::snapshot::Snapshot;

/// What became of everything that an `MCPServer` refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// `spec.toolConfigRef`.
    pub tool_config: Outcome<Config<MCPToolConfigSpec>, Ready>,
    /// `spec.telemetryConfigRef`.
    pub telemetry: Outcome<Telemetry, TelemetryConfigRefValidated>,
    /// `spec.externalAuthConfigRef`.
    pub external_auth: Outcome<ExternalAuth, ExternalAuthConfigValidated>,
    /// `spec.authServerRef`.
    pub auth_server: Outcome<AuthServer, AuthServerRefValidated>,
    /// `spec.webhookConfigRef`.
    pub webhooks: Outcome<Config<MCPWebhookConfigSpec>, WebhookConfigValidated>,
    /// `spec.oidcConfigRef`.
    pub oidc: Outcome<Oidc, OIDCConfigRefValidated>,
    /// The certificate authorities of the identity provider.
    pub oidc_ca_bundle: Outcome<CaBundle, CABundleRefValidated>,
    /// `spec.authzConfigRef`.
    pub authz_config_ref: Outcome<SharedAuthz, AuthzConfigRefValidated>,
    /// `spec.authzConfig`.
    pub authz_config: Outcome<Authz, Ready>,
    /// `spec.permissionProfile`.
    pub permission_profile: Outcome<Profile, Ready>,
    /// `spec.sessionStorage`, or the Redis that the operator gives to servers without.
    pub session_redis: Outcome<SessionRedis, Ready>,
    /// `spec.secrets`: whether all of them are there.
    pub secrets: Outcome<(), Ready>,
    /// `spec.groupRef`. Nothing that runs depends on it.
    pub group: Outcome<String, GroupRefValidated>,
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
    /// Everything that keeps the server from being configured, in the order of the spec. A group is not among it:
    /// nothing that runs depends on it.
    pub fn obstacles(&self) -> Vec<Obstacle> {
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
            group: _,
        } = self;
        [
            secrets.obstacle("spec.secrets"),
            permission_profile.obstacle("spec.permissionProfile"),
            oidc.obstacle("spec.oidcConfigRef"),
            oidc_ca_bundle.obstacle("spec.oidcConfigRef"),
            authz_config.obstacle("spec.authzConfig"),
            authz_config_ref.obstacle("spec.authzConfigRef"),
            tool_config.obstacle("spec.toolConfigRef"),
            external_auth.obstacle("spec.externalAuthConfigRef"),
            webhooks.obstacle("spec.webhookConfigRef"),
            auth_server.obstacle("spec.authServerRef"),
            telemetry.obstacle("spec.telemetryConfigRef"),
            session_redis.obstacle("spec.sessionStorage"),
        ]
        .into_iter()
        .flatten()
        .collect()
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

    /// The authorization server that runs in the proxy, wherever it was referred to.
    pub fn embedded_auth_server(&self) -> Option<&EmbeddedAuthServer> {
        let by_external = self.external_auth.usable().and_then(|external| match &external.method {
            ExternalAuthMethod::EmbeddedAuthServer(server) => Some(server.as_ref()),
            ExternalAuthMethod::TokenExchange(_)
            | ExternalAuthMethod::BearerToken(_)
            | ExternalAuthMethod::ByGateway(_) => None,
        });
        self.auth_server.usable().map(|it| it.server.as_ref()).or(by_external)
    }
}

/// Finds out what became of everything that a server refers to.
pub fn resolve(snapshot: &Snapshot<MCPServerSpec>) -> Resolved {
    let (name, namespace) = (snapshot.name(), snapshot.namespace());
    let (spec, known) = (&snapshot.owner.spec, &snapshot.references);
    let resource_url = default_resource_url(snapshot);
    let fit = |server: &EmbeddedAuthServer| fits(server, spec.oidc_config_ref.as_ref(), &resource_url);
    let oidc_spec = spec.oidc_config_ref.as_ref().and_then(|it| known.oidc_config(&it.name).found());
    let ca_source = oidc_spec.and_then(|config| oidc::ca_bundle(&config.spec));
    let key_prefix = sessions::default_key_prefix(namespace, name);
    let mut resolved = Resolved {
        tool_config: tools::resolve(spec.tool_config_ref.as_ref(), known),
        telemetry: telemetry::resolve(spec.telemetry_config_ref.as_ref(), known, namespace, name),
        external_auth: external_auth::resolve(spec.external_auth_config_ref.as_ref(), known, fit),
        auth_server: auth_server::resolve(spec.auth_server_ref.as_ref(), known, fit),
        webhooks: webhooks::resolve(spec.webhook_config_ref.as_ref(), known),
        oidc: oidc::resolve(spec.oidc_config_ref.as_ref(), known, &resource_url),
        oidc_ca_bundle: ca_bundle::resolve(ca_source, known),
        authz_config_ref: authz::resolve_shared(spec.authz_config_ref.as_ref(), known),
        authz_config: authz::resolve(spec.authz_config.as_ref(), known, name),
        permission_profile: permission_profile::resolve(spec.permission_profile.as_ref(), known),
        session_redis: session_redis::resolve(
            spec.session_storage.as_ref(),
            &snapshot.settings,
            known,
            key_prefix,
        ),
        secrets: secrets::resolve(spec.secrets.as_deref(), known),
        group: group::resolve(spec.group_ref.as_ref(), known),
    };
    refuse_two_auth_servers(&mut resolved);
    resolved
}

/// The URL by which clients within the cluster know a server: that of its Service.
pub fn default_resource_url(snapshot: &Snapshot<MCPServerSpec>) -> String {
    let service = children::mcp_server::proxy_service(snapshot.name());
    let host = children::service_host(&service, snapshot.namespace());
    format!("http://{host}:{}", snapshot.owner.spec.proxy_port)
}

/// What keeps an authorization server from fitting a server with this reference to an identity provider.
fn fits(server: &EmbeddedAuthServer, oidc: Option<&OIDCConfigRef>, default_url: &str) -> Result<(), Invalid> {
    let mut flaws = Flaws::default();
    let Some(oidc) = oidc else {
        flaws.add(
            "spec.oidcConfigRef",
            "is missing: the proxy has to check the tokens that the authorization server issues",
        );
        return flaws.finish();
    };
    let url = oidc::resource_url(oidc, default_url);
    if oidc.audience != url {
        let text = format!(
            "has to be the resource URL of the server, {url:?}: set audience and resourceUrl to the same"
        );
        flaws.add("spec.oidcConfigRef.audience", text);
    }
    flaws.finish()?;
    auth_server::validate_fit(server, &auth_server::scopes(oidc.scopes.as_deref()), &url)
}

/// A proxy runs one authorization server at most.
fn refuse_two_auth_servers(resolved: &mut Resolved) {
    let external = resolved.external_auth.usable().map(|external| &external.method);
    let two = matches!(external, Some(ExternalAuthMethod::EmbeddedAuthServer(_)));
    if two && resolved.auth_server.usable().is_some() {
        resolved.auth_server = Outcome::terminal(
            AuthServerRefValidated::InvalidConfig,
            "authServerRef and externalAuthConfigRef both name an authorization server: remove one of them"
                .to_owned(),
        );
    }
}
