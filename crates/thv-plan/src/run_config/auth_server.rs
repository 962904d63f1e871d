//! The authorization server in the proxy.

use thv_api::auth_server as api;
use thv_api::names::{children, env};
use thv_config::auth_server::{
    AuthServerConfig, AuthServerStorage, AuthServerStorageType, ClientIdMetadata, DelegateClient,
    JwtBearerGrant, RedisAuthType, RedisSentinel, RedisStorage, RedisTls, RedisUser, SigningKeys,
    SubjectBinding, TokenLifespans, TrustedIssuer,
};

use super::upstream::upstream;
use super::{Referenced, paths, printed};
use crate::resolve::Oidc;

/// The configuration of the authorization server, if there is one.
pub(crate) fn config(namespace: &str, name: &str, referenced: &Referenced<'_>) -> Option<AuthServerConfig> {
    // Without an identity provider the reference to the server was refused.
    let (server, oidc) = (referenced.auth_server?, referenced.oidc?);
    Some(convert(server, oidc, namespace, name))
}

fn convert(server: &api::EmbeddedAuthServer, oidc: &Oidc, namespace: &str, name: &str) -> AuthServerConfig {
    let api::EmbeddedAuthServer {
        issuer,
        authorization_endpoint_base_url,
        upstream_providers,
        // A VirtualMCPServer heeds it. Here there is one provider only.
        primary_upstream_provider: _,
        signing_key_secret_refs,
        hmac_secret_refs,
        token_lifespans,
        storage,
        disable_upstream_token_injection,
        insecure_allow_http,
        allow_confidential_client_registration,
        insecure_allow_confidential_over_loopback_http,
        force_confidential_redirect_uris,
        baseline_client_scopes,
        delegate_clients,
        trusted_issuers,
        cimd,
    } = server;
    AuthServerConfig {
        schema_version: AuthServerConfig::SCHEMA_VERSION.to_owned(),
        issuer: issuer.clone(),
        authorization_endpoint_base_url: authorization_endpoint_base_url.clone().unwrap_or_default(),
        signing_key_config: signing_keys(signing_key_secret_refs.as_ref().map_or(0, Vec::len)),
        hmac_secret_files: (0..hmac_secret_refs.as_ref().map_or(0, Vec::len))
            .map(|index| paths::hmac_secret(index).path())
            .collect(),
        token_lifespans: token_lifespans
            .as_ref()
            .map(lifespans)
            .filter(|spans| *spans != TokenLifespans::default()),
        delegation_token_lifespan: None,
        upstreams: upstream_providers.iter().map(|it| upstream(it, &oidc.resource_url)).collect(),
        scopes_supported: oidc.scopes.clone().unwrap_or_default(),
        baseline_client_scopes: baseline_client_scopes.clone().unwrap_or_default(),
        allowed_audiences: vec![oidc.resource_url.clone()],
        storage: storage.as_ref().and_then(|storage| redis(storage, namespace, name)),
        disable_upstream_token_injection: *disable_upstream_token_injection,
        cimd: cimd.as_ref().filter(|cimd| cimd.enabled).map(metadata_documents),
        insecure_allow_http: *insecure_allow_http,
        trusted_issuers: trusted_issuers.iter().flatten().map(trusted_issuer).collect(),
        allow_confidential_client_registration: *allow_confidential_client_registration,
        force_confidential_redirect_uris: force_confidential_redirect_uris.clone().unwrap_or_default(),
        insecure_allow_confidential_over_loopback_http: *insecure_allow_confidential_over_loopback_http,
        delegate_clients: delegate_clients.iter().flatten().enumerate().map(delegate_client).collect(),
    }
}

fn signing_keys(count: usize) -> Option<SigningKeys> {
    (count > 0).then(|| SigningKeys {
        key_dir: paths::SIGNING_KEYS.to_owned(),
        signing_key_file: paths::signing_key(0).name,
        fallback_key_files: (1..count).map(|index| paths::signing_key(index).name).collect(),
    })
}

fn lifespans(spans: &api::TokenLifespans) -> TokenLifespans {
    let api::TokenLifespans { access_token_lifespan, refresh_token_lifespan, auth_code_lifespan } = spans;
    TokenLifespans {
        access_token_lifespan: access_token_lifespan.clone(),
        refresh_token_lifespan: refresh_token_lifespan.clone(),
        auth_code_lifespan: auth_code_lifespan.clone(),
    }
}

fn metadata_documents(cimd: &api::ClientIdMetadata) -> ClientIdMetadata {
    let api::ClientIdMetadata { enabled, cache_max_size, cache_fallback_ttl } = cimd;
    ClientIdMetadata {
        enabled: *enabled,
        cache_max_size: cache_max_size.unwrap_or_default(),
        cache_fallback_ttl: cache_fallback_ttl.clone(),
    }
}

fn delegate_client((index, client): (usize, &api::DelegateClient)) -> DelegateClient {
    let api::DelegateClient { client_id, client_secret_ref: _, scopes, audiences } = client;
    DelegateClient {
        client_id: client_id.clone(),
        client_secret_env_var: env::delegate_client_secret(index),
        scopes: scopes.clone(),
        audiences: audiences.clone(),
        ..DelegateClient::default()
    }
}

fn trusted_issuer(issuer: &api::TrustedIssuer) -> TrustedIssuer {
    let api::TrustedIssuer {
        issuer_url,
        jwks_url,
        expected_audience,
        insecure_allow_http,
        allow_private_ips,
        actor_claim,
        actor_matcher,
        allowed_actors,
        allowed_delegate_clients,
        allow_may_act,
        jwt_bearer_grant,
    } = issuer;
    TrustedIssuer {
        issuer_url: issuer_url.clone(),
        expected_audience: expected_audience.clone().unwrap_or_default(),
        jwks_url: jwks_url.clone().unwrap_or_default(),
        insecure_allow_http: insecure_allow_http.unwrap_or_default(),
        allow_private_ips: allow_private_ips.unwrap_or_default(),
        actor_claim: actor_claim.clone().unwrap_or_default(),
        allowed_actors: allowed_actors.clone().unwrap_or_default(),
        actor_matcher: actor_matcher.clone().unwrap_or_default(),
        allowed_delegate_clients: allowed_delegate_clients.clone().unwrap_or_default(),
        allow_may_act: *allow_may_act,
        jwt_bearer_grant: jwt_bearer_grant.as_ref().map(bearer_grant),
    }
}

fn bearer_grant(grant: &api::JwtBearerGrant) -> JwtBearerGrant {
    let api::JwtBearerGrant { subject_bindings, accepted_audiences, max_assertion_age } = grant;
    let binding = |binding: &api::SubjectBinding| {
        let api::SubjectBinding { subject, allowed_resources } = binding;
        SubjectBinding { subject: subject.clone(), allowed_resources: allowed_resources.clone() }
    };
    JwtBearerGrant {
        max_assertion_age: printed(max_assertion_age),
        subject_bindings: subject_bindings.iter().map(binding).collect(),
        accepted_audiences: accepted_audiences.clone().unwrap_or_default(),
    }
}

/// Redis, if that is where the state goes. Memory needs no words.
fn redis(storage: &api::AuthServerStorage, namespace: &str, name: &str) -> Option<AuthServerStorage> {
    let api::AuthServerStorage { type_, redis } = storage;
    match type_ {
        api::AuthServerStorageType::Memory => None,
        api::AuthServerStorageType::Redis => {
            let redis_config = redis.as_ref().map(|redis| redis_config(redis, namespace, name));
            Some(AuthServerStorage { type_: AuthServerStorageType::Redis, redis_config })
        }
    }
}

fn redis_config(redis: &api::RedisStorage, namespace: &str, name: &str) -> RedisStorage {
    let api::RedisStorage {
        addr,
        cluster_mode,
        sentinel_config,
        acl_user_config: api::RedisUser { username_secret_ref, password_secret_ref: _ },
        dial_timeout,
        read_timeout,
        write_timeout,
        tls,
        sentinel_tls,
    } = redis;
    let user = username_secret_ref.as_ref().map(|_| env::AUTH_SERVER_REDIS_USERNAME.to_owned());
    RedisStorage {
        addr: addr.clone().unwrap_or_default(),
        cluster_mode: cluster_mode.unwrap_or_default(),
        sentinel_config: sentinel_config.as_ref().map(|it| sentinel(it, namespace)),
        auth_type: RedisAuthType::AclUser,
        acl_user_config: Some(RedisUser {
            username_env_var: user.unwrap_or_default(),
            password_env_var: env::AUTH_SERVER_REDIS_PASSWORD.to_owned(),
        }),
        // The braces make all keys go to one node of a Redis Cluster.
        key_prefix: format!("thv:auth:{{{namespace}:{name}}}:"),
        dial_timeout: Some(dial_timeout.clone()),
        read_timeout: Some(read_timeout.clone()),
        write_timeout: Some(write_timeout.clone()),
        tls: tls.as_ref().map(|it| redis_tls(it, &paths::redis_ca())),
        sentinel_tls: sentinel_tls.as_ref().map(|it| redis_tls(it, &paths::sentinel_ca())),
    }
}

fn sentinel(sentinel: &api::RedisSentinel, namespace: &str) -> RedisSentinel {
    let api::RedisSentinel { master_name, sentinel_addrs, sentinel_service, db } = sentinel;
    let named = sentinel_addrs.clone().filter(|addresses| !addresses.is_empty());
    let by_service = || {
        let service = sentinel_service.iter().map(|service| {
            let api::SentinelService { name, namespace: other, port } = service;
            let host = children::service_host(
                name,
                other.as_deref().filter(|it| !it.is_empty()).unwrap_or(namespace),
            );
            format!("{host}:{port}")
        });
        service.collect()
    };
    RedisSentinel {
        master_name: master_name.clone(),
        sentinel_addrs: named.unwrap_or_else(by_service),
        db: *db,
    }
}

fn redis_tls(tls: &api::RedisTls, file: &paths::File) -> RedisTls {
    let api::RedisTls { ca_cert_secret_ref, insecure_skip_verify } = tls;
    RedisTls {
        insecure_skip_verify: insecure_skip_verify.unwrap_or_default(),
        ca_cert_file: ca_cert_secret_ref.as_ref().map(|_| file.path()).unwrap_or_default(),
    }
}
