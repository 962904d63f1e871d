//! Texts that must not be seen.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::ser::{Error, Serializer};
use serde::{Deserialize, Serialize};

/// What a refused credential says. The writer recognises it.
pub(crate) const REFUSAL: &str =
    "holds a credential, which must not be written: hand it over by environment variable or file";

/// A credential that stands in a document itself.
///
/// It can be read, because older documents have it, but it is never shown and never written: to write a
/// document that holds one is an error. The empty text stands for "none" and can be written.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a credential in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether there is no credential.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The credential itself. Whoever calls this is responsible for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Secret(none)" } else { "Secret(…)" })
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_empty() { serializer.serialize_str("") } else { Err(S::Error::custom(REFUSAL)) }
    }
}

/// A credential, or the name under which a secrets provider has it: `NAME,target=TARGET`.
///
/// Only the name is shown, and only the name can be written.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Credential(String);

impl Credential {
    /// Takes in either form.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether there is neither a credential nor a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name and target, if this is a reference.
    pub fn reference(&self) -> Option<SecretReference<'_>> {
        SecretReference::parse(&self.0)
    }

    /// The text, in either form. Whoever calls this is responsible for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reference() {
            Some(reference) => f.debug_tuple("Credential").field(&reference).finish(),
            None if self.is_empty() => f.write_str("Credential(none)"),
            None => f.write_str("Credential(…)"),
        }
    }
}

impl Serialize for Credential {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_empty() || self.reference().is_some() {
            serializer.serialize_str(&self.0)
        } else {
            Err(S::Error::custom(REFUSAL))
        }
    }
}

/// The name of a secret at its provider, and what it is for: `NAME,target=TARGET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretReference<'a> {
    /// Name at the secrets provider.
    pub name: &'a str,
    /// Where the value goes, such as the name of an environment variable.
    pub target: &'a str,
}

impl<'a> SecretReference<'a> {
    /// Takes `NAME,target=TARGET` apart; nothing if the text has another form.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (name, target) = text.split_once(",target=")?;
        let plain = |part: &str| !part.is_empty() && !part.contains(',');
        (plain(name) && plain(target)).then_some(Self { name, target })
    }
}

/// Something that has to be written but must not be shown: people put credentials into environment variables,
/// headers, arguments and URLs.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Guarded<T>(pub T);

impl<T> From<T> for Guarded<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl fmt::Debug for Guarded<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "\"\"" } else { "\"…\"" })
    }
}

impl fmt::Debug for Guarded<Vec<String>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} hidden]", self.0.len())
    }
}

impl fmt::Debug for Guarded<BTreeMap<String, String>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|key| (key, format_args!("…")))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_neither_shown_nor_written() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert!(serde_json::to_string(&secret).unwrap_err().to_string().contains(REFUSAL));
        assert_eq!(secret.expose(), "hunter2");

        let plain = Credential::new("hunter2");
        assert_eq!(format!("{plain:?}"), "Credential(…)");
        assert!(serde_json::to_string(&plain).is_err());
    }

    #[test]
    fn absence_and_references_are_written() {
        assert_eq!(serde_json::to_string(&Secret::default()).unwrap(), "\"\"");
        assert_eq!(serde_json::to_string(&Credential::default()).unwrap(), "\"\"");
        let reference = Credential::new("api-keys,target=bearer_token");
        assert_eq!(serde_json::to_string(&reference).unwrap(), "\"api-keys,target=bearer_token\"");
        assert!(format!("{reference:?}").contains("api-keys"));
    }

    #[test]
    fn a_reference_has_a_name_and_a_target() {
        let reference = SecretReference::parse("api-keys,target=API_TOKEN").unwrap();
        assert_eq!((reference.name, reference.target), ("api-keys", "API_TOKEN"));
        for text in [
            "",
            "api-keys",
            "api-keys,target=",
            ",target=A",
            "a,target=b,target=c",
            "a,b,target=c",
            "a,Target=b",
        ] {
            assert_eq!(SecretReference::parse(text), None, "{text}");
        }
    }

    #[test]
    fn guarded_values_show_keys_and_sizes() {
        let map: BTreeMap<String, String> = [("TOKEN".to_owned(), "hunter2".to_owned())].into();
        assert_eq!(format!("{:?}", Guarded(map)), r#"{"TOKEN": …}"#);
        assert_eq!(format!("{:?}", Guarded(vec!["--token=hunter2".to_owned()])), "[1 hidden]");
        assert_eq!(format!("{:?}", Guarded("hunter2".to_owned())), "\"…\"");
    }
}
