//! Keys of Secrets and ConfigMaps that a configuration needs.
//!
//! Every kind of configuration lists them once. The list says what to read and watch, and what has to be there.

use thv_api::shared::SecretKeyRef;

use super::outcome::{Cause, Unusable};
use crate::reference::{Read, Reference, References};

/// One key of a Secret or ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// The field that asks for it, such as `inline.clientSecretRef`.
    path: String,
    of: Holder,
    name: String,
    key: String,
    /// Whether everything works without it too.
    optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    ConfigMap,
    Secret,
}

impl Need {
    /// A key of a Secret.
    pub(super) fn secret(path: impl Into<String>, SecretKeyRef { name, key }: &SecretKeyRef) -> Self {
        Self { path: path.into(), of: Holder::Secret, name: name.clone(), key: key.clone(), optional: false }
    }

    /// A key of a ConfigMap.
    pub(super) fn config_map(path: impl Into<String>, name: &str, key: &str, optional: bool) -> Self {
        Self {
            path: path.into(),
            of: Holder::ConfigMap,
            name: name.to_owned(),
            key: key.to_owned(),
            optional,
        }
    }

    /// The same need of something that is itself at `path`.
    pub(super) fn below(mut self, path: &str) -> Self {
        self.path = format!("{path}.{}", self.path);
        self
    }

    /// What to read.
    pub(crate) fn reference(&self) -> Reference {
        match self.of {
            Holder::ConfigMap => Reference::config_map(&self.name),
            Holder::Secret => Reference::secret(&self.name),
        }
    }

    /// Whether the key is there, optional or not.
    pub(super) fn is_met(&self, references: &References) -> bool {
        self.missing(references).is_none()
    }

    /// What is missing, and whether it may appear.
    fn missing(&self, references: &References) -> Option<(Cause, String)> {
        let Self { path, of, name, key, optional: _ } = self;
        let (what, has_key) = match of {
            Holder::ConfigMap => {
                ("ConfigMap", has(references.config_map(name), |data| data.contains_key(key)))
            }
            Holder::Secret => ("Secret", has(references.secret(name), |keys| keys.contains_key(key))),
        };
        if name.is_empty() || key.is_empty() {
            return Some((Cause::Invalid, format!("{path} needs the name of a {what} and a key in it")));
        }
        match has_key {
            Read::Found(true) => None,
            Read::Found(false) => Some((
                Cause::Incomplete,
                format!(
                    "{path} refers to the key {key:?} of the {what} {name:?}, which has no such key: add it"
                ),
            )),
            Read::Absent => Some((
                Cause::Incomplete,
                format!("{path} refers to the {what} {name:?}, which does not exist: create it"),
            )),
            Read::Malformed(why) => Some((
                Cause::Invalid,
                format!("{path} refers to the {what} {name:?}, which cannot be read: {why}"),
            )),
        }
    }
}

fn has<T>(read: Read<&T>, has_key: impl FnOnce(&T) -> bool) -> Read<bool> {
    match read {
        Read::Absent => Read::Absent,
        Read::Malformed(why) => Read::Malformed(why),
        Read::Found(value) => Read::Found(has_key(value)),
    }
}

/// Checks that everything is there that has to be, for the reference in the field at `path`. All that is missing is
/// told at once, unless something cannot appear by itself.
pub(super) fn check(path: &str, needs: &[Need], references: &References) -> Result<(), Unusable> {
    let mut missing = Vec::new();
    for (cause, message) in
        needs.iter().filter(|need| !need.optional).filter_map(|need| need.missing(references))
    {
        if cause != Cause::Incomplete {
            return Err(cause.at(path, message));
        }
        missing.push(message);
    }
    if missing.is_empty() { Ok(()) } else { Err(Cause::Incomplete.at(path, missing.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Referent;

    fn need(name: &str, key: &str) -> Need {
        Need::secret("a.b", &SecretKeyRef { name: name.to_owned(), key: key.to_owned() })
    }

    #[test]
    fn what_is_missing_is_told_all_at_once_and_can_appear() {
        let mut references = References::new();
        references.insert(Reference::secret("s"), Read::Found(Referent::secret("u", [("there", "content")])));
        assert_eq!(check("spec.x", &[need("s", "there")], &references), Ok(()));
        let Unusable { cause, invalid } =
            check("spec.x", &[need("s", "gone"), need("t", "k")], &references).unwrap_err();
        assert_eq!((cause, invalid.path.as_str()), (Cause::Incomplete, "spec.x"));
        let message = invalid.message;
        assert!(message.contains("key \"gone\" of the Secret \"s\""), "{message}");
        assert!(message.contains("Secret \"t\", which does not exist"), "{message}");
    }

    #[test]
    fn an_empty_name_cannot_appear() {
        assert_eq!(check("x", &[need("", "k")], &References::new()).unwrap_err().cause, Cause::Invalid);
    }

    #[test]
    fn what_is_optional_is_not_waited_for() {
        let optional = Need::config_map("c", "m", "k", true);
        assert_eq!(check("x", std::slice::from_ref(&optional), &References::new()), Ok(()));
        assert!(!optional.is_met(&References::new()));
    }
}
