//! Files in the pod of a proxy. The configuration names them and the mounts put them there.

use thv_api::names::volumes::{WebhookKind, WebhookSecret, webhook_secret_id};
use thv_api::shared::SecretKeyRef;

use crate::resolve::CaBundle;

/// Where a cluster puts the certificate authority of its API server.
pub(super) const CLUSTER_CA: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
/// Where a cluster puts the token of the pod.
pub(super) const CLUSTER_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/// The folder of permission profiles.
pub(super) const PROFILES: &str = "/etc/toolhive/profiles";
/// The folder of authorization rules.
pub(super) const AUTHZ: &str = "/etc/toolhive/authz";
/// The folder of signing keys of the authorization server.
pub(super) const SIGNING_KEYS: &str = "/etc/toolhive/authserver/keys";

const HMAC_SECRETS: &str = "/etc/toolhive/authserver/hmac";
const REDIS_TLS: &str = "/etc/toolhive/authserver/redis-tls";
const WEBHOOKS: &str = "/etc/toolhive/webhooks";

/// A file, and the folder that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    folder: String,
    /// The name of the file in its folder.
    pub(super) name: String,
}

impl File {
    fn new(folder: impl Into<String>, name: impl Into<String>) -> Self {
        Self { folder: folder.into(), name: name.into() }
    }

    /// The whole path.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.folder, self.name)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }
}

/// Certificate authorities of the identity provider.
pub(super) fn oidc_ca(bundle: &CaBundle) -> File {
    File::new(format!("/config/certs/{}", bundle.config_map), &bundle.key)
}

/// Certificate authorities of the telemetry endpoint.
pub(super) fn otel_ca(bundle: &CaBundle) -> File {
    File::new(format!("/config/certs/otel/{}", bundle.config_map), &bundle.key)
}

/// Certificate authorities of a backend, in the pod of a gateway.
pub(crate) fn entry_ca(entry: &str, bundle: &CaBundle) -> File {
    File::new(format!("/etc/toolhive/ca-bundles/{entry}"), &bundle.key)
}

/// A permission profile.
pub(crate) fn profile(key: &str) -> File {
    File::new(PROFILES, key)
}

/// A signing key of the authorization server.
pub(super) fn signing_key(index: usize) -> File {
    File::new(SIGNING_KEYS, format!("key-{index}.pem"))
}

/// A secret of the authorization server.
pub(super) fn hmac_secret(index: usize) -> File {
    File::new(HMAC_SECRETS, format!("hmac-{index}"))
}

/// Certificate authority of the Redis of the authorization server.
pub(super) fn redis_ca() -> File {
    File::new(REDIS_TLS, "ca.crt")
}

/// Certificate authority of the Sentinel of the authorization server.
pub(super) fn sentinel_ca() -> File {
    File::new(REDIS_TLS, "sentinel-ca.crt")
}

/// A Secret of a webhook, and the identifier that it goes by.
pub(super) fn webhook(
    kind: WebhookKind,
    webhook: &str,
    use_: WebhookSecret,
    secret: &SecretKeyRef,
) -> (String, File) {
    let SecretKeyRef { name, key } = secret;
    let id = webhook_secret_id(kind, webhook, use_, name, key);
    let folder = format!("{WEBHOOKS}/{}", id.to_ascii_lowercase());
    (id, File::new(folder, use_.file()))
}
