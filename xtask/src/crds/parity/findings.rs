//! What a comparison has found.

use std::collections::BTreeSet;

use serde_json::Value;

/// Stands for what one side does not have.
pub(super) const ABSENT: &str = "–";

/// The two sides differ at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) ours: String,
    pub(super) theirs: String,
}

/// What is found in one kind, or in one version of it.
#[derive(Default)]
pub(super) struct Findings {
    /// Where a manifest could behave differently.
    pub(super) differences: Vec<Finding>,
    /// What is spelled differently and means the same.
    pub(super) notes: Vec<Finding>,
}

impl Findings {
    pub(super) fn differ(&mut self, path: &str, ours: String, theirs: String) {
        self.differences.push(Finding { path: path.to_owned(), ours, theirs });
    }

    pub(super) fn note(&mut self, path: &str, ours: String, theirs: String) {
        self.notes.push(Finding { path: path.to_owned(), ours, theirs });
    }

    /// Compares plain values. Null is the same as nothing.
    pub(super) fn values(&mut self, path: &str, ours: Option<&Value>, theirs: Option<&Value>) {
        let (ours, theirs) = (ours.filter(|value| !value.is_null()), theirs.filter(|value| !value.is_null()));
        if ours != theirs {
            let text = |value: Option<&Value>| value.map_or_else(|| ABSENT.to_owned(), shown);
            self.differ(path, text(ours), text(theirs));
        }
    }

    /// Compares lists whose order means nothing, member by member.
    pub(super) fn sets(&mut self, path: &str, ours: Option<&Value>, theirs: Option<&Value>) {
        let members = |list: Option<&Value>| -> BTreeSet<String> {
            list.and_then(Value::as_array).into_iter().flatten().map(shown).collect()
        };
        let (ours, theirs) = (members(ours), members(theirs));
        for member in ours.difference(&theirs) {
            self.differ(path, member.clone(), ABSENT.to_owned());
        }
        for member in theirs.difference(&ours) {
            self.differ(path, ABSENT.to_owned(), member.clone());
        }
    }

    /// Each difference in a line, for tests.
    #[cfg(test)]
    pub(super) fn differences(&self) -> Vec<String> {
        self.differences.iter().map(Finding::line).collect()
    }
}

impl Finding {
    #[cfg(test)]
    pub(super) fn line(&self) -> String {
        format!("{}: {} / {}", self.path, self.ours, self.theirs)
    }
}

/// A value as JSON, so that a text cannot be taken for a number.
pub(super) fn shown(value: &Value) -> String {
    value.to_string()
}
