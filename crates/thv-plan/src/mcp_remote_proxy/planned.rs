//! `MCPRemoteProxy` as the engine knows it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind;
use thv_api::conditions::mcp_remote_proxy::{ConfigurationValid, Ready, polarity};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPRemoteProxy,
    MCPRemoteProxyPhase, MCPRemoteProxySpec, MCPRemoteProxyStatus, MCPTelemetryConfigSpec, MCPToolConfigSpec,
};
use thv_api::names::annotations;
use thv_api::names::children::mcp_remote_proxy;

use crate::deployed::{LiveWorkload, PODS};
use crate::live::{Observe, PodSelector};
use crate::plan::Plan;
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::proxied::{self, Proxied as _};
use crate::reference::{Reference, References};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

impl Refers for MCPRemoteProxySpec {
    const REFERS_TO: &'static [&'static str] = &[
        MCPAuthzConfigSpec::KIND,
        MCPExternalAuthConfigSpec::KIND,
        MCPGroupSpec::KIND,
        MCPOIDCConfigSpec::KIND,
        MCPTelemetryConfigSpec::KIND,
        MCPToolConfigSpec::KIND,
    ];

    fn refs(proxy: &MCPRemoteProxy, known: &References, settings: &Settings) -> BTreeSet<Reference> {
        let spec = proxy.spec.proxy_spec();
        let mut refs = proxied::refs(spec, known);
        refs.extend(proxied::settings_refs(spec, settings));
        refs
    }
}

impl Planned for MCPRemoteProxySpec {
    type Live = LiveWorkload;

    const FINALIZER: Option<&'static str> = None;
    const DELETION: Deletion<Self> = Deletion::Nothing;
    const PODS: &'static [PodSelector] = &[PODS];
    const REQUESTS: &'static [&'static str] = &[annotations::RESTARTED_AT];

    fn live(proxy: &MCPRemoteProxy, observe: &mut dyn Observe) -> LiveWorkload {
        let name = proxy.metadata.name.as_deref().unwrap_or_default();
        let pods = observe.pods(PODS, name);
        LiveWorkload::of(&mcp_remote_proxy::deployment(name), pods, observe)
    }

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        proxied::plan(snapshot)
    }

    fn failing_status(
        before: Option<&MCPRemoteProxyStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MCPRemoteProxyStatus {
        let mut status = before.cloned().unwrap_or_default();
        let message = failure.message();
        let conditions = status.conditions.get_or_insert_default();
        match failure {
            Failure::Unknown(_) => {
                set(conditions, observation.unknown(Ready::NotReady, message));
                return status;
            }
            Failure::Refused(_) => {}
            Failure::Malformed(_) => {
                set(conditions, observation.condition(ConfigurationValid::InvalidSpec, message));
            }
        }
        set(conditions, observation.condition(Ready::NotReady, message));
        MCPRemoteProxyStatus {
            phase: Some(MCPRemoteProxyPhase::Failed),
            message: Some(message.to_owned()),
            observed_generation: Some(observation.generation()),
            ..status
        }
    }

    fn conditions(status: &MCPRemoteProxyStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MCPRemoteProxyStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }
}
