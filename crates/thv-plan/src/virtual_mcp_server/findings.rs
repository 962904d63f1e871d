//! What is said about a virtual server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::virtual_mcp_server::Ready;
use thv_api::kinds::{VirtualMCPServerPhase, VirtualMCPServerSpec, VirtualMCPServerStatus};

use super::incoming::{Incoherent, Provider};
use super::resolved::Resolved;
use super::{checks, conditions, phase};
use crate::deployed::taken;
use crate::health::Health;
use crate::invalid::{Invalid, InvalidList};
use crate::overrides::IgnoredOverrides;
use crate::planned::Planned as _;
use crate::pod_template;
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// What was found out about a virtual server.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    pub(super) snapshot: &'a Snapshot<VirtualMCPServerSpec>,
    pub(super) resolved: &'a Resolved<'a>,
    /// What is wrong with the spec by itself.
    pub(super) invalid: InvalidList,
    /// The upstream provider whose claims the rules see.
    pub(super) provider: Result<Provider, Incoherent>,
    /// Whether the pod template is one, if there is one.
    pub(super) pod_template: Option<Result<(), Invalid>>,
    /// Why the Deployment cannot be had.
    pub(super) taken: Option<String>,
    /// The overrides that are ignored, if it came to that.
    pub(super) ignored: Option<IgnoredOverrides>,
    /// Whether somebody has asked for a restart.
    pub(super) restart_is_due: bool,
}

impl<'a> Findings<'a> {
    /// What can be said before anything is rendered.
    pub(super) fn new(
        snapshot: &'a Snapshot<VirtualMCPServerSpec>,
        resolved: &'a Resolved<'a>,
        provider: Result<Provider, Incoherent>,
    ) -> Self {
        let spec = &snapshot.owner.spec;
        let mut invalid = checks::validate(snapshot.name(), spec);
        invalid.merge(resolved.composite_tools.invalid.clone());
        Self {
            snapshot,
            resolved,
            invalid,
            provider,
            pod_template: spec.pod_template_spec.as_ref().map(pod_template::validate),
            taken: taken(snapshot),
            ignored: None,
            restart_is_due: false,
        }
    }

    /// Everything that keeps the children from being told.
    pub(super) fn errors(&self) -> Vec<String> {
        let template =
            self.pod_template.iter().filter_map(|result| result.as_ref().err().map(ToString::to_string));
        let provider = self.provider.as_ref().err().map(|(_, message)| message.clone());
        let references = self.resolved.invalid().into_iter().map(|invalid| invalid.message);
        let mut all: Vec<String> = self.taken.clone().into_iter().collect();
        all.extend(template);
        all.extend(self.invalid.iter().map(ToString::to_string));
        all.extend(provider);
        all.extend(references);
        all
    }

    /// The status while the children that were applied last stay, and newer ones wait for their turn.
    pub(super) fn meanwhile(&self, running: &Revision) -> VirtualMCPServerStatus {
        let (mut health, ready) = phase::health(self.snapshot, running);
        health.message.push_str("; a new revision waits for its turn");
        let before = self.before();
        self.report(health, ready, VirtualMCPServerStatus { url: Some(phase::url(self.snapshot)), ..before })
    }

    /// The status while nothing is made yet, because something has to be ready first.
    pub(super) fn waiting(&self, message: &str) -> VirtualMCPServerStatus {
        let health = Health::new(VirtualMCPServerPhase::Pending, message);
        self.report(health, Ready::DeploymentNotReady, self.before())
    }

    /// The status with children of this revision.
    pub(super) fn applied(&self, revision: &Revision) -> VirtualMCPServerStatus {
        let (health, ready) = phase::health(self.snapshot, revision);
        let Resolved { oidc, authz_config_ref, telemetry, .. } = self.resolved;
        let told = VirtualMCPServerStatus {
            url: Some(phase::url(self.snapshot)),
            oidc_config_hash: oidc.usable().map(|it| it.config.hash.clone()),
            authz_config_hash: authz_config_ref.usable().map(|it| it.hash.clone()),
            telemetry_config_hash: telemetry.usable().map(|it| it.config.hash.clone()),
            ..VirtualMCPServerStatus::default()
        };
        self.report(health, ready, told)
    }

    /// The status while the children cannot be told: they stay as they are, so what was said about them stays as well.
    pub(super) fn failed(&self) -> VirtualMCPServerStatus {
        let restart =
            if self.restart_is_due { "; the restart that was asked for waits for that" } else { "" };
        let message = format!("not applied: {}{restart}", self.errors().join("; "));
        let ready = match (&self.provider, self.resolved.auth_server.unusable()) {
            (Err(_), _) | (_, Some(_)) => Ready::AuthServerConfigInvalid,
            (Ok(_), None) => Ready::DeploymentNotReady,
        };
        self.report(Health::new(VirtualMCPServerPhase::Failed, message), ready, self.before())
    }

    /// What was told before of what runs.
    fn before(&self) -> VirtualMCPServerStatus {
        let VirtualMCPServerStatus {
            url, oidc_config_hash, authz_config_hash, telemetry_config_hash, ..
        } = self.snapshot.owner.status.clone().unwrap_or_default();
        VirtualMCPServerStatus {
            url,
            oidc_config_hash,
            authz_config_hash,
            telemetry_config_hash,
            ..VirtualMCPServerStatus::default()
        }
    }

    fn report(
        &self,
        health: Health<VirtualMCPServerPhase>,
        ready: Ready,
        told: VirtualMCPServerStatus,
    ) -> VirtualMCPServerStatus {
        let snapshot = self.snapshot;
        let live = snapshot.owner.status.as_ref().map(VirtualMCPServerSpec::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let mut all: Vec<Condition> = conditions::all(self, &observe);
        all.push(observe.condition(ready, &health.message));
        all.sort_by(|one, other| one.type_.cmp(&other.type_));
        VirtualMCPServerStatus {
            conditions: Some(all),
            phase: Some(health.phase),
            message: Some(health.message),
            observed_generation: Some(snapshot.generation()),
            ..told
        }
    }
}
