//! What became of a reference.

use crate::invalid::Invalid;

/// What became of one reference of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// The object does not refer to anything here.
    NotReferenced,
    /// What it refers to can be used.
    Usable(T),
    /// What it refers to cannot be used.
    Unusable(Unusable),
}

/// A reference that cannot be used. Which condition says so, and with which reason, is up to the kind that refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// Why.
    pub cause: Cause,
    /// The field with the reference, and what is wrong.
    pub invalid: Invalid,
}

/// Why a reference cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The object does not exist, or is about to go.
    Absent,
    /// The object exists, and something that it needs in turn does not.
    Incomplete,
    /// What it says is not valid, whoever refers to it.
    Invalid,
    /// It is of a type that is of no use to the one that refers to it.
    WrongType,
    /// It is valid, and does not fit the one that refers to it.
    Unfit,
    /// It has several upstream providers, and the one that refers to it can use one only.
    SeveralUpstreams,
    /// This build cannot do what it asks for.
    Unsupported,
}

impl Cause {
    /// Says what is wrong with the reference in a field for this cause.
    pub(crate) fn at(self, path: &str, message: impl Into<String>) -> Unusable {
        Unusable { cause: self, invalid: Invalid::new(path, message) }
    }
}

/// Why something valid does not suit the object that refers to it.
pub(crate) type Misfit = (Cause, String);

impl<T> Outcome<T> {
    /// What becomes of a reference, if there is one.
    pub(crate) fn of<R>(reference: Option<R>, resolve: impl FnOnce(R) -> Result<T, Unusable>) -> Self {
        match reference.map(resolve) {
            None => Self::NotReferenced,
            Some(Ok(value)) => Self::Usable(value),
            Some(Err(unusable)) => Self::Unusable(unusable),
        }
    }

    /// What can be used, if there is something.
    pub const fn usable(&self) -> Option<&T> {
        match self {
            Self::Usable(value) => Some(value),
            Self::NotReferenced | Self::Unusable(_) => None,
        }
    }

    /// What is wrong, if something is.
    pub const fn unusable(&self) -> Option<&Unusable> {
        match self {
            Self::Unusable(unusable) => Some(unusable),
            Self::NotReferenced | Self::Usable(_) => None,
        }
    }
}
