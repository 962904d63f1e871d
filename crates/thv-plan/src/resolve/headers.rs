//! Headers that are added to every request to a remote server: `headerForward`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use thv_api::names::env;
use thv_api::shared::{HeaderForward, SecretHeader, SecretKeyRef};
use thv_config::header;

use super::need::{Need, check};
use super::outcome::{Cause, Outcome};
use crate::digest::canonical;
use crate::env::EnvValue;
use crate::invalid::InvalidList;
use crate::reference::References;

/// How many headers there may be, and how many bytes those may have that stand in the spec: servers refuse more.
const MOST: usize = 64;
const MOST_BYTES: usize = 8 * 1024;

/// Headers that are added to every request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headers {
    /// With values that anyone may read.
    pub plain: BTreeMap<String, String>,
    /// With values from Secrets.
    pub secret: BTreeMap<String, SecretHeaderValue>,
}

/// Where the value of a header is.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretHeaderValue {
    /// The name under which whoever sends the header asks for it.
    pub id: String,
    /// The Secret.
    pub secret: SecretKeyRef,
}

impl Headers {
    /// The variables in which a gateway has the headers for the backend of this name: one with all of them, which names
    /// one for each that comes from a Secret.
    pub(crate) fn gateway_variables(&self, backend: &str) -> Vec<(String, EnvValue)> {
        let Self { plain, secret } = self;
        if plain.is_empty() && secret.is_empty() {
            return Vec::new();
        }
        let ids: BTreeMap<_, _> = secret.iter().map(|(header, value)| (header, &value.id)).collect();
        let all = json!({ "addPlaintextHeaders": plain, "addHeadersFromSecret": ids });
        // What looks like a variable in a value is none: Kubernetes makes one `$` of two.
        let text = canonical(&all).replace('$', "$$");
        let secrets = secret.values().map(|SecretHeaderValue { id, secret: SecretKeyRef { name, key } }| {
            (env::secret(id), EnvValue::Secret { name: name.clone(), key: key.clone() })
        });
        [(env::header_forward(backend), EnvValue::Literal(text))].into_iter().chain(secrets).collect()
    }
}

/// What is wrong with headers. A name counts once, whatever its case, and so do names that would be one variable.
pub(crate) fn validate(headers: &HeaderForward) -> Result<(), InvalidList> {
    let HeaderForward { add_plaintext_headers, add_headers_from_secret } = headers;
    let mut invalid = InvalidList::default();
    let mut seen = BTreeSet::new();
    let plain = add_plaintext_headers.iter().flatten();
    let plain = plain.map(|(name, value)| (format!("addPlaintextHeaders[{name:?}]"), name, Some(value)));
    let secret = add_headers_from_secret.iter().flatten();
    let secret = secret.map(|SecretHeader { header_name, value_secret_ref: _ }| {
        (format!("addHeadersFromSecret[{header_name:?}]"), header_name, None)
    });
    let bytes: usize =
        add_plaintext_headers.iter().flatten().map(|(name, value)| name.len() + value.len()).sum();
    let count =
        add_plaintext_headers.iter().flatten().count() + add_headers_from_secret.iter().flatten().count();
    invalid.unless(
        count <= MOST && bytes <= MOST_BYTES,
        "addPlaintextHeaders",
        format!("and addHeadersFromSecret have more than {MOST} headers or {MOST_BYTES} bytes: remove some"),
    );
    let mut variables = BTreeSet::new();
    for (path, name, value) in plain.chain(secret) {
        let lower = name.to_ascii_lowercase();
        let is_new = value.is_some() || variables.insert(env::header_forward_secret_id(name, ""));
        invalid.unless(
            is_new || seen.contains(&lower),
            &path,
            "becomes the same variable as another: rename it",
        );
        invalid.unless(header::is_name(name), &path, "is not the name of a header");
        invalid.unless(!header::is_restricted(name), &path, "is not yours to set: remove it");
        invalid.unless(
            value.is_none_or(|value| header::is_value(value)),
            &path,
            "has a value with a line break",
        );
        invalid.unless(seen.insert(lower), &path, "is there twice: remove one of them");
    }
    invalid.finish()
}

/// The keys that headers need.
pub(crate) fn needs(headers: &HeaderForward) -> Vec<Need> {
    let all = headers.add_headers_from_secret.iter().flatten();
    all.map(|SecretHeader { header_name, value_secret_ref }| {
        Need::secret(format!("headerForward.addHeadersFromSecret[{header_name:?}]"), value_secret_ref)
    })
    .collect()
}

/// What becomes of the headers of an object of this name.
pub(crate) fn resolve(
    path: &str,
    headers: Option<&HeaderForward>,
    owner: &str,
    references: &References,
) -> Outcome<Headers> {
    Outcome::of(headers, |headers| {
        validate(headers).map_err(|invalid| Cause::Invalid.at(path, invalid.to_string()))?;
        check(path, &needs(headers), references)?;
        let secret = headers.add_headers_from_secret.iter().flatten();
        let secret = secret.map(|SecretHeader { header_name, value_secret_ref }| {
            let id = env::header_forward_secret_id(header_name, owner);
            (header_name.clone(), SecretHeaderValue { id, secret: value_secret_ref.clone() })
        });
        Ok(Headers {
            plain: headers.add_plaintext_headers.clone().unwrap_or_default(),
            secret: secret.collect(),
        })
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
            (json!({"addPlaintextHeaders": {"Host": "h"}}), "not yours to set"),
            (json!({"addPlaintextHeaders": {"x-a": "1"}, "addHeadersFromSecret": secret("X-A")}), "twice"),
        ] {
            let error = check_headers(headers).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    /// What a kubelet makes of the value of a variable where `X` is another one.
    fn expanded(text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            rest = match (after.strip_prefix('$'), after.strip_prefix("(X)")) {
                (Some(after), _) => {
                    out.push('$');
                    after
                }
                (None, Some(after)) => {
                    out.push_str("secret");
                    after
                }
                (None, None) => {
                    out.push('$');
                    after
                }
            };
        }
        out + rest
    }

    proptest::proptest! {
        #[test]
        fn nothing_in_a_header_becomes_the_value_of_a_variable(value in "[$()X]{0,12}") {
            let plain = [("X-A".to_owned(), value)].into();
            let headers = Headers { plain, secret: BTreeMap::new() };
            let variables = headers.gateway_variables("b");
            let [(_, EnvValue::Literal(text))] = variables.as_slice() else { panic!("{variables:?}") };
            let read: Value = serde_json::from_str(&expanded(text)).unwrap();
            proptest::prop_assert_eq!(&read["addPlaintextHeaders"], &json!(headers.plain));
        }
    }
}
