//! The Secrets of an authorization server.

use thv_api::auth_server::{
    AuthServerStorage, AuthServerStorageType, DelegateClient, EmbeddedAuthServer, OAuth2Upstream,
    OidcUpstream, RedisStorage, RedisTls, RedisUser, UpstreamProvider,
};
use thv_api::shared::SecretKeyRef;

use crate::resolve::need::Need;

/// The keys that an authorization server needs.
pub(crate) fn needs(server: &EmbeddedAuthServer) -> Vec<Need> {
    let EmbeddedAuthServer {
        issuer: _,
        authorization_endpoint_base_url: _,
        upstream_providers,
        primary_upstream_provider: _,
        signing_key_secret_refs,
        hmac_secret_refs,
        token_lifespans: _,
        storage,
        disable_upstream_token_injection: _,
        insecure_allow_http: _,
        allow_confidential_client_registration: _,
        insecure_allow_confidential_over_loopback_http: _,
        force_confidential_redirect_uris: _,
        baseline_client_scopes: _,
        delegate_clients,
        trusted_issuers: _,
        cimd: _,
    } = server;
    let numbered = |path: &str, secrets: &Option<Vec<SecretKeyRef>>| -> Vec<Need> {
        let secrets = secrets.iter().flatten().enumerate();
        secrets.map(|(index, secret)| Need::secret(format!("{path}[{index}]"), secret)).collect()
    };
    let mut needs = numbered("signingKeySecretRefs", signing_key_secret_refs);
    needs.extend(numbered("hmacSecretRefs", hmac_secret_refs));
    needs.extend(upstream_providers.iter().flat_map(upstream_needs));
    for (index, DelegateClient { client_id: _, client_secret_ref, scopes: _, audiences: _ }) in
        delegate_clients.iter().flatten().enumerate()
    {
        needs.push(Need::secret(format!("delegateClients[{index}].clientSecretRef"), client_secret_ref));
    }
    if let Some(AuthServerStorage { type_: AuthServerStorageType::Redis, redis: Some(redis) }) = storage {
        needs.extend(redis_needs(redis).into_iter().map(|need| need.below("storage.redis")));
    }
    needs
}

fn upstream_needs(upstream: &UpstreamProvider) -> Vec<Need> {
    let UpstreamProvider { name, type_: _, oidc_config, oauth2_config } = upstream;
    let path = format!("upstreamProviders[{name:?}]");
    let oidc = oidc_config.iter().flat_map(|OidcUpstream { client_secret_ref, .. }| client_secret_ref);
    let oauth2 = oauth2_config.iter().flat_map(|OAuth2Upstream { client_secret_ref, .. }| client_secret_ref);
    let tokens =
        oauth2_config.iter().flat_map(|it| &it.dcr_config).flat_map(|it| &it.initial_access_token_ref);
    oidc.chain(oauth2)
        .map(|secret| Need::secret("clientSecretRef", secret))
        .chain(tokens.map(|secret| Need::secret("dcrConfig.initialAccessTokenRef", secret)))
        .map(|need| need.below(&path))
        .collect()
}

fn redis_needs(redis: &RedisStorage) -> Vec<Need> {
    let RedisStorage {
        addr: _,
        cluster_mode: _,
        sentinel_config: _,
        acl_user_config: RedisUser { username_secret_ref, password_secret_ref },
        dial_timeout: _,
        read_timeout: _,
        write_timeout: _,
        tls,
        sentinel_tls,
    } = redis;
    let user =
        username_secret_ref.iter().map(|secret| Need::secret("aclUserConfig.usernameSecretRef", secret));
    let password = Need::secret("aclUserConfig.passwordSecretRef", password_secret_ref);
    let authority = |path: &'static str, tls: &Option<RedisTls>| -> Option<Need> {
        let RedisTls { ca_cert_secret_ref, insecure_skip_verify: _ } = tls.as_ref()?;
        ca_cert_secret_ref.as_ref().map(|secret| Need::secret(path, secret))
    };
    user.chain([password])
        .chain(authority("tls.caCertSecretRef", tls))
        .chain(authority("sentinelTls.caCertSecretRef", sentinel_tls))
        .collect()
}
