//! What is wrong with a configuration.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The field, such as `inline.issuer`.
    pub path: String,
    /// What is wrong with it, and what to do.
    pub text: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

/// A configuration that cannot be used: everything that is wrong with it, at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(Vec<Flaw>);

impl Invalid {
    /// What is wrong, in the order of the fields.
    pub fn flaws(&self) -> &[Flaw] {
        &self.0
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, flaw) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            flaw.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Collects what is wrong, so that users see all of it at once.
#[derive(Debug, Default)]
pub(super) struct Flaws(Vec<Flaw>);

impl Flaws {
    /// Something is wrong with a field.
    pub(super) fn add(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.0.push(Flaw { path: path.into(), text: text.into() });
    }

    /// Something is wrong with a field unless `fine`.
    pub(super) fn unless(&mut self, fine: bool, path: impl Into<String>, text: impl Into<String>) {
        if !fine {
            self.add(path, text);
        }
    }

    /// A field that has to have a value.
    pub(super) fn required(&mut self, value: &str, path: impl Into<String>) {
        self.unless(!value.trim().is_empty(), path, "is empty: set it");
    }

    /// Takes over what another check found, below `path`.
    pub(super) fn extend(&mut self, path: &str, result: Result<(), Invalid>) {
        for Flaw { path: inner, text } in result.err().into_iter().flat_map(|invalid| invalid.0) {
            let dot = if inner.starts_with('[') { "" } else { "." };
            self.add(format!("{path}{dot}{inner}"), text);
        }
    }

    /// Nothing was wrong, or all that was.
    pub(super) fn finish(self) -> Result<(), Invalid> {
        if self.0.is_empty() { Ok(()) } else { Err(Invalid(self.0)) }
    }
}
