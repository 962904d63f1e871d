//! The authorization server that runs in a proxy.

mod delegation;
mod needs;
mod upstream;

use thv_api::auth_server::{AuthServerStorage, AuthServerStorageType, EmbeddedAuthServer, RedisStorage};
use thv_api::kinds::{ExternalAuthType, MCPExternalAuthConfigSpec};
use thv_api::shared::{AuthServerKind, AuthServerRef, OIDCConfigRef};

use self::delegation::{validate_delegation, validate_fit};
use self::upstream::validate_upstreams;
use super::config::{complete, config_hash, read};
use super::need::check;
use super::outcome::{Cause, Misfit, Outcome, Unusable};
use super::url::{Url, web_url_error};
use super::{external_auth, oidc};
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

pub(crate) use self::needs::needs;
pub(crate) use self::upstream::without_identity;

/// Scopes that an authorization server offers when nobody says otherwise.
const DEFAULT_SCOPES: [&str; 4] = ["openid", "profile", "email", "offline_access"];

/// The scopes that an authorization server offers, given those that the object that refers to it
/// names.
pub(crate) fn scopes(named: Option<&[String]>) -> Vec<String> {
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
    /// Settings of it that have no effect on a proxy.
    pub notes: Vec<String>,
}

/// What is wrong with an authorization server, for whichever object refers to it.
pub fn validate(server: &EmbeddedAuthServer) -> Result<(), InvalidList> {
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
    let mut invalid = InvalidList::default();
    for (path, url) in
        [("issuer", Some(issuer)), ("authorizationEndpointBaseUrl", authorization_endpoint_base_url.as_ref())]
    {
        if let Some(error) = url.and_then(|url| web_url_error(url, true)) {
            invalid.add(path, error);
        }
    }
    let parsed = Url::parse(issuer);
    let plain = parsed.as_ref().is_some_and(Url::is_http);
    let loopback = parsed.as_ref().is_some_and(Url::is_loopback);
    let far = plain && !loopback && !insecure_allow_http;
    invalid.unless(!far, "issuer", "is an http URL: use https, or insecureAllowHTTP for tests");
    invalid.unless(
        !upstream_providers.is_empty(),
        "upstreamProviders",
        "is empty: name an identity provider",
    );
    invalid.below("upstreamProviders", validate_upstreams(upstream_providers));

    let has_delegates = delegate_clients.as_ref().is_some_and(|clients| !clients.is_empty());
    let hands_out_secrets = *allow_confidential_client_registration || has_delegates;
    invalid.unless(
        !(hands_out_secrets && *insecure_allow_http),
        "insecureAllowHTTP",
        "would send client secrets unencrypted: turn it off, or confidential clients and delegateClients",
    );
    invalid.unless(
        !(hands_out_secrets && plain && loopback) || *insecure_allow_confidential_over_loopback_http,
        "issuer",
        "is plain http and there are confidential clients: use https",
    );
    for (index, uri) in force_confidential_redirect_uris.iter().flatten().enumerate() {
        let path = format!("forceConfidentialRedirectUris[{index}]");
        invalid.unless(
            *allow_confidential_client_registration,
            &path,
            "needs allowConfidentialClientRegistration",
        );
        match Url::parse(uri) {
            Some(url) if url.scheme == "https" && !url.has_fragment && !url.has_user => {
                invalid.unless(!url.is_loopback(), path, "leads to the machine itself");
            }
            _ => invalid.add(path, "is not a redirect URI: write it as https://host/path"),
        }
    }
    if let Some(storage) = storage {
        invalid.below("storage", validate_storage(storage));
    }
    invalid.below("trustedIssuers", validate_delegation(server));
    invalid.finish()
}

fn validate_storage(storage: &AuthServerStorage) -> Result<(), InvalidList> {
    let AuthServerStorage { type_, redis } = storage;
    let mut invalid = InvalidList::default();
    match (type_, redis) {
        (AuthServerStorageType::Memory, _) => {}
        (AuthServerStorageType::Redis, None) => invalid.add("redis", "is missing for the type: set it"),
        (AuthServerStorageType::Redis, Some(redis)) => invalid.below("redis", validate_redis(redis)),
    }
    invalid.finish()
}

fn validate_redis(redis: &RedisStorage) -> Result<(), InvalidList> {
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
    let mut invalid = InvalidList::default();
    let has_addr = addr.as_ref().is_some_and(|addr| !addr.is_empty());
    invalid.unless(has_addr != sentinel_config.is_some(), "addr", "or sentinelConfig: set one of them");
    invalid.unless(cluster_mode != &Some(true) || has_addr, "clusterMode", "needs the addr of the cluster");
    if let Some(sentinel) = sentinel_config {
        invalid.required(&sentinel.master_name, "sentinelConfig.masterName");
        let addresses = sentinel.sentinel_addrs.as_ref().is_some_and(|addresses| !addresses.is_empty());
        let found = addresses || sentinel.sentinel_service.is_some();
        invalid.unless(found, "sentinelConfig", "needs sentinelAddrs or sentinelService");
    }
    invalid.finish()
}

/// Why an authorization server is too much for a single proxy, if it is.
pub(crate) fn single_upstream(server: &EmbeddedAuthServer) -> Result<(), Misfit> {
    let count = server.upstream_providers.len();
    if count <= 1 {
        return Ok(());
    }
    let text = format!(
        "it has {count} upstream providers, and only a VirtualMCPServer can use more than one: keep one"
    );
    Err((Cause::SeveralUpstreams, text))
}

/// What keeps an authorization server from fitting an object with this reference to an identity provider, which clients
/// know by `default_url` unless the reference says otherwise.
pub(crate) fn fits(
    server: &EmbeddedAuthServer,
    oidc: Option<&OIDCConfigRef>,
    default_url: &str,
) -> Result<(), Misfit> {
    let fit = || {
        let mut invalid = InvalidList::default();
        let Some(oidc) = oidc else {
            invalid.add(
                "spec.oidcConfigRef",
                "is missing: the proxy has to check the tokens that the authorization server issues",
            );
            return invalid.finish();
        };
        let url = oidc::resource_url(oidc, default_url);
        if oidc.audience != url {
            let text = format!(
                "has to be the resource URL of the server, {url:?}: set audience and resourceUrl to the same"
            );
            invalid.add("spec.oidcConfigRef.audience", text);
        }
        invalid.finish()?;
        validate_fit(server, &scopes(oidc.scopes.as_deref()), &url)
    };
    fit().map_err(|invalid| (Cause::Unfit, invalid.to_string()))
}

/// What has to be read for a reference.
pub(crate) fn references(reference: &AuthServerRef, known: &References) -> Vec<Reference> {
    let AuthServerRef { kind: AuthServerKind::MCPExternalAuthConfig, name } = reference;
    external_auth::references(name, known)
}

/// What becomes of the reference of an object with a single proxy. `fits` says what keeps the authorization server from
/// fitting it.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&AuthServerRef>,
    references: &References,
    fits: impl FnOnce(&EmbeddedAuthServer) -> Result<(), Misfit>,
) -> Outcome<AuthServer> {
    Outcome::of(reference, |AuthServerRef { kind: AuthServerKind::MCPExternalAuthConfig, name }| {
        let spec = read(path, references.object::<MCPExternalAuthConfigSpec>(name), name)?;
        let server = embedded(path, spec, name)?;
        let sound = || external_auth::validate(spec).map_err(|invalid| (Cause::Invalid, invalid.to_string()));
        single_upstream(server).and_then(|()| sound()).and_then(|()| fits(server)).map_err(
            |(cause, text)| {
                cause.at(path, format!("the MCPExternalAuthConfig {name:?} cannot be used: {text}"))
            },
        )?;
        complete::<MCPExternalAuthConfigSpec>(path, &external_auth::needs(spec), name, references)?;
        Ok(AuthServer {
            name: name.clone(),
            hash: config_hash(spec),
            server: Box::new(server.clone()),
            notes: external_auth::notes(spec),
        })
    })
}

/// What keeps an authorization server from being used that stands in an object itself. `fits` says what keeps it from
/// fitting the object.
pub(crate) fn check_embedded(
    path: &str,
    server: &EmbeddedAuthServer,
    references: &References,
    fits: impl FnOnce(&EmbeddedAuthServer) -> Result<(), Misfit>,
) -> Result<(), Unusable> {
    validate(server).map_err(|invalid| Cause::Invalid.at(path, invalid.to_string()))?;
    fits(server).map_err(|(cause, text)| cause.at(path, text))?;
    check(path, &needs(server), references)
}

fn embedded<'a>(
    path: &str,
    spec: &'a MCPExternalAuthConfigSpec,
    name: &str,
) -> Result<&'a EmbeddedAuthServer, Unusable> {
    match (spec.type_, &spec.embedded_auth_server) {
        (ExternalAuthType::EmbeddedAuthServer, Some(server)) => Ok(server),
        (type_, _) => {
            let message = format!(
                "authServerRef leads to the MCPExternalAuthConfig {name:?} of type {type_}: refer to one of type \
                 embeddedAuthServer"
            );
            Err(Cause::WrongType.at(path, message))
        }
    }
}

#[cfg(test)]
mod tests;
