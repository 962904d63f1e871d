//! Servers in tests: the scenes of all kinds with a Deployment, with a backend.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};
use thv_api::kinds::{MCPServerSpec, MCPServerStatus};
use thv_api::names::annotations;
use thv_plan::mcp_server::Live;
use thv_plan::{LiveStatefulSet, LiveWorkload, PodHealth, PodMaker, Rollout, Scaling, Token};

use crate::scene::{Subject, pods};
pub(crate) use crate::scene::{
    UID, assert_on_file, child, children, controller, deployment, example, failing, folder, identity,
    template, variable,
};

/// A server and all that bears on it.
pub(crate) type Scene = crate::scene::Scene<MCPServerSpec>;

impl Subject for MCPServerSpec {
    fn minimal() -> Value {
        json!({"image": "ghcr.io/example/web:1"})
    }

    fn workload(live: &mut Live) -> &mut LiveWorkload {
        &mut live.proxy
    }

    fn follow(live: &mut Live, token: &Token) {
        if let Some(backend) = &mut live.backend {
            backend.applied = Some(token.clone());
        }
    }

    fn scale(live: &mut Live, scaling: &Scaling) {
        let live = live.backend.as_mut().unwrap();
        assert_eq!(live.identity, scaling.identity);
        live.replicas = scaling.replicas;
        let remembered = scaling.annotations.get(annotations::REPLICAS_BEFORE_STOP);
        live.replicas_before_stop = remembered.map(|count| count.parse().unwrap());
    }
}

impl Scene {
    /// A backend that the proxy brought up, with so many replicas of which so many are ready.
    pub(crate) fn with_backend(&mut self, replicas: i32, ready: i32) {
        let revision = self.snapshot.live.proxy.deployment.as_ref().and_then(|live| live.revision.as_ref());
        let number = revision.map_or(0, |revision| revision.number);
        self.snapshot.live.backend = Some(LiveStatefulSet {
            identity: identity("backend"),
            applied: Some(Token { uid: UID.to_owned(), number }),
            controller: Some(controller("MCPServer", UID)),
            replicas,
            replicas_before_stop: None,
            newest: Some("new".to_owned()),
            fixed: None,
            rollout: Rollout { observed: true, replicas, updated: replicas, available: ready, gave_up: None },
        });
    }

    /// Pods of the backend, of its newest revision.
    pub(crate) fn with_backend_pods(&mut self, health: &[PodHealth]) {
        let mut pods = pods("web-backend", PodMaker::StatefulSet, health);
        for pod in &mut pods {
            pod.revision = Some("new".to_owned());
        }
        self.snapshot.live.backend_pods = pods;
    }
}

/// Whether a manifest is that of a server.
pub(crate) fn is_server(object: &Value) -> bool {
    object["kind"] == "MCPServer"
}

/// A condition of a status: status and reason.
pub(crate) fn condition<'a>(status: &'a MCPServerStatus, type_: &str) -> Option<(&'a str, &'a str)> {
    whole_condition(status, type_).map(|found| (found.status.as_str(), found.reason.as_str()))
}

pub(crate) fn whole_condition<'a>(status: &'a MCPServerStatus, type_: &str) -> Option<&'a Condition> {
    status.conditions.as_ref().unwrap().iter().find(|condition| condition.type_ == type_)
}
