//! `EmbeddingServer` as the engine knows it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::embedding_server::{Ready, SpecValid, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{EmbeddingServer, EmbeddingServerPhase, EmbeddingServerSpec, EmbeddingServerStatus};
use thv_api::names::finalizers;

use super::live::{Live, PODS};
use super::plan;
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

impl Refers for EmbeddingServerSpec {
    const REFERS_TO: &'static [&'static str] = &[];

    /// Nothing: a pod whose Secret is missing says so, and goes on when it is there.
    fn refs(_: &EmbeddingServer, _: &References, _: &Settings) -> BTreeSet<Reference> {
        BTreeSet::new()
    }
}

impl Planned for EmbeddingServerSpec {
    type Live = Live;

    const FINALIZER: Option<&'static str> = Some(finalizers::EMBEDDING_SERVER);
    // Children go with their owner, and volumes of models stay.
    const DELETION: Deletion<Self> = Deletion::Nothing;
    const PODS: &'static [PodSelector] = &[PODS];

    fn live(object: &EmbeddingServer, observe: &mut dyn Observe) -> Live {
        Live::of(object.metadata.name.as_deref().unwrap_or_default(), observe)
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        plan(snapshot)
    }

    fn failing_status(
        before: Option<&EmbeddingServerStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> EmbeddingServerStatus {
        let mut status = before.cloned().unwrap_or_default();
        let message = failure.message();
        let conditions = status.conditions.get_or_insert_default();
        match failure {
            Failure::Unknown(_) => {
                set(conditions, observation.unknown(Ready::NotReady, message));
                return status;
            }
            Failure::Refused(_) => {}
            Failure::Malformed(_) => set(conditions, observation.condition(SpecValid::Invalid, message)),
        }
        set(conditions, observation.condition(Ready::NotReady, message));
        EmbeddingServerStatus {
            phase: Some(EmbeddingServerPhase::Failed),
            message: Some(message.to_owned()),
            observed_generation: Some(observation.generation()),
            ..status
        }
    }

    fn conditions(status: &EmbeddingServerStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut EmbeddingServerStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }
}
