//! What the tests share.

use thv_policy::cedar::{Validation, validate};

/// A policy with nothing wrong.
pub(crate) const ANY: &str = "permit(principal, action, resource);";

/// Validates policies without entities.
pub(crate) fn check(policies: &[&str]) -> Validation {
    let policies: Vec<String> = policies.iter().map(|text| (*text).to_owned()).collect();
    validate(&policies, "")
}

/// Each error with its text: `policies[0]: line 1, column 1: …`.
pub(crate) fn errors(validation: &Validation) -> Vec<String> {
    validation.errors.iter().map(|error| format!("{}: {error}", error.part)).collect()
}
