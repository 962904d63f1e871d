//! What is said about a server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::mcp_server::{OverridesAccepted, Ready};
use thv_api::conditions::{Observation, Reason as _, find};
use thv_api::kinds::{MCPServerPhase, MCPServerSpec, MCPServerStatus};

use super::phase::{self, ServerHealth};
use super::resolved::{ConfigHashes, Resolved};
use super::{checks, conditions, content, deployment_of, reference_conditions};
use crate::invalid::{Invalid, InvalidList};
use crate::overrides::IgnoredOverrides;
use crate::pod_template;
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// What was found out about a server.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    snapshot: &'a Snapshot<MCPServerSpec>,
    resolved: &'a Resolved,
    /// What is wrong with the spec by itself.
    invalid: InvalidList,
    /// Whether the pod template is one, if there is one.
    pod_template: Option<Result<(), Invalid>>,
    /// Why the Deployment cannot be had.
    taken: Option<String>,
    /// The overrides that are ignored, if it came to that.
    pub(super) ignored: Option<IgnoredOverrides>,
    /// Whether somebody has asked for a restart.
    pub(super) restart_is_due: bool,
}

impl<'a> Findings<'a> {
    /// What can be said before anything is rendered.
    pub(super) fn new(snapshot: &'a Snapshot<MCPServerSpec>, resolved: &'a Resolved) -> Self {
        let spec = &snapshot.owner.spec;
        Self {
            snapshot,
            resolved,
            invalid: checks::validate(snapshot.name(), spec),
            pod_template: spec.pod_template_spec.as_ref().map(pod_template::validate),
            taken: taken(snapshot),
            ignored: None,
            restart_is_due: false,
        }
    }

    /// Adds what was found to be wrong with the spec.
    pub(super) fn add_invalid(&mut self, invalid: InvalidList) {
        self.invalid.merge(invalid);
    }

    /// Whether the children can be told.
    pub(super) fn are_valid(&self) -> bool {
        self.errors().is_empty()
    }

    /// Everything that keeps the children from being told.
    fn errors(&self) -> Vec<String> {
        let template =
            self.pod_template.iter().filter_map(|result| result.as_ref().err().map(ToString::to_string));
        let references = self.resolved.invalid().into_iter().map(|invalid| invalid.message);
        let mut all: Vec<String> = self.taken.clone().into_iter().collect();
        all.extend(template);
        all.extend(self.invalid.iter().map(ToString::to_string));
        all.extend(references);
        all
    }

    /// The status while the children that were applied last stay, and newer ones wait for their turn.
    pub(super) fn meanwhile(&self, running: &Revision) -> MCPServerStatus {
        const WAITS: &str = "; a new revision waits for its turn";
        let mut status = self.status(Some(running));
        let before = self.snapshot.owner.status.clone().unwrap_or_default();
        set_hashes(&mut status, hashes(&before));
        status.message = status.message.map(|message| message + WAITS);
        for ready in status.conditions.iter_mut().flatten().filter(|condition| condition.type_ == Ready::TYPE)
        {
            ready.message.push_str(WAITS);
        }
        status
    }

    /// The status, with the revision that the children have if they can be told.
    ///
    /// As long as the children cannot be told they stay as they are, so what was said about them stays as well.
    pub(super) fn status(&self, revision: Option<&Revision>) -> MCPServerStatus {
        let Self { snapshot, resolved, invalid, pod_template, taken, ignored, restart_is_due } = self;
        let observe = observation(snapshot);
        let before = snapshot.owner.status.clone().unwrap_or_default();
        let (health, url, hashes) = if let Some(revision) = revision {
            (phase::health(snapshot, revision), Some(phase::url(snapshot)), resolved.hashes())
        } else {
            let restart =
                if *restart_is_due { "; the restart that was asked for waits for that" } else { "" };
            let message = format!("not applied: {}{restart}", self.errors().join("; "));
            (ServerHealth::new(MCPServerPhase::Failed, message), before.url.clone(), hashes(&before))
        };
        let mut all = conditions::advisory(snapshot, &observe);
        all.extend(reference_conditions::references(snapshot, resolved, &observe));
        all.extend(conditions::pod_template(pod_template.as_ref(), &observe));
        all.push(conditions::spec_valid(invalid, taken.as_ref(), &observe));
        all.extend(match ignored {
            Some(ignored) => {
                conditions::overrides(content::has_overrides(&snapshot.owner.spec), ignored, &observe)
            }
            None => find(live_conditions(snapshot), OverridesAccepted::TYPE).cloned(),
        });
        let mut status = status(snapshot, health, all);
        status.url = url;
        set_hashes(&mut status, hashes);
        status
    }
}

fn set_hashes(status: &mut MCPServerStatus, hashes: ConfigHashes) {
    let ConfigHashes {
        tool_config,
        external_auth_config,
        auth_server_config,
        authz_config,
        oidc_config,
        telemetry_config,
        webhook_config,
    } = hashes;
    status.tool_config_hash = tool_config;
    status.external_auth_config_hash = external_auth_config;
    status.auth_server_config_hash = auth_server_config;
    status.authz_config_hash = authz_config;
    status.oidc_config_hash = oidc_config;
    status.telemetry_config_hash = telemetry_config;
    status.webhook_config_hash = webhook_config;
}

/// The part of a status that follows from how the server does.
fn status(
    snapshot: &Snapshot<MCPServerSpec>,
    health: ServerHealth,
    mut conditions: Vec<Condition>,
) -> MCPServerStatus {
    let ServerHealth { phase, message } = health;
    let ready = if phase == MCPServerPhase::Ready { Ready::Ready } else { Ready::NotReady };
    conditions.push(observation(snapshot).condition(ready, &message));
    conditions.sort_by(|one, other| one.type_.cmp(&other.type_));
    MCPServerStatus {
        conditions: Some(conditions),
        phase: Some(phase),
        message: Some(message),
        ready_replicas: Some(phase::ready_replicas(snapshot)),
        observed_generation: Some(snapshot.generation()),
        ..MCPServerStatus::default()
    }
}

fn observation(snapshot: &Snapshot<MCPServerSpec>) -> Observation<'_> {
    Observation::new(snapshot.generation(), snapshot.now, live_conditions(snapshot))
}

fn live_conditions(snapshot: &Snapshot<MCPServerSpec>) -> &[Condition] {
    let live = snapshot.owner.status.as_ref().and_then(|status| status.conditions.as_deref());
    live.unwrap_or_default()
}

/// Whether the Deployment belongs to something else, which would lose it to us.
fn taken(snapshot: &Snapshot<MCPServerSpec>) -> Option<String> {
    let live = snapshot.live.deployment.as_ref()?;
    deployment_of(snapshot).is_none().then(|| {
        format!(
            "a Deployment {:?} is there already and belongs to another object (uid {}): create the server under \
             another name, or remove the other",
            snapshot.name(),
            live.controller.as_deref().unwrap_or_default(),
        )
    })
}

/// The digests of the configuration in use, as they were told before.
fn hashes(before: &MCPServerStatus) -> ConfigHashes {
    ConfigHashes {
        tool_config: before.tool_config_hash.clone(),
        external_auth_config: before.external_auth_config_hash.clone(),
        auth_server_config: before.auth_server_config_hash.clone(),
        authz_config: before.authz_config_hash.clone(),
        oidc_config: before.oidc_config_hash.clone(),
        telemetry_config: before.telemetry_config_hash.clone(),
        webhook_config: before.webhook_config_hash.clone(),
    }
}
