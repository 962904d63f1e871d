//! The status of an object that only holds configuration.

use thv_api::Object;
use thv_api::conditions::config::DeletionBlocked;
use thv_api::conditions::{Observation, set};
use thv_api::shared::ConfigStatus;

use super::ConfigKind;
use crate::planned::Failure;
use crate::reference::Target;
use crate::referrers;
use crate::resolve::config_hash;

/// What is said of an object that these refer to.
pub(super) fn of<S: ConfigKind>(
    object: &Object<S>,
    observe: &Observation<'_>,
    referrers: &[Target],
) -> ConfigStatus {
    let spec = &object.spec;
    let (reason, message) = match (spec.validate(), spec.unsupported()) {
        (Err(invalid), _) => (Err(S::INVALID), invalid.to_string()),
        (Ok(_), Some((reason, message))) => (Err(reason), message),
        (Ok(notes), None) => (Ok(S::VALID), usable(&notes)),
    };
    let before = object.status.as_ref().and_then(|status| status.config_hash.clone());
    let mut conditions = vec![
        observe.condition(reason.unwrap_or_else(|reason| reason), message),
        referrers::condition(referrers, observe),
    ];
    conditions.extend(spec.more_conditions(observe));
    ConfigStatus {
        conditions: Some(conditions),
        // Those who refer to it stay with what was valid last.
        config_hash: if reason.is_ok() { Some(config_hash(spec)) } else { before },
        observed_generation: Some(observe.generation()),
    }
}

fn usable(notes: &[String]) -> String {
    let fine = "the settings can be used";
    if notes.is_empty() { fine.to_owned() } else { format!("{fine}; {}", notes.join("; ")) }
}

/// What is said of an object that is being deleted, and stays for as long as these refer to it.
pub(super) fn of_an_object_that_is_kept<S: ConfigKind>(
    object: &Object<S>,
    observe: &Observation<'_>,
    referrers: &[Target],
) -> ConfigStatus {
    let mut status = of(object, observe, referrers);
    let message = format!(
        "it is being deleted, and goes when nobody refers to it any more: {}; remove the references, or delete those",
        referrers::list(referrers),
    );
    let blocked = observe.condition(DeletionBlocked::ReferencedByWorkloads, message);
    set(status.conditions.get_or_insert_default(), blocked);
    status
}

/// What is said of an object when a pass over it fails. What was said before of anything else stays.
pub(super) fn of_a_failure<S: ConfigKind>(
    before: Option<&ConfigStatus>,
    observe: &Observation<'_>,
    failure: &Failure,
) -> ConfigStatus {
    let mut status = before.cloned().unwrap_or_default();
    let valid = match failure {
        // What is refused is our finalizer. That says nothing about the settings.
        Failure::Unknown(message) | Failure::Refused(message) => observe.unknown(S::INVALID, message),
        Failure::Malformed(message) => {
            status.observed_generation = Some(observe.generation());
            observe.condition(S::INVALID, message)
        }
    };
    set(status.conditions.get_or_insert_default(), valid);
    status
}
