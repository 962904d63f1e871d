//! `MCPServer` as the engine knows it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind;
use thv_api::conditions::mcp_server::{Ready, SpecValid, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServer,
    MCPServerPhase, MCPServerSpec, MCPServerStatus, MCPTelemetryConfigSpec, MCPToolConfigSpec,
    MCPWebhookConfigSpec,
};
use thv_api::names::children::mcp_server;
use thv_api::names::{annotations, finalizers};

use super::live::Live;
use super::plan;
use crate::child::ChildKind;
use crate::deployed::PODS;
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

impl Refers for MCPServerSpec {
    const REFERS_TO: &'static [&'static str] = &[
        MCPAuthzConfigSpec::KIND,
        MCPExternalAuthConfigSpec::KIND,
        MCPGroupSpec::KIND,
        MCPOIDCConfigSpec::KIND,
        MCPTelemetryConfigSpec::KIND,
        MCPToolConfigSpec::KIND,
        MCPWebhookConfigSpec::KIND,
    ];

    fn refs(object: &MCPServer, known: &References, settings: &Settings) -> BTreeSet<Reference> {
        let mut refs = super::refs(object, known);
        refs.extend(super::settings_refs(object, settings));
        refs
    }
}

impl Planned for MCPServerSpec {
    type Live = Live;

    const FINALIZER: Option<&'static str> = Some(finalizers::MCP_SERVER);
    const DELETION: Deletion<Self> = Deletion::CleanUp { workloads, status: terminating_status };
    const PODS: &'static [PodSelector] = &[PODS];
    const REQUESTS: &'static [&'static str] = &[annotations::RESTARTED_AT];

    fn live(object: &MCPServer, observe: &mut dyn Observe) -> Live {
        Live::of(object.metadata.name.as_deref().unwrap_or_default(), observe)
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        plan(snapshot)
    }

    fn failing_status(
        before: Option<&MCPServerStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MCPServerStatus {
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
        MCPServerStatus {
            phase: Some(MCPServerPhase::Failed),
            message: Some(message.to_owned()),
            observed_generation: Some(observation.generation()),
            ..status
        }
    }

    fn conditions(status: &MCPServerStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MCPServerStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }
}

/// A proxy that still runs would bring the backend back, so both are told to go.
fn workloads(name: &str) -> Vec<(ChildKind, String)> {
    vec![
        (ChildKind::Deployment, mcp_server::deployment(name)),
        (ChildKind::StatefulSet, mcp_server::backend(name)),
    ]
}

fn terminating_status(server: &MCPServer, observation: &Observation<'_>) -> MCPServerStatus {
    let message = "the server is being removed";
    MCPServerStatus {
        phase: Some(MCPServerPhase::Terminating),
        message: Some(message.to_owned()),
        observed_generation: server.metadata.generation,
        conditions: Some(vec![observation.condition(Ready::NotReady, message)]),
        ..MCPServerStatus::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn ready(status: &MCPServerStatus) -> (&str, &str) {
        let ready = status.conditions.as_ref().unwrap().iter().find(|one| one.type_ == "Ready").unwrap();
        (ready.status.as_str(), ready.message.as_str())
    }

    #[test]
    fn a_server_that_is_deleted_says_so_even_if_its_spec_cannot_be_planned_for() {
        let server: MCPServer = serde_json::from_value(json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": "s", "generation": 3},
            "spec": {"image": "i", "podTemplateSpec": {"spec": 1}},
        }))
        .unwrap();
        let observation = Observation::new(3, Timestamp::UNIX_EPOCH, &[]);
        let status = terminating_status(&server, &observation);
        assert_eq!(status.phase, Some(MCPServerPhase::Terminating));
        assert_eq!(status.observed_generation, Some(3));
        assert_eq!(status.conditions.as_ref().unwrap().len(), 1);
        assert_eq!(ready(&status).0, "False");
    }

    #[test]
    fn a_refusal_is_a_failure_and_what_cannot_be_read_leaves_the_phase() {
        let observation = Observation::new(4, Timestamp::UNIX_EPOCH, &[]);
        let before = MCPServerStatus {
            phase: Some(MCPServerPhase::Ready),
            url: Some("u".to_owned()),
            observed_generation: Some(3),
            ..MCPServerStatus::default()
        };
        let refused = Failure::Refused("no".to_owned());
        let status = MCPServerSpec::failing_status(Some(&before), &observation, &refused);
        assert_eq!((status.phase, status.observed_generation), (Some(MCPServerPhase::Failed), Some(4)));
        assert_eq!((ready(&status), status.url.as_deref()), (("False", "no"), Some("u")));
        let unknown = Failure::Unknown("later".to_owned());
        let status = MCPServerSpec::failing_status(Some(&before), &observation, &unknown);
        assert_eq!((status.phase, status.observed_generation), (Some(MCPServerPhase::Ready), Some(3)));
        assert_eq!(ready(&status), ("Unknown", "later"));
    }
}
