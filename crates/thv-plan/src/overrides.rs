//! Overrides that are ignored, because they would displace something that the system depends on.

use std::collections::BTreeSet;

/// The overrides that are ignored, each with the field that it stands in, so that its user finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IgnoredOverrides(BTreeSet<String>);

impl IgnoredOverrides {
    /// Ignores what stands in this field.
    pub(crate) fn ignore(&mut self, field: impl Into<String>, why: &str) {
        self.0.insert(format!("{}: {why}", field.into()));
    }

    /// Whether nothing is ignored.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them in one sentence. They are sorted, so the same ones always read the same.
    pub(crate) fn message(&self) -> String {
        let all: Vec<&str> = self.0.iter().map(String::as_str).collect();
        format!("ignored: {}", all.join("; "))
    }
}

/// Why an override is ignored of something that we set ourselves.
pub(crate) const RESERVED: &str = "set by the operator";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_does_not_depend_on_the_order() {
        let (mut one, mut other) = (IgnoredOverrides::default(), IgnoredOverrides::default());
        assert!(one.is_empty());
        for field in ["b", "a"] {
            one.ignore(field, RESERVED);
        }
        for field in ["a", "b", "a"] {
            other.ignore(field, RESERVED);
        }
        assert_eq!(one.message(), other.message());
        assert_eq!(one.message(), "ignored: a: set by the operator; b: set by the operator");
    }
}
