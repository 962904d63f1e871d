//! What became of a reference.

use thv_api::conditions::Reason;

/// What became of one reference of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T, R> {
    /// The object does not refer to anything here.
    NotReferenced,
    /// What it refers to can be used.
    Usable(T),
    /// What it refers to cannot be used.
    Unusable {
        /// The reason for the condition.
        reason: R,
        /// What is wrong and what to do. No secret material.
        message: String,
        /// Who can change it.
        fault: Fault,
    },
}

/// Whether time may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something is not there yet. It may appear.
    Waiting,
    /// Something is wrong. It stays wrong until someone edits it.
    Terminal,
}

impl<T, R> Outcome<T, R> {
    /// What can be used, if there is something.
    pub const fn usable(&self) -> Option<&T> {
        match self {
            Self::Usable(value) => Some(value),
            Self::NotReferenced | Self::Unusable { .. } => None,
        }
    }

    /// Whether there is a reference, usable or not.
    pub const fn is_referenced(&self) -> bool {
        !matches!(self, Self::NotReferenced)
    }

    /// A value that nothing will make usable but an edit.
    pub(super) const fn terminal(reason: R, message: String) -> Self {
        Self::Unusable { reason, message, fault: Fault::Terminal }
    }
}

impl<T, R: Reason> Outcome<T, R> {
    /// What stands in the way, if something does. `path` is the field with the reference.
    pub(super) fn obstacle(&self, path: &'static str) -> Option<Obstacle> {
        match self {
            Self::NotReferenced | Self::Usable(_) => None,
            Self::Unusable { reason, message, fault } => Some(Obstacle {
                path,
                condition: R::TYPE,
                reason: reason.as_str(),
                message: message.clone(),
                fault: *fault,
            }),
        }
    }
}

/// A reference that cannot be used, in a form that is the same for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The field with the reference, such as `spec.oidcConfigRef`.
    pub path: &'static str,
    /// The type of the condition that tells about it.
    pub condition: &'static str,
    /// The reason in that condition.
    pub reason: &'static str,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether time may help.
    pub fault: Fault,
}

/// Why something cannot be used, before it is known which condition will tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hitch {
    /// The object referred to is not there.
    Absent(String),
    /// It is there, and something that it needs in turn is not.
    Incomplete(String),
    /// It is not valid.
    Invalid(String),
}

impl Hitch {
    /// The outcome, given the reasons for an object that is not there and for one that is of no use.
    pub(super) fn outcome<T, R>(self, absent: R, invalid: R) -> Outcome<T, R> {
        let (reason, message, fault) = match self {
            Self::Absent(message) => (absent, message, Fault::Waiting),
            Self::Incomplete(message) => (invalid, message, Fault::Waiting),
            Self::Invalid(message) => (invalid, message, Fault::Terminal),
        };
        Outcome::Unusable { reason, message, fault }
    }
}

/// The outcome of a result, given the reasons for an object that is not there and for one that is of no use.
pub(super) fn outcome<T, R>(result: Result<T, Hitch>, absent: R, invalid: R) -> Outcome<T, R> {
    match result {
        Ok(value) => Outcome::Usable(value),
        Err(hitch) => hitch.outcome(absent, invalid),
    }
}
