//! Headers that are added to every request to a remote server: `headerForward`.

use std::collections::BTreeMap;

use serde_json::json;
use thv_api::names::env;
use thv_api::shared::{HeaderForward, SecretHeader, SecretKeyRef};

use super::need::{Need, check};
use super::outcome::{Cause, Outcome};
use crate::digest::canonical;
use crate::env::EnvValue;
use crate::invalid::InvalidList;
use crate::reference::References;

/// Headers that belong to the connection or to whoever signs in, and are not the user's to set.
const RESERVED: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What is wrong with headers. A name counts once, whatever its case.
pub(crate) fn validate(headers: &HeaderForward) -> Result<(), InvalidList> {
    let HeaderForward { add_plaintext_headers, add_headers_from_secret } = headers;
    let mut invalid = InvalidList::default();
    let mut seen: Vec<String> = Vec::new();
    let plain = add_plaintext_headers.iter().flatten();
    let plain = plain.map(|(name, value)| (format!("addPlaintextHeaders[{name:?}]"), name, Some(value)));
    let secret = add_headers_from_secret.iter().flatten();
    let secret = secret.map(|SecretHeader { header_name, value_secret_ref: _ }| {
        (format!("addHeadersFromSecret[{header_name:?}]"), header_name, None)
    });
    for (path, name, value) in plain.chain(secret) {
        let lower = name.to_ascii_lowercase();
        invalid.unless(is_token(name), &path, "is not the name of a header");
        invalid.unless(!RESERVED.contains(&lower.as_str()), &path, "belongs to the connection: remove it");
        invalid.unless(!seen.contains(&lower), &path, "is there twice: remove one of them");
        invalid.unless(value.is_none_or(|value| is_value(value)), &path, "has a value with a line break");
        seen.push(lower);
    }
    invalid.finish()
}

/// Whether a text is a token, as the names of headers are.
fn is_token(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_fine)
}

fn is_value(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_control())
}

/// The keys that headers need.
pub(crate) fn needs(headers: &HeaderForward) -> Vec<Need> {
    let all = headers.add_headers_from_secret.iter().flatten();
    all.map(|SecretHeader { header_name, value_secret_ref }| {
        Need::secret(format!("headerForward.addHeadersFromSecret[{header_name:?}]"), value_secret_ref)
    })
    .collect()
}

/// The variables in which a gateway has the headers for the backend of this name: one with all of them, which names one
/// for each that comes from a Secret.
pub(crate) fn variables(backend: &str, headers: &HeaderForward) -> Vec<(String, EnvValue)> {
    let HeaderForward { add_plaintext_headers, add_headers_from_secret } = headers;
    let plain = add_plaintext_headers.clone().unwrap_or_default();
    let secret: BTreeMap<_, _> = add_headers_from_secret
        .iter()
        .flatten()
        .map(|it| (it.header_name.clone(), env::header_forward_secret_id(&it.header_name, backend)))
        .collect();
    if plain.is_empty() && secret.is_empty() {
        return Vec::new();
    }
    let all = json!({ "addPlaintextHeaders": plain, "addHeadersFromSecret": secret });
    // What looks like a variable in a value is none.
    let text = canonical(&all).replace("$(", "$$(");
    let secrets = add_headers_from_secret.iter().flatten().map(|it| {
        let SecretKeyRef { name, key } = it.value_secret_ref.clone();
        (env::header_forward_secret(&it.header_name, backend), EnvValue::Secret { name, key })
    });
    [(env::header_forward(backend), EnvValue::Literal(text))].into_iter().chain(secrets).collect()
}

/// Whether headers can be sent.
pub(crate) fn resolve(path: &str, headers: Option<&HeaderForward>, references: &References) -> Outcome<()> {
    Outcome::of(headers, |headers| {
        validate(headers).map_err(|invalid| Cause::Invalid.at(path, invalid.to_string()))?;
        check(path, &needs(headers), references)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check_headers(headers: Value) -> Result<(), String> {
        validate(&serde_json::from_value(headers).unwrap()).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn headers_that_can_be_sent_are_valid_and_others_are_told() {
        let secret = |name: &str| json!([{"headerName": name, "valueSecretRef": {"name": "s", "key": "k"}}]);
        check_headers(json!({"addPlaintextHeaders": {"X-A": "1\t2"}, "addHeadersFromSecret": secret("X-B")}))
            .unwrap();
        for (headers, part) in [
            (json!({"addPlaintextHeaders": {"X A": "1"}}), "not the name of a header"),
            (json!({"addPlaintextHeaders": {"X-A": "1\r\nX-B: 2"}}), "line break"),
            (json!({"addPlaintextHeaders": {"Host": "h"}}), "belongs to the connection"),
            (json!({"addPlaintextHeaders": {"x-a": "1"}, "addHeadersFromSecret": secret("X-A")}), "twice"),
        ] {
            let error = check_headers(headers).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
