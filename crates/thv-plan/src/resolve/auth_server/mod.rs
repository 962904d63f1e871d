//! The authorization server that runs in a proxy.

mod delegation;
mod needs;
mod upstream;

use thv_api::auth_server::{AuthServerStorage, AuthServerStorageType, EmbeddedAuthServer, RedisStorage};
use thv_api::conditions::mcp_server::AuthServerRefValidated;
use thv_api::kinds::{ExternalAuthType, MCPExternalAuthConfigSpec};
use thv_api::shared::{AuthServerKind, AuthServerRef};

use self::delegation::validate_delegation;
use self::upstream::validate_upstreams;
use super::config::{complete, config_hash, read};
use super::external_auth::{self, Refusal};
use super::flaw::{Flaws, Invalid};
use super::outcome::{Outcome, outcome};
use super::url::{Url, web_url_flaw};
use crate::reference::References;

pub use self::delegation::validate_fit;
pub(super) use self::needs::needs;

/// Scopes that an authorization server offers when nobody says otherwise.
pub const DEFAULT_SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// The scopes that an authorization server offers, given those that the server behind it names.
pub fn scopes(named: Option<&[String]>) -> Vec<String> {
    match named {
        None | Some([]) => DEFAULT_SCOPES.iter().map(|scope| (*scope).to_owned()).collect(),
        Some(named) => named.to_vec(),
    }
}

/// An authorization server.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthServer {
    /// The name of the `MCPExternalAuthConfig`.
    pub name: String,
    /// Digest of its spec.
    pub hash: String,
    /// The settings.
    pub server: Box<EmbeddedAuthServer>,
}

/// What is wrong with an authorization server, for whichever object refers to it.
pub fn validate(server: &EmbeddedAuthServer) -> Result<(), Invalid> {
    let EmbeddedAuthServer {
        issuer,
        authorization_endpoint_base_url,
        upstream_providers,
        // A VirtualMCPServer heeds it.
        primary_upstream_provider: _,
        signing_key_secret_refs: _,
        hmac_secret_refs: _,
        token_lifespans: _,
        storage,
        disable_upstream_token_injection: _,
        insecure_allow_http,
        allow_confidential_client_registration,
        insecure_allow_confidential_over_loopback_http,
        force_confidential_redirect_uris,
        baseline_client_scopes: _,
        delegate_clients,
        trusted_issuers: _,
        cimd: _,
    } = server;
    let mut flaws = Flaws::default();
    for (path, url) in
        [("issuer", Some(issuer)), ("authorizationEndpointBaseUrl", authorization_endpoint_base_url.as_ref())]
    {
        if let Some(flaw) = url.and_then(|url| web_url_flaw(url, true)) {
            flaws.add(path, flaw);
        }
    }
    let parsed = Url::parse(issuer);
    let plain = parsed.as_ref().is_some_and(Url::is_http);
    let loopback = parsed.as_ref().is_some_and(Url::is_loopback);
    let far = plain && !loopback && !insecure_allow_http;
    flaws.unless(!far, "issuer", "is an http URL: use https, or insecureAllowHTTP for tests");
    flaws.unless(!upstream_providers.is_empty(), "upstreamProviders", "is empty: name an identity provider");
    flaws.extend("upstreamProviders", validate_upstreams(upstream_providers));

    let has_delegates = delegate_clients.as_ref().is_some_and(|clients| !clients.is_empty());
    let hands_out_secrets = *allow_confidential_client_registration || has_delegates;
    flaws.unless(
        !(hands_out_secrets && *insecure_allow_http),
        "insecureAllowHTTP",
        "would send client secrets unencrypted: turn it off, or confidential clients and delegateClients",
    );
    flaws.unless(
        !(hands_out_secrets && plain && loopback) || *insecure_allow_confidential_over_loopback_http,
        "issuer",
        "is plain http and there are confidential clients: use https",
    );
    for (index, uri) in force_confidential_redirect_uris.iter().flatten().enumerate() {
        let path = format!("forceConfidentialRedirectUris[{index}]");
        flaws.unless(
            *allow_confidential_client_registration,
            &path,
            "needs allowConfidentialClientRegistration",
        );
        match Url::parse(uri) {
            Some(url) if url.scheme == "https" && !url.has_fragment && !url.has_user => {
                flaws.unless(!url.is_loopback(), path, "leads to the machine itself");
            }
            _ => flaws.add(path, "is not a redirect URI: write it as https://host/path"),
        }
    }
    if let Some(storage) = storage {
        flaws.extend("storage", validate_storage(storage));
    }
    flaws.extend("trustedIssuers", validate_delegation(server));
    flaws.finish()
}

fn validate_storage(storage: &AuthServerStorage) -> Result<(), Invalid> {
    let AuthServerStorage { type_, redis } = storage;
    let mut flaws = Flaws::default();
    match (type_, redis) {
        (AuthServerStorageType::Memory, _) => {}
        (AuthServerStorageType::Redis, None) => flaws.add("redis", "is missing for the type: set it"),
        (AuthServerStorageType::Redis, Some(redis)) => flaws.extend("redis", validate_redis(redis)),
    }
    flaws.finish()
}

fn validate_redis(redis: &RedisStorage) -> Result<(), Invalid> {
    let RedisStorage {
        addr,
        cluster_mode,
        sentinel_config,
        acl_user_config: _,
        dial_timeout: _,
        read_timeout: _,
        write_timeout: _,
        tls: _,
        sentinel_tls: _,
    } = redis;
    let mut flaws = Flaws::default();
    let has_addr = addr.as_ref().is_some_and(|addr| !addr.is_empty());
    flaws.unless(has_addr != sentinel_config.is_some(), "addr", "or sentinelConfig: set one of them");
    flaws.unless(cluster_mode != &Some(true) || has_addr, "clusterMode", "needs the addr of the cluster");
    if let Some(sentinel) = sentinel_config {
        flaws.required(&sentinel.master_name, "sentinelConfig.masterName");
        let addresses = sentinel.sentinel_addrs.as_ref().is_some_and(|addresses| !addresses.is_empty());
        let found = addresses || sentinel.sentinel_service.is_some();
        flaws.unless(found, "sentinelConfig", "needs sentinelAddrs or sentinelService");
    }
    flaws.finish()
}

/// Why an authorization server is too much for one server, if it is.
pub(super) fn several_upstreams(server: &EmbeddedAuthServer) -> Option<String> {
    let count = server.upstream_providers.len();
    (count > 1).then(|| {
        format!(
            "it has {count} upstream providers, and only a VirtualMCPServer can use more than one: keep one"
        )
    })
}

/// What becomes of the reference of a server. `fit` says what keeps the authorization server from fitting it.
pub(super) fn resolve(
    reference: Option<&AuthServerRef>,
    references: &References,
    fit: impl Fn(&EmbeddedAuthServer) -> Result<(), Invalid>,
) -> Outcome<AuthServer, AuthServerRefValidated> {
    let Some(AuthServerRef { kind: AuthServerKind::MCPExternalAuthConfig, name }) = reference else {
        return Outcome::NotReferenced;
    };
    let spec = match read(references.external_auth_config(name), name) {
        Ok(spec) => spec,
        Err(hitch) => {
            return hitch.outcome(AuthServerRefValidated::NotFound, AuthServerRefValidated::InvalidConfig);
        }
    };
    let (ExternalAuthType::EmbeddedAuthServer, Some(server)) = (spec.type_, &spec.embedded_auth_server)
    else {
        let message = format!(
            "authServerRef leads to the MCPExternalAuthConfig {name:?} of type {}: refer to one of type \
             embeddedAuthServer",
            spec.type_
        );
        return Outcome::terminal(AuthServerRefValidated::InvalidType, message);
    };
    let refused = |text: String| format!("the MCPExternalAuthConfig {name:?} cannot be used: {text}");
    if let Some(text) = several_upstreams(server) {
        return Outcome::terminal(AuthServerRefValidated::MultiUpstreamNotSupported, refused(text));
    }
    let sound = external_auth::validate(spec).map_err(|refusal: Refusal| refusal.to_string());
    if let Err(text) = sound.and_then(|()| fit(server).map_err(|invalid| invalid.to_string())) {
        return Outcome::terminal(AuthServerRefValidated::InvalidConfig, refused(text));
    }
    let server = Box::new(server.clone());
    let usable = complete::<MCPExternalAuthConfigSpec>(&external_auth::needs(spec), name, references)
        .map(|()| AuthServer { name: name.clone(), hash: config_hash(spec), server });
    outcome(usable, AuthServerRefValidated::InvalidConfig, AuthServerRefValidated::InvalidConfig)
}

#[cfg(test)]
mod tests;
