//! What can be wrong with a document.

use std::borrow::Cow;
use std::fmt;

/// All that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub Vec<Problem>);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration of the virtual server is not valid: ")?;
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Something that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place in the document, such as `backends[0].url`. Below `authServerConfig` is what stands in the file
    /// of the authorization server.
    pub path: String,
    /// What is wrong there, and what to do. Names keys and objects but no values: those may be credentials.
    pub message: Cow<'static, str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Collects problems.
#[derive(Default)]
pub(super) struct Report(Vec<Problem>);

impl Report {
    pub(super) fn add(&mut self, path: impl Into<String>, message: impl Into<Cow<'static, str>>) {
        self.0.push(Problem { path: path.into(), message: message.into() });
    }

    pub(super) fn unless(
        &mut self,
        fine: bool,
        path: impl Into<String>,
        message: impl Into<Cow<'static, str>>,
    ) {
        if !fine {
            self.add(path, message);
        }
    }

    /// A text that has to be there.
    pub(super) fn required(&mut self, text: &str, path: impl Into<String>) {
        self.unless(!text.trim().is_empty(), path, "is empty: set it");
    }

    /// Names that must not be empty, and of which no two may be the same.
    pub(super) fn names<'a>(&mut self, names: impl Iterator<Item = (String, &'a str)>) {
        let mut seen = std::collections::BTreeSet::new();
        for (path, name) in names {
            self.required(name, &path);
            self.unless(name.is_empty() || seen.insert(name), &path, "is there twice: keep one of them");
        }
    }

    pub(super) fn finish(self) -> Result<(), Invalid> {
        if self.0.is_empty() { Ok(()) } else { Err(Invalid(self.0)) }
    }
}
