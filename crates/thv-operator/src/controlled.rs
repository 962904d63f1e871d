//! What a kind has to say for itself to be run by the engine.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase, MCPServerSpec, MCPServerStatus};
use thv_api::names::finalizers;
use thv_api::{Kind, Object};
use thv_plan::{Plan, Reference, References, Settings, Snapshot};

use crate::caches::Caches;
use crate::owner::Cached;
use crate::shelf::Shelf;

/// A kind with children.
pub trait Controlled: Kind {
    /// The finalizer that keeps an object until its children are told to go.
    const FINALIZER: &'static str;

    /// The cache of objects of this kind.
    fn shelf(caches: &Caches) -> &Shelf<Cached<Self>>;

    /// What an object refers to, or would use by these settings, given what is known of it already.
    fn refs(object: &Object<Self>, known: &References, settings: &Settings) -> BTreeSet<Reference>;

    /// What is to be done about an object.
    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self>;

    /// The status of an object that is being deleted.
    fn farewell(object: &Object<Self>, observation: &Observation<'_>) -> Self::Status;

    /// The status of an object that cannot be planned for, because something could not be read: what was known
    /// stays, and whether it still holds is open. `ours` are the types of conditions that are ours to write.
    fn troubled(
        object: &Object<Self>,
        observation: &Observation<'_>,
        ours: &[String],
        why: &str,
    ) -> Self::Status;

    /// The conditions in a status.
    fn conditions(status: &Self::Status) -> &[Condition];
}

impl Controlled for MCPServerSpec {
    const FINALIZER: &'static str = finalizers::MCP_SERVER;

    fn shelf(caches: &Caches) -> &Shelf<Cached<Self>> {
        &caches.servers
    }

    fn refs(object: &MCPServer, known: &References, settings: &Settings) -> BTreeSet<Reference> {
        let mut refs = thv_plan::mcp_server::refs(object, known);
        refs.extend(thv_plan::mcp_server::settings_refs(object, settings));
        refs
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        thv_plan::mcp_server::plan(snapshot)
    }

    fn farewell(object: &MCPServer, observation: &Observation<'_>) -> MCPServerStatus {
        let message = "the server is being removed";
        MCPServerStatus {
            phase: Some(MCPServerPhase::Terminating),
            message: Some(message.to_owned()),
            observed_generation: object.metadata.generation,
            conditions: Some(vec![observation.condition(Ready::NotReady, message)]),
            ..MCPServerStatus::default()
        }
    }

    fn troubled(
        object: &MCPServer,
        observation: &Observation<'_>,
        ours: &[String],
        why: &str,
    ) -> MCPServerStatus {
        let mut status = object.status.clone().unwrap_or_default();
        let ready = observation.unknown(Ready::NotReady, why);
        let conditions = status.conditions.get_or_insert_default();
        conditions.retain(|condition| condition.type_ != ready.type_ && ours.contains(&condition.type_));
        conditions.push(ready);
        status
    }

    fn conditions(status: &MCPServerStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_goes_says_so_even_if_nothing_else_can_be_said_of_it() {
        let server: MCPServer = serde_json::from_value(json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": "s", "generation": 3},
            "spec": {"image": "i", "podTemplateSpec": {"spec": 1}},
        }))
        .unwrap();
        let observation = Observation::new(3, Timestamp::UNIX_EPOCH, &[]);
        let status = MCPServerSpec::farewell(&server, &observation);
        assert_eq!(status.phase, Some(MCPServerPhase::Terminating));
        assert_eq!(status.observed_generation, Some(3));
        let conditions = MCPServerSpec::conditions(&status);
        assert_eq!(conditions.len(), 1, "{conditions:?}");
        let ready = (conditions[0].type_.as_str(), conditions[0].status.as_str());
        assert_eq!(ready, ("Ready", "False"));
    }
}
