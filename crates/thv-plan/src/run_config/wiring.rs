//! What the pod of a proxy needs because of what its object refers to.

use std::collections::BTreeMap;

use thv_api::auth_server::{AuthServerStorageType, EmbeddedAuthServer, RedisTls};
use thv_api::kinds::BearerToken;
use thv_api::names::{children, env, volumes};
use thv_api::shared::SecretKeyRef;

use super::paths::{self, File};
use super::{Referenced, webhooks};
use crate::env::EnvValue;
use crate::resolve::{CaBundle, ExternalAuthMethod, ProfileOrigin, telemetry};
use crate::volumes::{Mount, VolumeSource};

/// The rights of files with keys: only the proxy reads them.
const SECRET_MODE: i32 = 0o400;

/// Environment variables and volumes of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Environment variables.
    pub env: Vec<(String, EnvValue)>,
    /// Volumes, none of them twice.
    pub volumes: Vec<VolumeWiring>,
}

/// A volume, and where the container sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeWiring {
    /// Its name.
    pub name: String,
    /// Where its content comes from.
    pub source: VolumeSource,
    /// Where the container sees it.
    pub mount: Mount,
}

/// What a proxy needs because of what its object refers to.
pub(crate) fn wiring(referenced: &Referenced<'_>) -> Wiring {
    let mut wiring = Wiring::default();
    wiring.telemetry(referenced);
    wiring.external_auth(referenced);
    wiring.oidc(referenced);
    if let Some(password) = referenced.session_redis.and_then(|redis| redis.password.as_ref()) {
        wiring.secret_env(env::SESSION_REDIS_PASSWORD, password);
    }
    for value in referenced.headers.iter().flat_map(|headers| headers.secret.values()) {
        wiring.secret_env(env::secret(&value.id), &value.secret);
    }
    wiring.webhooks(referenced);
    wiring.documents(referenced);
    if let Some(server) = referenced.auth_server {
        wiring.auth_server(server);
    }
    wiring
}

impl Wiring {
    fn secret_env(&mut self, name: impl Into<String>, SecretKeyRef { name: secret, key }: &SecretKeyRef) {
        self.env.push((name.into(), EnvValue::Secret { name: secret.clone(), key: key.clone() }));
    }

    /// One key of a Secret as one file. The same Secret under the same name is there once.
    fn secret_file(&mut self, name: String, secret: &SecretKeyRef, file: &File, mode: Option<i32>) {
        let items = BTreeMap::from([(secret.key.clone(), file.name.clone())]);
        let source = VolumeSource::Secret { name: secret.name.clone(), items, mode };
        let mount = Mount { path: file.path(), sub_path: Some(file.name.clone()), read_only: true };
        if !self.volumes.iter().any(|other| other.name == name) {
            self.volumes.push(VolumeWiring { name, source, mount });
        }
    }

    fn config_map(&mut self, name: String, map: &str, item: Option<(&str, &str)>, folder: &str) {
        let items = item.into_iter().map(|(key, file)| (key.to_owned(), file.to_owned())).collect();
        let source = VolumeSource::ConfigMap { name: map.to_owned(), items };
        self.volumes.push(VolumeWiring { name, source, mount: Mount::read_only(folder) });
    }

    /// The certificate authorities of a backend, for a gateway.
    pub(crate) fn entry_bundle(&mut self, entry: &str, bundle: &CaBundle) {
        self.bundle(volumes::entry_ca_bundle(entry), bundle, &paths::entry_ca(entry, bundle));
    }

    fn bundle(&mut self, name: String, bundle: &CaBundle, file: &File) {
        self.config_map(name, &bundle.config_map, Some((&bundle.key, &file.name)), file.folder());
    }

    fn telemetry(&mut self, referenced: &Referenced<'_>) {
        let Some(found) = referenced.telemetry else { return };
        let attributes = format!("service.name={},service.namespace={}", found.service_name, found.namespace);
        self.env.push((env::OTEL_RESOURCE_ATTRIBUTES.to_owned(), EnvValue::Literal(attributes)));
        if let Some(otel) = &found.config.spec.open_telemetry {
            for header in telemetry::sorted_headers(otel) {
                self.secret_env(env::otel_header(&header.name), &header.secret_key_ref);
            }
        }
        if let Some(bundle) = &found.ca_bundle {
            self.bundle(volumes::otel_ca_bundle(&bundle.config_map), bundle, &paths::otel_ca(bundle));
        }
    }

    fn external_auth(&mut self, referenced: &Referenced<'_>) {
        match referenced.external_auth {
            Some(ExternalAuthMethod::TokenExchange(exchange)) => {
                if let Some(secret) = &exchange.client_secret_ref {
                    self.secret_env(env::TOKEN_EXCHANGE_CLIENT_SECRET, secret);
                }
            }
            Some(ExternalAuthMethod::BearerToken(BearerToken { token_secret_ref })) => {
                self.secret_env(env::secret(&token_secret_ref.name), token_secret_ref);
            }
            Some(
                ExternalAuthMethod::EmbeddedAuthServer(_)
                | ExternalAuthMethod::AwsSts(_)
                | ExternalAuthMethod::ByGateway(_),
            )
            | None => {}
        }
    }

    fn oidc(&mut self, referenced: &Referenced<'_>) {
        let inline = referenced.oidc.and_then(|oidc| oidc.config.spec.inline.as_ref());
        if let Some(secret) = inline.and_then(|inline| inline.client_secret_ref.as_ref()) {
            self.secret_env(referenced.oidc_client_secret.unwrap_or(env::OIDC_CLIENT_SECRET), secret);
        }
        if let Some(bundle) = referenced.oidc_ca_bundle {
            self.bundle(volumes::oidc_ca_bundle(&bundle.config_map), bundle, &paths::oidc_ca(bundle));
        }
    }

    fn webhooks(&mut self, referenced: &Referenced<'_>) {
        let mut secrets: Vec<_> = webhooks::secrets(referenced)
            .into_iter()
            .map(|(kind, name, use_, secret)| (paths::webhook(kind, name, use_, secret), secret))
            .collect();
        secrets.sort_by(|((one, _), _), ((other, _), _)| one.cmp(other));
        for ((id, file), secret) in secrets {
            self.secret_file(volumes::webhook_secret(&id), secret, &file, None);
        }
    }

    /// The permission profile and the authorization rules. The configuration has both; the files are there for
    /// people and programs that look for them.
    fn documents(&mut self, referenced: &Referenced<'_>) {
        if let Some(ProfileOrigin::ConfigMap { name, key: _ }) = referenced.profile {
            self.config_map(volumes::PERMISSION_PROFILE.to_owned(), name, None, paths::PROFILES);
        }
        if let Some(authz) = referenced.authz_file {
            let item = Some((authz.key.as_str(), children::keys::AUTHZ));
            self.config_map(volumes::AUTHZ_CONFIG.to_owned(), &authz.config_map, item, paths::AUTHZ);
        }
    }

    fn auth_server(&mut self, server: &EmbeddedAuthServer) {
        for (index, secret) in server.signing_key_secret_refs.iter().flatten().enumerate() {
            self.secret_file(
                volumes::signing_key(index),
                secret,
                &paths::signing_key(index),
                Some(SECRET_MODE),
            );
        }
        for (index, secret) in server.hmac_secret_refs.iter().flatten().enumerate() {
            self.secret_file(
                volumes::auth_server_hmac(index),
                secret,
                &paths::hmac_secret(index),
                Some(SECRET_MODE),
            );
        }
        for upstream in &server.upstream_providers {
            let oidc = upstream.oidc_config.as_ref().and_then(|it| it.client_secret_ref.as_ref());
            let oauth2 = upstream.oauth2_config.as_ref();
            let client = oidc.or_else(|| oauth2.and_then(|it| it.client_secret_ref.as_ref()));
            let token = oauth2
                .and_then(|it| it.dcr_config.as_ref())
                .and_then(|it| it.initial_access_token_ref.as_ref());
            if let Some(secret) = client {
                self.secret_env(env::upstream_client_secret(&upstream.name), secret);
            }
            if let Some(secret) = token {
                self.secret_env(env::upstream_initial_access_token(&upstream.name), secret);
            }
        }
        for (index, client) in server.delegate_clients.iter().flatten().enumerate() {
            self.secret_env(env::delegate_client_secret(index), &client.client_secret_ref);
        }
        let storage = server.storage.as_ref().filter(|storage| storage.type_ == AuthServerStorageType::Redis);
        let Some(redis) = storage.and_then(|storage| storage.redis.as_ref()) else { return };
        if let Some(secret) = &redis.acl_user_config.username_secret_ref {
            self.secret_env(env::AUTH_SERVER_REDIS_USERNAME, secret);
        }
        self.secret_env(env::AUTH_SERVER_REDIS_PASSWORD, &redis.acl_user_config.password_secret_ref);
        let authority = |tls: &Option<RedisTls>| tls.as_ref().and_then(|tls| tls.ca_cert_secret_ref.clone());
        for (name, tls, file) in [
            (volumes::REDIS_CA, &redis.tls, paths::redis_ca()),
            (volumes::SENTINEL_CA, &redis.sentinel_tls, paths::sentinel_ca()),
        ] {
            if let Some(secret) = authority(tls) {
                self.secret_file(name.to_owned(), &secret, &file, Some(SECRET_MODE));
            }
        }
    }
}
