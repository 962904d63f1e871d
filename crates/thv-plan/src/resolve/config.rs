//! Configuration objects that servers refer to.

use serde::Serialize;
use thv_api::{Kind, Object};

use super::flaw::Invalid;
use super::need::{Need, check};
use super::outcome::Hitch;
use crate::digest::digest;
use crate::reference::{Read, References};

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

/// The spec of a configuration object, if it is there and can be read.
pub(super) fn read<'a, S: Kind>(read: Read<&'a Object<S>>, name: &str) -> Result<&'a S, Hitch> {
    match read {
        Read::Found(object) => Ok(&object.spec),
        Read::Absent => Err(Hitch::Absent(format!(
            "the {} {name:?} does not exist: create it, or remove the reference",
            S::KIND
        ))),
        Read::Malformed(why) => {
            Err(Hitch::Invalid(format!("the {} {name:?} cannot be read: {why}", S::KIND)))
        }
    }
}

/// A configuration object that turned out to be valid.
pub(super) fn valid<S: Kind>(spec: &S, name: &str, result: Result<(), Invalid>) -> Result<Config<S>, Hitch> {
    match result {
        Ok(()) => Ok(Config {
            name: name.to_owned(),
            hash: config_hash(spec),
            spec: spec.clone(),
            notes: Vec::new(),
        }),
        Err(invalid) => Err(Hitch::Invalid(format!("the {} {name:?} is not valid: {invalid}", S::KIND))),
    }
}

/// Checks that everything is there that a configuration object needs.
pub(super) fn complete<S: Kind>(needs: &[Need], name: &str, references: &References) -> Result<(), Hitch> {
    let place = |text: String| format!("in the {} {name:?}, {text}", S::KIND);
    check(needs, references).map_err(|hitch| match hitch {
        Hitch::Absent(text) => Hitch::Absent(place(text)),
        Hitch::Incomplete(text) => Hitch::Incomplete(place(text)),
        Hitch::Invalid(text) => Hitch::Invalid(place(text)),
    })
}
