//! Where in a document we are.

use std::fmt;

use serde_json::Value;

use super::error::{MergeError, MergeErrorKind};

/// A place in a document, as a chain that lives on the stack and is written out only when something is wrong.
pub(super) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    /// The list item whose key has this value.
    Item(&'a Path<'a>, &'a str, &'a Value),
}

impl<'a> Path<'a> {
    pub(super) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(super) fn item(&'a self, key: &'a str, value: &'a Value) -> Self {
        Self::Item(self, key, value)
    }

    /// Something is wrong here.
    pub(super) fn problem(&self, problem: MergeErrorKind) -> MergeError {
        MergeError::new(self.to_string(), problem)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Path::Root, name) => formatter.write_str(name),
            Self::Field(parent, name) => write!(formatter, "{parent}.{name}"),
            Self::Item(parent, key, Value::String(value)) => write!(formatter, "{parent}[{key}={value}]"),
            Self::Item(parent, key, value) => write!(formatter, "{parent}[{key}={value}]"),
        }
    }
}
