//! Webhooks that see every call: `MCPWebhookConfig`.

use thv_api::kinds::{MCPWebhookConfigSpec, Webhook, WebhookTls};
use thv_api::shared::WebhookConfigRef;

use super::config::{self, Config, complete, read, valid};
use super::need::Need;
use super::outcome::{Outcome, Unusable};
use super::url::web_url_error;
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

const SECOND: i64 = 1_000_000_000;

/// What is wrong with webhooks.
pub fn validate(spec: &MCPWebhookConfigSpec) -> Result<(), InvalidList> {
    let MCPWebhookConfigSpec { validating, mutating } = spec;
    let mut invalid = InvalidList::default();
    for (list, webhooks) in [("validating", validating), ("mutating", mutating)] {
        for (index, webhook) in webhooks.iter().flatten().enumerate() {
            invalid.below(&format!("{list}[{index}]"), validate_webhook(webhook));
        }
    }
    let some = [validating, mutating].into_iter().flatten().any(|webhooks| !webhooks.is_empty());
    invalid.unless(some, "validating", "and mutating have no webhook: define one");
    invalid.finish()
}

fn validate_webhook(webhook: &Webhook) -> Result<(), InvalidList> {
    let Webhook { name, url, timeout, failure_policy: _, tls_config, hmac_secret_ref: _ } = webhook;
    let mut invalid = InvalidList::default();
    invalid.required(name, "name");
    let lax = tls_config.as_ref().is_some_and(|tls| tls.insecure_skip_verify == Some(true));
    if let Some(error) = web_url_error(url, lax) {
        invalid.add("url", error);
    }
    let nanos = timeout.as_ref().map_or(0, thv_api::value::GoDuration::as_nanos);
    let fine = nanos == 0 || (SECOND..=30 * SECOND).contains(&nanos);
    invalid.unless(fine, "timeout", "is not from 1s to 30s");
    if let Some(WebhookTls {
        ca_secret_ref: _,
        client_cert_secret_ref,
        client_key_secret_ref,
        insecure_skip_verify: _,
    }) = tls_config
    {
        let paired = client_cert_secret_ref.is_some() == client_key_secret_ref.is_some();
        invalid.unless(
            paired,
            "tlsConfig",
            "has a client certificate or its key and not the other: set both",
        );
    }
    invalid.finish()
}

/// The keys that webhooks need.
pub(super) fn needs(spec: &MCPWebhookConfigSpec) -> Vec<Need> {
    let MCPWebhookConfigSpec { validating, mutating } = spec;
    let lists = [("validating", validating), ("mutating", mutating)];
    let webhooks = lists.into_iter().flat_map(|(list, webhooks)| {
        webhooks.iter().flatten().enumerate().map(move |(index, it)| (list, index, it))
    });
    webhooks.flat_map(|(list, index, webhook)| webhook_needs(&format!("{list}[{index}]"), webhook)).collect()
}

fn webhook_needs(path: &str, webhook: &Webhook) -> Vec<Need> {
    let Webhook { name: _, url: _, timeout: _, failure_policy: _, tls_config, hmac_secret_ref } = webhook;
    let mut secrets = vec![("hmacSecretRef", hmac_secret_ref.as_ref())];
    if let Some(WebhookTls {
        ca_secret_ref,
        client_cert_secret_ref,
        client_key_secret_ref,
        insecure_skip_verify: _,
    }) = tls_config
    {
        secrets.push(("tlsConfig.caSecretRef", ca_secret_ref.as_ref()));
        secrets.push(("tlsConfig.clientCertSecretRef", client_cert_secret_ref.as_ref()));
        secrets.push(("tlsConfig.clientKeySecretRef", client_key_secret_ref.as_ref()));
    }
    secrets
        .into_iter()
        .filter_map(|(field, secret)| secret.map(|secret| Need::secret(field, secret).below(path)))
        .collect()
}

/// What has to be read for a reference.
pub(crate) fn references(WebhookConfigRef { name }: &WebhookConfigRef, known: &References) -> Vec<Reference> {
    config::references(
        Reference::object::<MCPWebhookConfigSpec>(name),
        known.object::<MCPWebhookConfigSpec>(name),
        needs,
    )
}

/// What becomes of a reference.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&WebhookConfigRef>,
    references: &References,
) -> Outcome<Config<MCPWebhookConfigSpec>> {
    Outcome::of(reference, |WebhookConfigRef { name }| usable(path, name, references))
}

fn usable(path: &str, name: &str, references: &References) -> Result<Config<MCPWebhookConfigSpec>, Unusable> {
    let spec = read(path, references.object::<MCPWebhookConfigSpec>(name), name)?;
    let config = valid(path, spec, name, validate(spec))?;
    complete::<MCPWebhookConfigSpec>(path, &needs(spec), name, references)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check_webhook(webhook: Value) -> Result<(), String> {
        let spec = serde_json::from_value(json!({"validating": [webhook]})).unwrap();
        validate(&spec).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn sound_webhooks_are_valid() {
        check_webhook(json!({"name": "w", "url": "https://w.example/x?y"})).unwrap();
        check_webhook(json!({"name": "w", "url": "http://w", "tlsConfig": {"insecureSkipVerify": true}}))
            .unwrap();
        check_webhook(json!({"name": "w", "url": "https://w", "timeout": "30s"})).unwrap();
    }

    #[test]
    fn nonsense_is_told_with_its_place() {
        let key = json!({"name": "s", "key": "k"});
        for (webhook, part) in [
            (json!({"name": "", "url": "https://w"}), "validating[0].name: is empty"),
            (json!({"name": "w", "url": "http://w"}), "validating[0].url: is an http URL"),
            (json!({"name": "w", "url": "https://w", "timeout": "31s"}), "validating[0].timeout"),
            (json!({"name": "w", "url": "https://w", "timeout": "999ms"}), "validating[0].timeout"),
            (json!({"name": "w", "url": "https://w", "tlsConfig": {"clientCertSecretRef": key}}), "set both"),
        ] {
            let error = check_webhook(webhook).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(validate(&MCPWebhookConfigSpec::default()).is_err());
    }

    #[test]
    fn every_secret_is_needed() {
        let key = |name: &str| json!({"name": name, "key": "k"});
        let tls =
            json!({"caSecretRef": key("a"), "clientCertSecretRef": key("b"), "clientKeySecretRef": key("c")});
        let webhook = json!({"name": "w", "url": "https://w", "tlsConfig": tls, "hmacSecretRef": key("d")});
        let spec = serde_json::from_value(json!({"mutating": [webhook]})).unwrap();
        let names: Vec<_> = needs(&spec).iter().map(|need| need.reference().name().to_owned()).collect();
        assert_eq!(names, ["d", "a", "b", "c"]);
    }
}
