//! Volumes of our pods.

use sha2::{Digest, Sha256};

use super::env::shouting;

/// The configuration of a proxy.
pub const RUN_CONFIG: &str = "runconfig";
/// The configuration of a virtual server.
pub const VMCP_CONFIG: &str = "vmcp-config";
/// A permission profile from a ConfigMap.
pub const PERMISSION_PROFILE: &str = "permission-profile";
/// Authorization rules.
pub const AUTHZ_CONFIG: &str = "authz-config";
/// Certificate authority of the Redis that the authorization server uses.
pub const REDIS_CA: &str = "redis-tls-ca-master";
/// Certificate authority of the Sentinel that the authorization server uses.
pub const SENTINEL_CA: &str = "redis-tls-ca-sentinel";
/// Downloaded models of an `EmbeddingServer`; also the name of its claim template.
pub const MODEL_CACHE: &str = "model-cache";
/// The configuration of an `MCPRegistry`.
pub const REGISTRY_CONFIG: &str = "registry-server-config";
/// The password file of an `MCPRegistry`, as the Secret has it.
pub const PGPASS_SECRET: &str = "pgpass-secret";
/// The password file of an `MCPRegistry`, with the rights that PostgreSQL asks for.
pub const PGPASS: &str = "pgpass";

/// Longest name of a volume.
const MAX_LENGTH: usize = 63;

/// Certificate authorities for an identity provider.
pub fn oidc_ca_bundle(config_map: &str) -> String {
    fitting("oidc-ca-bundle-", config_map)
}

/// Certificate authorities for telemetry.
pub fn otel_ca_bundle(config_map: &str) -> String {
    fitting("otel-ca-bundle-", config_map)
}

/// Certificate authorities for an `MCPServerEntry`, in the pod of a virtual server.
pub fn entry_ca_bundle(entry: &str) -> String {
    fitting("ca-bundle-", entry)
}

/// The name of a volume that is named after an object. Objects may have longer names, and dots in them; then a digest
/// tells those apart that would be called the same.
fn fitting(prefix: &str, name: &str) -> String {
    const DIGEST: usize = 9;
    let whole = format!("{prefix}{name}");
    if whole.len() <= MAX_LENGTH && !name.contains('.') {
        return whole;
    }
    let head: String =
        name.replace('.', "-").chars().take(MAX_LENGTH.saturating_sub(prefix.len() + DIGEST)).collect();
    let digest = Sha256::digest(name.as_bytes());
    let tail = digest.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    format!("{prefix}{}-{tail:08x}", head.trim_end_matches('-'))
}

/// A signing key of the authorization server.
pub fn signing_key(index: usize) -> String {
    format!("authserver-signing-key-{index}")
}

/// A secret of the authorization server.
pub fn auth_server_hmac(index: usize) -> String {
    format!("authserver-hmac-secret-{index}")
}

/// What a Secret of a webhook is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookSecret {
    /// To sign calls with.
    Hmac,
    /// The certificate authority to trust.
    TlsCa,
    /// The client certificate.
    TlsClientCert,
    /// The key of the client certificate.
    TlsClientKey,
}

/// Kinds of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookKind {
    /// May refuse a call.
    Validating,
    /// May change a call.
    Mutating,
}

impl WebhookSecret {
    /// The name of the file that the Secret is mounted as.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Hmac => "hmac",
            Self::TlsCa => "ca.crt",
            Self::TlsClientCert => "tls.crt",
            Self::TlsClientKey => "tls.key",
        }
    }

    const fn purpose(self) -> &'static str {
        match self {
            Self::Hmac => "HMAC",
            Self::TlsCa => "TLS_CA",
            Self::TlsClientCert => "TLS_CLIENT_CERT",
            Self::TlsClientKey => "TLS_CLIENT_KEY",
        }
    }
}

/// The identifier of a Secret of a webhook; in lower case, the directory that it is mounted in.
pub fn webhook_secret_id(
    kind: WebhookKind,
    webhook: &str,
    use_: WebhookSecret,
    secret: &str,
    key: &str,
) -> String {
    let kind = match kind {
        WebhookKind::Validating => "VALIDATING",
        WebhookKind::Mutating => "MUTATING",
    };
    let hash = string_hash(&format!("{secret}/{key}"));
    shouting(&format!("WEBHOOK_{kind}_{webhook}_{}_{hash}", use_.purpose()))
}

/// The volume for a Secret of a webhook.
pub fn webhook_secret(identifier: &str) -> String {
    format!("whsec-{}", string_hash(identifier))
}

/// The digest that the Go operator makes of a string: 32-bit FNV-1a over its dump, in hexadecimal.
fn string_hash(text: &str) -> String {
    let hash = ["(string)", text]
        .iter()
        .flat_map(|part| part.bytes())
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_that_are_named_after_objects_have_names_that_volumes_can_have() {
        assert_eq!(entry_ca_bundle("ctx"), "ca-bundle-ctx");
        assert_ne!(entry_ca_bundle("a.b"), entry_ca_bundle("a-b"));
        let long = "x".repeat(253);
        for name in ["a.b", "a-b.c", long.as_str()] {
            for volume in [oidc_ca_bundle(name), otel_ca_bundle(name), entry_ca_bundle(name)] {
                let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(volume.len() <= 63 && volume.chars().all(is_fine), "{volume}");
            }
        }
    }

    #[test]
    fn webhook_secrets_are_named_as_by_the_go_operator() {
        let identifier = webhook_secret_id(
            WebhookKind::Validating,
            "policy-check",
            WebhookSecret::Hmac,
            "hook-secrets",
            "hmac-key",
        );
        assert_eq!(identifier, "WEBHOOK_VALIDATING_POLICY_CHECK_HMAC_8AFCA74E");
        assert_eq!(webhook_secret(&identifier), "whsec-866a2f1e");
    }

    #[test]
    fn long_entries_get_a_digest() {
        assert_eq!(entry_ca_bundle("short"), "ca-bundle-short");
        let fits = "e".repeat(53);
        assert_eq!(entry_ca_bundle(&fits), format!("ca-bundle-{fits}"));
        let long = format!("{}-{}", "e".repeat(43), "f".repeat(30));
        let name = entry_ca_bundle(&long);
        assert!(name.starts_with(&format!("ca-bundle-{}-", "e".repeat(43))), "{name}");
        assert_eq!(name.len(), "ca-bundle-".len() + 43 + 1 + 8);
        assert_ne!(name, entry_ca_bundle(&format!("{long}g")));
    }
}
