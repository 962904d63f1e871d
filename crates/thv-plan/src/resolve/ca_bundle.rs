//! Certificate authorities from ConfigMaps.

use thv_api::names::children::keys;
use thv_api::shared::{CABundleSource, KeySelector};

use super::need::{Need, check};
use super::outcome::{Cause, Outcome, Unusable};
use crate::invalid::InvalidList;
use crate::reference::References;

/// Longest name of a ConfigMap that fits into the name of a volume.
const MAX_NAME: usize = 48;

/// Certificate authorities in a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaBundle {
    /// The name of the ConfigMap.
    pub config_map: String,
    /// The key in it.
    pub key: String,
}

/// What is wrong with a reference to certificate authorities.
pub fn validate(source: &CABundleSource) -> Result<(), InvalidList> {
    let CABundleSource { config_map_ref } = source;
    let mut invalid = InvalidList::default();
    match config_map_ref {
        None => invalid.add("configMapRef", "is missing: name a ConfigMap and a key in it"),
        Some(KeySelector { name, key, optional: _ }) => {
            invalid.required(name, "configMapRef.name");
            let fits = name.chars().count() <= MAX_NAME;
            invalid.unless(
                fits,
                "configMapRef.name",
                format!("is longer than {MAX_NAME} characters: use a shorter name"),
            );
            // The key becomes the name of a file.
            invalid.unless(
                !key.contains('/') && key != "..",
                "configMapRef.key",
                "is not a key of a ConfigMap",
            );
        }
    }
    invalid.finish()
}

/// The bundle that a reference means, whether it is there or not.
pub(crate) fn bundle(source: &CABundleSource) -> Option<CaBundle> {
    let KeySelector { name, key, optional: _ } = source.config_map_ref.as_ref()?;
    let key = if key.is_empty() { keys::CA_BUNDLE } else { key };
    Some(CaBundle { config_map: name.clone(), key: key.to_owned() })
}

/// The key that has to be there.
pub(crate) fn need(path: &str, source: &CABundleSource) -> Option<Need> {
    let CaBundle { config_map, key } = bundle(source)?;
    let optional = source.config_map_ref.as_ref().is_some_and(|selector| selector.optional == Some(true));
    Some(Need::config_map(path, &config_map, &key, optional))
}

/// The bundle, unless it is optional and not there.
pub(super) fn present(source: &CABundleSource, references: &References) -> Option<CaBundle> {
    need("", source).filter(|need| need.is_met(references)).and_then(|_| bundle(source))
}

/// What becomes of a bundle for an identity provider. One that is optional and not there counts as none.
pub(crate) fn resolve(
    path: &str,
    source: Option<&CABundleSource>,
    references: &References,
) -> Outcome<CaBundle> {
    let Some(source) = source else { return Outcome::NotReferenced };
    match usable(path, source, references) {
        Ok(None) => Outcome::NotReferenced,
        Ok(Some(bundle)) => Outcome::Usable(bundle),
        Err(unusable) => Outcome::Unusable(unusable),
    }
}

fn usable(
    path: &str,
    source: &CABundleSource,
    references: &References,
) -> Result<Option<CaBundle>, Unusable> {
    validate(source)
        .map_err(|invalid| Cause::Invalid.at(path, format!("caBundleRef is not valid: {invalid}")))?;
    let needs: Vec<Need> = need("caBundleRef", source).into_iter().collect();
    check(path, &needs, references).map_err(|Unusable { cause, invalid }| match cause {
        Cause::Incomplete if !is_there(source, references) => Unusable { cause: Cause::Absent, invalid },
        _ => Unusable { cause, invalid },
    })?;
    Ok(present(source, references))
}

/// Whether the ConfigMap is there, with the key or without.
fn is_there(source: &CABundleSource, references: &References) -> bool {
    bundle(source).is_some_and(|bundle| references.config_map(&bundle.config_map).found().is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::reference::{Read, Reference, Referent};

    fn source(name: &str, key: &str, optional: bool) -> CABundleSource {
        let optional = optional.then_some(true);
        CABundleSource {
            config_map_ref: Some(KeySelector { name: name.to_owned(), key: key.to_owned(), optional }),
        }
    }

    fn references(keys: &[&str]) -> References {
        let mut references = References::new();
        let data: BTreeMap<_, _> = keys.iter().map(|key| ((*key).to_owned(), String::new())).collect();
        let found = Read::Found(Referent::ConfigMap(Arc::new(data)));
        references.insert(Reference::config_map("ca"), found);
        references
    }

    #[test]
    fn the_key_is_ca_crt_unless_said_otherwise() {
        let outcome = resolve("spec.x", Some(&source("ca", "", false)), &references(&["ca.crt"]));
        let expected = CaBundle { config_map: "ca".to_owned(), key: "ca.crt".to_owned() };
        assert_eq!(outcome, Outcome::Usable(expected));
    }

    #[test]
    fn a_missing_config_map_and_a_missing_key_are_told_apart_and_waited_for() {
        for (keys, cause) in [(None, Cause::Absent), (Some(["x"]), Cause::Incomplete)] {
            let references = keys.map_or_else(References::new, |keys| references(&keys));
            let outcome = resolve("spec.x", Some(&source("ca", "k", false)), &references);
            assert_eq!(outcome.unusable().unwrap().cause, cause);
        }
    }

    #[test]
    fn an_optional_bundle_that_is_not_there_counts_as_none() {
        assert_eq!(
            resolve("spec.x", Some(&source("ca", "k", true)), &References::new()),
            Outcome::NotReferenced
        );
        assert!(resolve("spec.x", Some(&source("ca", "k", true)), &references(&["k"])).usable().is_some());
    }

    #[test]
    fn names_that_fit_no_volume_are_refused() {
        for bad in [source(&"x".repeat(49), "k", false), source("", "k", false), CABundleSource::default()] {
            let outcome = resolve("spec.x", Some(&bad), &References::new());
            assert_eq!(outcome.unusable().unwrap().cause, Cause::Invalid);
        }
    }
}
