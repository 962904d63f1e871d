//! What a kind says for itself to be run by the engine: this, a registration and its rights are all there is to a kind.

use std::collections::BTreeSet;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::{Observation, Polarity};
use thv_api::{Kind, Object};

use crate::child::ChildKind;
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::reference::{Reference, References, Target};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// A kind whose objects others refer to, or that refers to others.
pub trait Refers: Kind {
    /// The kinds that objects of this one can refer to. What [`Refers::refs`] finds beyond them keeps nobody.
    const REFERS_TO: &'static [&'static str];

    /// What an object refers to, or would use by these settings, given what is known of it already. With nothing known,
    /// what it names itself. Called again with what was found until nothing new comes.
    fn refs(object: &Object<Self>, known: &References, settings: &Settings) -> BTreeSet<Reference>;
}

/// A kind that is looked after: watched, planned for, and brought about.
pub trait Planned: Refers {
    /// What a plan has to know of the objects around this one.
    type Live: Clone + Debug + PartialEq + Send + Sync;

    /// The finalizer of the kind. Objects that have it from the Go operator can be deleted under ours.
    const FINALIZER: Option<&'static str>;
    /// What becomes of an object that is deleted.
    const DELETION: Deletion<Self>;
    /// The pods that plans look at.
    const PODS: &'static [PodSelector] = &[];
    /// Annotations of which plans have to know when they were written.
    const REQUESTS: &'static [&'static str] = &[];

    /// Looks up what a plan has to know.
    fn live(object: &Object<Self>, observe: &mut dyn Observe) -> Self::Live;

    /// What is to be done about an object.
    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self>;

    /// The status of an object for which nothing could be planned, or whose plan could not be carried out. `before` is
    /// our part of the status that it has.
    fn failing_status(
        before: Option<&Self::Status>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> Self::Status;

    /// The conditions in a status.
    fn conditions(status: &Self::Status) -> &[Condition];

    /// The same, to be changed.
    fn conditions_mut(status: &mut Self::Status) -> &mut Option<Vec<Condition>>;

    /// Whether a condition of this type is good news when it holds.
    fn polarity(type_: &str) -> Polarity;

    /// The fields of a status that we apply. The others are reported by whatever runs for the object, under a field
    /// manager of its own.
    fn ours(status: Self::Status) -> Self::Status {
        status
    }

    /// The part of a status that is told at once. What else changes in it is told with the next write, or a few seconds
    /// after the last one: lists of others change with every one of them.
    fn urgent(status: &Self::Status) -> Self::Status {
        status.clone()
    }
}

/// What becomes of an object that is deleted.
pub enum Deletion<S: Kind> {
    /// Nothing has to be done: what belongs to it is garbage collected.
    Nothing,
    /// Its workloads are told to go before it does, so that none of them is left to bring others back.
    CleanUp {
        /// The workloads of an object of this name. Those that belong to somebody else stay.
        workloads: fn(name: &str) -> Vec<(ChildKind, String)>,
        /// The status meanwhile.
        status: fn(&Object<S>, &Observation<'_>) -> S::Status,
    },
    /// It stays for as long as somebody refers to it who does not go himself.
    BlockedWhileReferenced {
        /// The status meanwhile, with who refers to it.
        status: fn(&Object<S>, &Observation<'_>, &[Target]) -> S::Status,
    },
}

/// Why a pass did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something could not be read or written for now. Whether what was said before still holds is open.
    Unknown(String),
    /// The API server refuses what the object asks for. That stays until somebody changes something.
    Refused(String),
    /// The object is not what its schema promises.
    Malformed(String),
}

impl Failure {
    /// What to tell.
    pub fn message(&self) -> &str {
        match self {
            Self::Unknown(message) | Self::Refused(message) | Self::Malformed(message) => message,
        }
    }
}
