//! What is said about a registry.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::mcp_registry::{OverridesAccepted, Ready};
use thv_api::conditions::{Observation, Reason as _, find};
use thv_api::kinds::{MCPRegistryPhase, MCPRegistrySpec, MCPRegistryStatus};
use thv_api::names::children::mcp_registry;
use thv_api::value::Port;

use crate::deployed::conditions::overrides;
use crate::deployed::{deployment_of, was_ready};
use crate::health::{self, Health, Part, Phase};
use crate::overrides::IgnoredOverrides;
use crate::snapshot::Snapshot;
use crate::verdict::Verdict;

impl Phase for MCPRegistryPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

/// The status of a registry whose children are told. `hash` is the digest of what its pods are to run.
pub(super) fn status(
    snapshot: &Snapshot<MCPRegistrySpec>,
    verdict: &Verdict,
    ignored: &IgnoredOverrides,
    hash: &str,
) -> MCPRegistryStatus {
    let observe = observation(snapshot);
    let mut conditions = verdict.conditions(&observe);
    conditions.extend(overrides(false, ignored, &observe));
    let health = health(snapshot, hash);
    let reason = if health.phase == MCPRegistryPhase::Ready { Ready::Ready } else { Ready::NotReady };
    whole(snapshot, conditions, reason, health, Some(url(snapshot)))
}

/// The status while the children that were applied last stay, and newer ones wait for their turn.
pub(super) fn meanwhile(
    snapshot: &Snapshot<MCPRegistrySpec>,
    verdict: &Verdict,
    ignored: &IgnoredOverrides,
    running: &str,
) -> MCPRegistryStatus {
    const WAITS: &str = "; a new version waits for its turn";
    let mut status = status(snapshot, verdict, ignored, running);
    status.message = status.message.map(|message| message + WAITS);
    let conditions = status.conditions.iter_mut().flatten();
    for ready in conditions.filter(|condition| condition.type_ == Ready::TYPE) {
        ready.message.push_str(WAITS);
    }
    status
}

/// The status of a registry whose children cannot be told. They stay as they are, so what was said about them stays as
/// well.
pub(super) fn failing(snapshot: &Snapshot<MCPRegistrySpec>, verdict: &Verdict) -> MCPRegistryStatus {
    let observe = observation(snapshot);
    let mut conditions = verdict.conditions(&observe);
    conditions.extend(find(live_conditions(snapshot), OverridesAccepted::TYPE).cloned());
    let message = format!("not applied: {}", verdict.errors().join("; "));
    let health = Health::new(MCPRegistryPhase::Failed, message);
    let url = snapshot.owner.status.as_ref().and_then(|status| status.url.clone());
    whole(snapshot, conditions, Ready::ValidationFailed, health, url)
}

fn whole(
    snapshot: &Snapshot<MCPRegistrySpec>,
    mut conditions: Vec<Condition>,
    reason: Ready,
    health: Health<MCPRegistryPhase>,
    url: Option<String>,
) -> MCPRegistryStatus {
    let Health { phase, message } = health;
    conditions.push(observation(snapshot).condition(reason, &message));
    conditions.sort_by(|one, other| one.type_.cmp(&other.type_));
    MCPRegistryStatus {
        conditions: Some(conditions),
        message: Some(message),
        observed_generation: Some(snapshot.generation()),
        phase: Some(phase),
        ready_replicas: Some(health::ready_pods(&snapshot.live.pods)),
        url,
    }
}

/// How a registry does that nothing is wrong with: what its pods say.
fn health(snapshot: &Snapshot<MCPRegistrySpec>, hash: &str) -> Health<MCPRegistryPhase> {
    const STARTING: &str = "the registry is starting";
    let part = Part {
        what: "the registry",
        pods: &snapshot.live.pods,
        newest: Some(hash),
        namespace: snapshot.namespace(),
    };
    let Some(live) = deployment_of(snapshot) else { return part.waits(STARTING) };
    if live.replicas == 0 {
        return Health::new(MCPRegistryPhase::Pending, "scaled to zero: no pod runs");
    }
    if live.config_hash.as_deref() != Some(hash) {
        return part.waits(STARTING);
    }
    let (available, wanted) = (live.rollout.available, live.replicas);
    match part.judge(&live.rollout, was_ready(snapshot), STARTING) {
        Ok(()) if available < wanted => Health::new(
            MCPRegistryPhase::Ready,
            format!("the registry runs; {available} of {wanted} pods are ready"),
        ),
        Ok(()) => Health::new(MCPRegistryPhase::Ready, "the registry runs"),
        Err(health) => health,
    }
}

/// The address of a registry within the cluster.
fn url(snapshot: &Snapshot<MCPRegistrySpec>) -> String {
    format!("http://{}.{}:{}", mcp_registry::api(snapshot.name()), snapshot.namespace(), Port::HTTP)
}

fn observation(snapshot: &Snapshot<MCPRegistrySpec>) -> Observation<'_> {
    Observation::new(snapshot.generation(), snapshot.now, live_conditions(snapshot))
}

fn live_conditions(snapshot: &Snapshot<MCPRegistrySpec>) -> &[Condition] {
    let live = snapshot.owner.status.as_ref().and_then(|status| status.conditions.as_deref());
    live.unwrap_or_default()
}
