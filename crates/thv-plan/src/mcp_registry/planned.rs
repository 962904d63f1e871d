//! `MCPRegistry` as the engine knows it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::mcp_registry::{Ready, SpecValid, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{MCPRegistry, MCPRegistryPhase, MCPRegistrySpec, MCPRegistryStatus};
use thv_api::names::children::mcp_registry;
use thv_api::names::{finalizers, labels};

use super::plan;
use crate::deployed::{Deployed, LiveWorkload, Observed};
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

/// The pods of registries.
const PODS: PodSelector =
    PodSelector { labels: "app.kubernetes.io/component=registry-api", instance: labels::REGISTRY_NAME };

impl Refers for MCPRegistrySpec {
    const REFERS_TO: &'static [&'static str] = &[];

    /// Nothing: a pod whose Secret or ConfigMap is missing says so, and goes on when it is there.
    fn refs(_: &MCPRegistry, _: &References, _: &Settings) -> BTreeSet<Reference> {
        BTreeSet::new()
    }
}

impl Deployed for MCPRegistrySpec {
    fn workload(live: &LiveWorkload) -> &LiveWorkload {
        live
    }

    fn deployment(name: &str) -> String {
        mcp_registry::api(name)
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
    type Live = LiveWorkload;

    const FINALIZER: Option<&'static str> = Some(finalizers::MCP_REGISTRY);
    // Children go with their owner. What was wrong with its spec does not matter then.
    const DELETION: Deletion<Self> = Deletion::Nothing;
    const PODS: &'static [PodSelector] = &[PODS];

    fn live(object: &MCPRegistry, observe: &mut dyn Observe) -> LiveWorkload {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let pods = observe.pods(PODS, name);
        LiveWorkload::of(&mcp_registry::api(name), pods, observe)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_found_by_labels_that_they_have() {
        let labels = labels::registry(&mcp_registry::api("r"), "r");
        let (key, value) = PODS.labels.split_once('=').unwrap();
        assert_eq!(labels.get(key).map(String::as_str), Some(value));
        assert_eq!(labels.get(PODS.instance).map(String::as_str), Some("r"));
    }
}
