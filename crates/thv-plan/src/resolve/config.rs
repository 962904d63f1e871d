//! Configuration objects that others refer to.

use serde::Serialize;
use thv_api::Kind;

use super::need::{Need, check};
use super::outcome::{Cause, Unusable};
use crate::digest::digest;
use crate::invalid::InvalidList;
use crate::reference::{Definition, Read, Reference, References};

/// A configuration object that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<T> {
    /// Its name.
    pub name: String,
    /// Digest of its spec, for the status of whoever uses it.
    pub hash: String,
    /// What it says.
    pub spec: T,
    /// Settings of it that have no effect here, and what to do about it. For the condition's message.
    pub notes: Vec<String>,
}

/// The digest of a spec: the same for equal specs, and short.
pub fn config_hash<T: Serialize>(spec: &T) -> String {
    let value = serde_json::to_value(spec).unwrap_or_default();
    digest(&value).chars().take(8).collect()
}

/// What has to be read for a configuration object: the object, and what it needs in turn once it has been read.
pub(super) fn references<S: Kind>(
    object: Reference,
    read: Read<Definition<'_, S>>,
    needs: impl FnOnce(&S) -> Vec<Need>,
) -> Vec<Reference> {
    let needs = read.found().map(|found| needs(found.spec)).unwrap_or_default();
    [object].into_iter().chain(needs.iter().map(Need::reference)).collect()
}

/// The spec of a configuration object, if it is there and can be read. `path` is the field with the reference.
pub(super) fn read<'a, S: Kind>(
    path: &str,
    read: Read<Definition<'a, S>>,
    name: &str,
) -> Result<&'a S, Unusable> {
    let kind = S::KIND;
    match read {
        Read::Found(found) => Ok(found.spec),
        Read::Absent => Err(Cause::Absent
            .at(path, format!("the {kind} {name:?} does not exist: create it, or remove the reference"))),
        Read::Malformed(why) => {
            Err(Cause::Invalid.at(path, format!("the {kind} {name:?} cannot be read: {why}")))
        }
    }
}

/// A configuration object that turned out to be valid.
pub(super) fn valid<S: Kind>(
    path: &str,
    spec: &S,
    name: &str,
    result: Result<(), InvalidList>,
) -> Result<Config<S>, Unusable> {
    match result {
        Ok(()) => Ok(Config {
            name: name.to_owned(),
            hash: config_hash(spec),
            spec: spec.clone(),
            notes: Vec::new(),
        }),
        Err(invalid) => {
            Err(Cause::Invalid.at(path, format!("the {} {name:?} is not valid: {invalid}", S::KIND)))
        }
    }
}

/// Checks that everything is there that a configuration object needs. A need that names nothing counts as one that is
/// not there: the object itself is valid, and incomplete.
pub(super) fn complete<S: Kind>(
    path: &str,
    needs: &[Need],
    name: &str,
    references: &References,
) -> Result<(), Unusable> {
    check(path, needs, references).map_err(|Unusable { cause: _, invalid }| {
        Cause::Incomplete.at(path, format!("in the {} {name:?}, {}", S::KIND, invalid.message))
    })
}
