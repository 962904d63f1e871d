//! What users asked for and did not get, because it would displace something that the system depends on.

use std::collections::BTreeSet;

/// The wishes that were refused. A wish is named by the field that it was made in, so that its user finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusals(BTreeSet<String>);

impl Refusals {
    /// Refuses what stands in this field.
    pub(crate) fn refuse(&mut self, field: impl Into<String>, why: &str) {
        self.0.insert(format!("{}: {why}", field.into()));
    }

    /// Whether nothing was refused.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them in one sentence. They are sorted, so the same refusals always read the same.
    pub(crate) fn message(&self) -> String {
        let all: Vec<&str> = self.0.iter().map(String::as_str).collect();
        format!("ignored: {}", all.join("; "))
    }
}

/// Why a name is refused that we set ourselves.
pub(crate) const RESERVED: &str = "set by the operator";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_read_the_same_in_any_order() {
        let (mut one, mut other) = (Refusals::default(), Refusals::default());
        assert!(one.is_empty());
        for field in ["b", "a"] {
            one.refuse(field, RESERVED);
        }
        for field in ["a", "b", "a"] {
            other.refuse(field, RESERVED);
        }
        assert_eq!(one.message(), other.message());
        assert_eq!(one.message(), "ignored: a: set by the operator; b: set by the operator");
    }
}
