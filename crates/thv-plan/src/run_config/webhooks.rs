//! Webhooks that are asked about requests.

use thv_api::kinds::{Webhook, WebhookFailurePolicy, WebhookTls};
use thv_api::names::volumes::{WebhookKind, WebhookSecret};
use thv_api::shared::SecretKeyRef;
use thv_api::value::GoDuration;
use thv_config::Nanoseconds;
use thv_config::webhook::{FailurePolicy, WebhookConfig, WebhookTls as TlsConfig};

use super::{Referenced, paths};

/// The validating and the mutating webhooks.
pub(super) fn lists(referenced: &Referenced<'_>) -> (Vec<WebhookConfig>, Vec<WebhookConfig>) {
    let Some(config) = referenced.webhooks else { return Default::default() };
    let list = |kind, webhooks: &Option<Vec<Webhook>>| {
        webhooks.iter().flatten().map(|it| webhook(kind, it)).collect()
    };
    (list(WebhookKind::Validating, &config.validating), list(WebhookKind::Mutating, &config.mutating))
}

fn webhook(kind: WebhookKind, webhook: &Webhook) -> WebhookConfig {
    let Webhook { name, url, timeout, failure_policy, tls_config, hmac_secret_ref } = webhook;
    let file = |use_, secret: &Option<SecretKeyRef>| {
        secret.as_ref().map(|secret| paths::webhook(kind, name, use_, secret).1.path()).unwrap_or_default()
    };
    WebhookConfig {
        name: name.clone(),
        url: url.clone().into(),
        timeout: Nanoseconds(timeout.as_ref().map_or(0, GoDuration::as_nanos)),
        failure_policy: match failure_policy {
            WebhookFailurePolicy::Fail => FailurePolicy::Fail,
            WebhookFailurePolicy::Ignore => FailurePolicy::Ignore,
        },
        tls_config: tls_config.as_ref().map(|tls| {
            let WebhookTls {
                ca_secret_ref,
                client_cert_secret_ref,
                client_key_secret_ref,
                insecure_skip_verify,
            } = tls;
            TlsConfig {
                ca_bundle_path: file(WebhookSecret::TlsCa, ca_secret_ref),
                client_cert_path: file(WebhookSecret::TlsClientCert, client_cert_secret_ref),
                client_key_path: file(WebhookSecret::TlsClientKey, client_key_secret_ref),
                insecure_skip_verify: insecure_skip_verify.unwrap_or(false),
            }
        }),
        hmac_secret_ref: file(WebhookSecret::Hmac, hmac_secret_ref),
    }
}

/// The Secrets of all webhooks, by kind, name and use.
pub(super) fn secrets<'a>(
    referenced: &Referenced<'a>,
) -> Vec<(WebhookKind, &'a str, WebhookSecret, &'a SecretKeyRef)> {
    let Some(config) = referenced.webhooks else { return Vec::new() };
    let lists = [(WebhookKind::Validating, &config.validating), (WebhookKind::Mutating, &config.mutating)];
    let mut found = Vec::new();
    for (kind, webhooks) in lists {
        for Webhook { name, url: _, timeout: _, failure_policy: _, tls_config, hmac_secret_ref } in
            webhooks.iter().flatten()
        {
            let tls = tls_config.as_ref();
            let uses = [
                (WebhookSecret::Hmac, hmac_secret_ref.as_ref()),
                (WebhookSecret::TlsCa, tls.and_then(|tls| tls.ca_secret_ref.as_ref())),
                (WebhookSecret::TlsClientCert, tls.and_then(|tls| tls.client_cert_secret_ref.as_ref())),
                (WebhookSecret::TlsClientKey, tls.and_then(|tls| tls.client_key_secret_ref.as_ref())),
            ];
            found.extend(
                uses.into_iter().filter_map(|(use_, secret)| Some((kind, name.as_str(), use_, secret?))),
            );
        }
    }
    found
}
