//! Kinds that only hold configuration for others: what is said of them, once for all of them.
//!
//! A kind is a [`ConfigKind`]: its finalizer, the reasons of its condition `Valid`, and the rules over its spec, which
//! are those that whoever refers to it applies. Nothing is made for such an object, and nothing is written on those who
//! refer to it: they find out for themselves.

mod authz;
mod external_auth;
mod oidc;
mod status;
mod telemetry;
mod tools;
mod webhooks;

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::config::{DeletionBlocked, Referenced, polarity};
use thv_api::conditions::{Observation, Polarity, Reason};
use thv_api::shared::ConfigStatus;
use thv_api::{Kind, Object};

use crate::invalid::InvalidList;
use crate::live::Observe;
use crate::plan::{Children, Plan};
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// A kind that only holds configuration.
pub(crate) trait ConfigKind: Kind<Status = ConfigStatus> {
    /// The reasons of its condition `Valid`.
    type Valid: Reason;

    /// What keeps an object from going before those who refer to it.
    const FINALIZER: &'static str;
    /// The reason when an object can be used.
    const VALID: Self::Valid;
    /// The reason when an object cannot be used.
    const INVALID: Self::Valid;

    /// The rules over a spec. What is fine, and yet has no effect, is noted.
    fn validate(&self) -> Result<Vec<String>, InvalidList>;

    /// Why this build cannot do what a valid spec asks for, if it cannot.
    fn unsupported(&self) -> Option<(Self::Valid, String)> {
        None
    }

    /// Conditions that only this kind has.
    fn more_conditions(&self, _: &Observation<'_>) -> Vec<Condition> {
        Vec::new()
    }
}

impl<S: ConfigKind> Refers for S {
    const REFERS_TO: &'static [&'static str] = &[];

    fn refs(object: &Object<S>, _: &References, _: &Settings) -> BTreeSet<Reference> {
        [Reference::referred_by::<S>(name_of(object))].into()
    }
}

impl<S: ConfigKind> Planned for S {
    type Live = ();

    const FINALIZER: Option<&'static str> = Some(<S as ConfigKind>::FINALIZER);
    const DELETION: Deletion<Self> =
        Deletion::BlockedWhileReferenced { status: status::of_an_object_that_is_kept };

    fn live(_: &Object<S>, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let object = snapshot.owner.as_ref();
        let live = object.status.as_ref().map(Self::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let referrers = snapshot.references.referred_by::<S>(snapshot.name());
        Plan::new(Children::Exactly(Vec::new()), status::of(object, &observe, referrers))
    }

    fn failing_status(
        before: Option<&ConfigStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> ConfigStatus {
        status::of_a_failure::<S>(before, observation, failure)
    }

    fn conditions(status: &ConfigStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut ConfigStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }

    /// Who refers to an object changes with every one of them.
    fn urgent(status: &ConfigStatus) -> ConfigStatus {
        let mut status = status.clone();
        if let Some(conditions) = &mut status.conditions {
            conditions.retain(|condition| condition.type_ != Referenced::TYPE);
            // That somebody keeps it is urgent. The message names them.
            let blocked = conditions.iter_mut().filter(|condition| condition.type_ == DeletionBlocked::TYPE);
            blocked.for_each(|condition| condition.message.clear());
        }
        status
    }
}

fn name_of<S: Kind>(object: &Object<S>) -> &str {
    object.metadata.name.as_deref().unwrap_or_default()
}
