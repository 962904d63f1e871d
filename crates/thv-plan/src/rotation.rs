//! Restarts when content is rotated: when it changes behind a name that stays.
//!
//! Pods do not restart for that by themselves, and many keys are read once. Whoever wants it asks for it with an
//! annotation; a digest of the content on the pods then replaces them.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::json;
use thv_api::names::annotations::RESTART_ON_ROTATION;

use crate::digest::digest;
use crate::env::EnvValue;
use crate::reference::{Read, References};
use crate::run_config::{VolumeWiring, Wiring};
use crate::volumes::VolumeSource;

/// A key of a Secret or of a ConfigMap that pods use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Used<'a> {
    Secret { name: &'a str, key: &'a str },
    ConfigMap { name: &'a str, key: &'a str },
}

/// Whether the user of an object wants its pods to restart when content is rotated.
pub(crate) fn is_requested(metadata: &ObjectMeta) -> bool {
    requested(metadata) == Some("true")
}

/// What is wrong with the annotation, if it is neither true nor false.
pub(crate) fn invalid_annotation(metadata: &ObjectMeta) -> Option<String> {
    let text = requested(metadata).filter(|text| !["true", "false"].contains(text))?;
    Some(format!(
        "the annotation {RESTART_ON_ROTATION} is {text:?} and has no effect: set it to true or false"
    ))
}

fn requested(metadata: &ObjectMeta) -> Option<&str> {
    metadata.annotations.as_ref()?.get(RESTART_ON_ROTATION).map(String::as_str)
}

/// The keys that a proxy uses because of what its object refers to.
pub(crate) fn used_by(wiring: &Wiring) -> Vec<Used<'_>> {
    let Wiring { env, volumes } = wiring;
    let variables = env.iter().filter_map(|(_, value)| match value {
        EnvValue::Secret { name, key } => Some(Used::Secret { name, key }),
        EnvValue::Literal(_) | EnvValue::Annotation(_) | EnvValue::Field(_) | EnvValue::Entry(_) => None,
    });
    variables.chain(volumes.iter().flat_map(files)).collect()
}

/// The keys that become files. A whole ConfigMap is not among them: what we mount whole is in the configuration too.
fn files(VolumeWiring { name: _, source, mount: _ }: &VolumeWiring) -> Vec<Used<'_>> {
    match source {
        VolumeSource::Secret { name, items, mode: _ } => {
            items.keys().map(|key| Used::Secret { name, key }).collect()
        }
        VolumeSource::ConfigMap { name, items } => {
            items.keys().map(|key| Used::ConfigMap { name, key }).collect()
        }
        VolumeSource::HostPath(_) => Vec::new(),
    }
}

/// A digest of the content behind these keys; nothing if there is none. The order of the keys does not matter.
pub(crate) fn content_digest<'a>(
    used: impl IntoIterator<Item = Used<'a>>,
    references: &References,
) -> Option<String> {
    let used: BTreeSet<Used<'_>> = used.into_iter().collect();
    let content: BTreeMap<String, &str> = used.iter().filter_map(|used| behind(used, references)).collect();
    (!content.is_empty()).then(|| digest(&json!(content)))
}

/// What is known of the content behind a key.
fn behind<'a>(used: &Used<'_>, references: &'a References) -> Option<(String, &'a str)> {
    match *used {
        Used::Secret { name, key } => match references.secret(name) {
            Read::Found(keys) => Some((format!("Secret/{name}/{key}"), keys.get(key)?.as_str())),
            Read::Absent | Read::Malformed(_) => None,
        },
        Used::ConfigMap { name, key } => match references.config_map(name) {
            Read::Found(data) => Some((format!("ConfigMap/{name}/{key}"), data.get(key)?.as_str())),
            Read::Absent | Read::Malformed(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Reference, Referent};

    fn with(uid: &str, content: &str) -> References {
        let mut references = References::new();
        let secret = Referent::secret(uid, [("k", content.as_bytes()), ("other", content.as_bytes())]);
        references.insert(Reference::secret("s"), Read::Found(secret));
        references
    }

    const KEY: Used<'_> = Used::Secret { name: "s", key: "k" };

    #[test]
    fn only_content_that_is_used_counts_and_it_cannot_be_guessed() {
        let digest = |references: &References| content_digest([KEY], references).unwrap();
        let before = digest(&with("u", "one"));
        assert_eq!(before, digest(&with("u", "one")));
        assert_ne!(before, digest(&with("u", "two")));
        // Who does not know the uid of the Secret has nothing to try passwords with.
        assert_ne!(before, digest(&with("v", "one")));
        assert_eq!(content_digest([Used::Secret { name: "s", key: "gone" }], &with("u", "one")), None);
        assert_eq!(content_digest([KEY, KEY], &with("u", "one")), Some(before));
    }

    #[test]
    fn an_annotation_that_is_neither_true_nor_false_is_told() {
        let metadata = |text: &str| ObjectMeta {
            annotations: Some([(RESTART_ON_ROTATION.to_owned(), text.to_owned())].into()),
            ..ObjectMeta::default()
        };
        assert!(is_requested(&metadata("true")) && invalid_annotation(&metadata("true")).is_none());
        assert!(!is_requested(&metadata("false")) && invalid_annotation(&metadata("false")).is_none());
        assert!(!is_requested(&metadata("yes")) && invalid_annotation(&metadata("yes")).is_some());
        assert!(
            !is_requested(&ObjectMeta::default()) && invalid_annotation(&ObjectMeta::default()).is_none()
        );
    }
}
