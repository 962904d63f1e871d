//! What is wrong with what users wrote, and where. Which condition of which kind says so is up to the kind.

use std::fmt;
use std::ops::Deref;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The field, such as `spec.resources.limits.cpu`, as seen from whatever is validated.
    pub path: String,
    /// What is wrong with it, and what to do. No secret material.
    pub message: String,
}

impl Invalid {
    /// Something that is wrong with a field.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

#[cfg(feature = "workflows")]
impl From<thv_compose::Invalid> for Invalid {
    fn from(invalid: thv_compose::Invalid) -> Self {
        let thv_compose::Invalid { rule: _, path, message } = invalid;
        Self { path, message }
    }
}

/// Everything that is wrong, so that users see all of it at once. As an error it is never empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidList(Vec<Invalid>);

impl InvalidList {
    /// Something is wrong with a field.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Invalid::new(path, message));
    }

    /// Something is wrong with a field unless `fine`.
    pub fn unless(&mut self, fine: bool, path: impl Into<String>, message: impl Into<String>) {
        if !fine {
            self.add(path, message);
        }
    }

    /// A field that has to have a value.
    pub fn required(&mut self, value: &str, path: impl Into<String>) {
        self.unless(!value.trim().is_empty(), path, "is empty: set it");
    }

    /// Takes over what another check found about a field of whatever is at `path`.
    pub fn below(&mut self, path: &str, result: Result<(), Self>) {
        for Invalid { path: inner, message } in result.err().into_iter().flatten() {
            let dot = if inner.starts_with('[') { "" } else { "." };
            self.add(format!("{path}{dot}{inner}"), message);
        }
    }

    /// Takes over what another check found. What both found is there once.
    pub fn merge(&mut self, others: Self) {
        for other in others {
            if !self.0.contains(&other) {
                self.0.push(other);
            }
        }
    }

    /// Nothing was wrong, or all that was.
    pub fn finish(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl Deref for InvalidList {
    type Target = [Invalid];

    fn deref(&self) -> &[Invalid] {
        &self.0
    }
}

impl IntoIterator for InvalidList {
    type Item = Invalid;
    type IntoIter = std::vec::IntoIter<Invalid>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<Invalid> for InvalidList {
    fn from_iter<I: IntoIterator<Item = Invalid>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl From<Invalid> for InvalidList {
    fn from(invalid: Invalid) -> Self {
        Self(vec![invalid])
    }
}

impl fmt::Display for InvalidList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, invalid) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            invalid.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidList {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_path_is_joined_with_a_dot_unless_it_is_an_index() {
        let mut inner = InvalidList::default();
        inner.add("name", "is empty");
        inner.add("[0].url", "is no URL");
        let mut outer = InvalidList::default();
        outer.below("hooks", inner.finish());
        assert_eq!(outer.to_string(), "hooks.name: is empty; hooks[0].url: is no URL");
    }

    #[test]
    fn what_two_checks_find_is_told_once() {
        let mut one = InvalidList::from(Invalid::new("a", "is empty"));
        one.merge([Invalid::new("a", "is empty"), Invalid::new("b", "is empty")].into_iter().collect());
        assert_eq!(one.to_string(), "a: is empty; b: is empty");
    }

    #[test]
    fn nothing_wrong_is_no_error() {
        let mut list = InvalidList::default();
        list.unless(true, "a", "is wrong");
        list.required("x", "b");
        assert_eq!(list.finish(), Ok(()));
    }
}
