//! `VirtualMCPServer` as the engine knows it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::virtual_mcp_server::{Ready, Valid, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{VirtualMCPServer, VirtualMCPServerPhase, VirtualMCPServerSpec, VirtualMCPServerStatus};
use thv_api::names::annotations;
use thv_api::names::children::virtual_mcp_server;

use crate::deployed::{Deployed, LiveWorkload, Observed, PODS};
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned};
use crate::snapshot::Snapshot;

impl Planned for VirtualMCPServerSpec {
    type Live = LiveWorkload;

    const FINALIZER: Option<&'static str> = None;
    const DELETION: Deletion<Self> = Deletion::Nothing;
    const PODS: &'static [PodSelector] = &[PODS];
    const REQUESTS: &'static [&'static str] = &[annotations::RESTARTED_AT];

    fn live(object: &VirtualMCPServer, observe: &mut dyn Observe) -> LiveWorkload {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let pods = observe.pods(PODS, name);
        LiveWorkload::of(&virtual_mcp_server::deployment(name), pods, observe)
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        super::plan(snapshot)
    }

    fn failing_status(
        before: Option<&VirtualMCPServerStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> VirtualMCPServerStatus {
        let mut status = before.cloned().unwrap_or_default();
        let message = failure.message();
        let conditions = status.conditions.get_or_insert_default();
        match failure {
            Failure::Unknown(_) => {
                set(conditions, observation.unknown(Ready::DeploymentNotReady, message));
                return status;
            }
            Failure::Refused(_) => {}
            Failure::Malformed(_) => set(conditions, observation.condition(Valid::Failed, message)),
        }
        set(conditions, observation.condition(Ready::DeploymentFailed, message));
        VirtualMCPServerStatus {
            phase: Some(VirtualMCPServerPhase::Failed),
            message: Some(message.to_owned()),
            observed_generation: Some(observation.generation()),
            ..status
        }
    }

    fn conditions(status: &VirtualMCPServerStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut VirtualMCPServerStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }

    /// What the pods report is theirs.
    fn ours(status: VirtualMCPServerStatus) -> VirtualMCPServerStatus {
        let VirtualMCPServerStatus {
            conditions,
            observed_generation,
            phase,
            message,
            url,
            discovered_backends: _,
            backend_count: _,
            oidc_config_hash,
            authz_config_hash,
            telemetry_config_hash,
        } = status;
        VirtualMCPServerStatus {
            conditions,
            observed_generation,
            phase,
            message,
            url,
            discovered_backends: None,
            backend_count: None,
            oidc_config_hash,
            authz_config_hash,
            telemetry_config_hash,
        }
    }
}

impl Deployed for VirtualMCPServerSpec {
    fn workload(live: &LiveWorkload) -> &LiveWorkload {
        live
    }

    fn replicas(&self) -> Option<i32> {
        self.replicas
    }

    fn observed(status: &VirtualMCPServerStatus) -> Observed {
        use VirtualMCPServerPhase::{Degraded, Ready};
        Observed {
            generation: status.observed_generation,
            is_ready: matches!(status.phase, Some(Ready | Degraded)),
        }
    }
}
