//! `MCPRegistry` as the engine knows it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::mcp_registry::{Ready, SpecValid, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{MCPRegistry, MCPRegistryPhase, MCPRegistrySpec, MCPRegistryStatus};
use thv_api::names::finalizers;

use super::live::{Live, PODS};
use super::plan;
use crate::deployed::{Deployed, LiveWorkload, Observed};
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

impl Refers for MCPRegistrySpec {
    const REFERS_TO: &'static [&'static str] = &[];

    /// Nothing: a pod whose Secret or ConfigMap is missing says so, and goes on when it is there.
    fn refs(_: &MCPRegistry, _: &References, _: &Settings) -> BTreeSet<Reference> {
        BTreeSet::new()
    }
}

impl Deployed for MCPRegistrySpec {
    fn workload(live: &Live) -> LiveWorkload<'_> {
        LiveWorkload { deployment: live.deployment.as_ref(), pods: &live.pods, autoscalers: &[] }
    }

    /// Whoever scales the Deployment says how many there are.
    fn replicas(&self) -> Option<i32> {
        None
    }

    fn observed(status: &MCPRegistryStatus) -> Observed {
        Observed {
            generation: status.observed_generation,
            is_ready: status.phase == Some(MCPRegistryPhase::Ready),
        }
    }
}

impl Planned for MCPRegistrySpec {
    type Live = Live;

    const FINALIZER: Option<&'static str> = Some(finalizers::MCP_REGISTRY);
    // Children go with their owner. What was wrong with its spec does not matter then.
    const DELETION: Deletion<Self> = Deletion::Nothing;
    const PODS: &'static [PodSelector] = &[PODS];

    fn live(object: &MCPRegistry, observe: &mut dyn Observe) -> Live {
        Live::of(object.metadata.name.as_deref().unwrap_or_default(), observe)
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        plan(snapshot)
    }

    fn failing_status(
        before: Option<&MCPRegistryStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MCPRegistryStatus {
        let mut status = before.cloned().unwrap_or_default();
        let message = failure.message();
        let conditions = status.conditions.get_or_insert_default();
        let reason = match failure {
            Failure::Unknown(_) => {
                set(conditions, observation.unknown(Ready::NotReady, message));
                return status;
            }
            Failure::Refused(_) => Ready::NotReady,
            Failure::Malformed(_) => {
                set(conditions, observation.condition(SpecValid::Invalid, message));
                Ready::ValidationFailed
            }
        };
        set(conditions, observation.condition(reason, message));
        MCPRegistryStatus {
            phase: Some(MCPRegistryPhase::Failed),
            message: Some(message.to_owned()),
            observed_generation: Some(observation.generation()),
            ..status
        }
    }

    fn conditions(status: &MCPRegistryStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MCPRegistryStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }
}
