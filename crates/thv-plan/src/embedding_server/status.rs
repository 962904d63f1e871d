//! What is said about an embedding server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::embedding_server::{FullyApplied, ModelReady, OverridesAccepted, Ready};
use thv_api::conditions::{Observation, Reason as _, find};
use thv_api::kinds::{EmbeddingServerPhase, EmbeddingServerSpec, EmbeddingServerStatus};
use thv_api::names::children::{embedding_server, service_host};

use super::content::Content;
use super::stateful_set_of;
use crate::deployed::conditions::overrides;
use crate::health::{self, Health, Part, Phase};
use crate::live::{LivePod, PodHealth};
use crate::snapshot::Snapshot;
use crate::verdict::Verdict;

impl Phase for EmbeddingServerPhase {
    const PENDING: Self = Self::Pending;
    const FAILED: Self = Self::Failed;
}

/// The status. As long as the children cannot be told they stay as they are, so what was said about them stays as well.
pub(super) fn status(
    snapshot: &Snapshot<EmbeddingServerSpec>,
    verdict: &Verdict,
    content: Option<&Content>,
) -> EmbeddingServerStatus {
    let before = snapshot.owner.status.as_ref();
    let live = before.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let observe = Observation::new(snapshot.generation(), snapshot.now, live);
    let mut conditions = verdict.conditions(&observe);
    let (health, url) = if let Some(content) = content {
        let health = health(snapshot);
        conditions.extend(applied(snapshot, content, &health, &observe));
        (health, Some(url(snapshot.namespace(), snapshot.name(), &snapshot.owner.spec)))
    } else {
        let kept = [FullyApplied::TYPE, ModelReady::TYPE, OverridesAccepted::TYPE];
        conditions.extend(kept.into_iter().filter_map(|type_| find(live, type_).cloned()));
        let message = format!("not applied: {}", verdict.errors().join("; "));
        let url = before.and_then(|status| status.url.clone());
        (Health::new(EmbeddingServerPhase::Failed, message), url)
    };
    let Health { phase, message } = health;
    let ready = if phase == EmbeddingServerPhase::Ready { Ready::Ready } else { Ready::NotReady };
    conditions.push(observe.condition(ready, &message));
    conditions.sort_by(|one, other| one.type_.cmp(&other.type_));
    EmbeddingServerStatus {
        conditions: Some(conditions),
        message: Some(message),
        observed_generation: Some(snapshot.generation()),
        phase: Some(phase),
        ready_replicas: Some(health::ready_pods(&snapshot.live.pods)),
        url,
    }
}

/// What is said about children that are applied.
fn applied(
    snapshot: &Snapshot<EmbeddingServerSpec>,
    content: &Content,
    health: &Health<EmbeddingServerPhase>,
    observe: &Observation<'_>,
) -> Vec<Condition> {
    let Content { children: _, ignored, kept } = content;
    let model = match health.phase {
        EmbeddingServerPhase::Ready => ModelReady::Ready,
        EmbeddingServerPhase::Failed => ModelReady::Failed,
        EmbeddingServerPhase::Pending
        | EmbeddingServerPhase::Downloading
        | EmbeddingServerPhase::Terminating => ModelReady::Downloading,
    };
    let mut all =
        vec![observe.condition(model, &health.message), fully_applied(snapshot.name(), kept, observe)];
    let spec = &snapshot.owner.spec;
    let any = spec.resource_overrides.is_some() || spec.env.as_ref().is_some_and(|env| !env.is_empty());
    all.extend(overrides(any, ignored, observe));
    all
}

fn fully_applied(name: &str, kept: &[String], observe: &Observation<'_>) -> Condition {
    if kept.is_empty() {
        return observe.condition(FullyApplied::Applied, "everything that the spec says is applied");
    }
    let (set, claim) = (embedding_server::stateful_set(name), embedding_server::volume_claim(name, 0));
    let message = format!(
        "nobody can change a StatefulSet that is there in this: {}. Everything else is applied. To have it all, delete the \
         StatefulSet {set} and its claims ({claim} and so on), which hold downloaded models: it is made anew",
        kept.join("; ")
    );
    observe.condition(FullyApplied::ImmutableField, message)
}

/// How a server does that nothing is wrong with: what its pods say.
fn health(snapshot: &Snapshot<EmbeddingServerSpec>) -> Health<EmbeddingServerPhase> {
    let live = stateful_set_of(snapshot);
    let part = Part {
        what: "the server",
        pods: &snapshot.live.pods,
        newest: live.and_then(|live| live.newest.as_deref()),
        namespace: snapshot.namespace(),
    };
    let Some(live) = live else { return part.waits("the server is starting") };
    let wanted = snapshot.owner.spec.replicas;
    let is_on_its_way = |pod: &LivePod| pod.health == PodHealth::Pending;
    let is_loading = snapshot.live.pods.iter().any(is_on_its_way);
    let waiting = if is_loading {
        "a pod runs and is not ready: most likely it downloads the model"
    } else {
        "the server is starting"
    };
    match part.judge(&live.rollout, was_ready(snapshot), waiting) {
        Ok(()) if live.rollout.available < wanted => {
            let message = format!("the server runs; {} of {wanted} pods are ready", live.rollout.available);
            Health::new(EmbeddingServerPhase::Ready, message)
        }
        Ok(()) => Health::new(EmbeddingServerPhase::Ready, "the server runs"),
        Err(Health { phase: EmbeddingServerPhase::Pending, message }) if is_loading => {
            Health::new(EmbeddingServerPhase::Downloading, message)
        }
        Err(health) => health,
    }
}

/// Whether the server was ready before, as it is now: whatever moves the generation of its StatefulSet afterwards is no
/// rollout.
fn was_ready(snapshot: &Snapshot<EmbeddingServerSpec>) -> bool {
    snapshot.owner.status.as_ref().is_some_and(|status| {
        status.phase == Some(EmbeddingServerPhase::Ready)
            && status.observed_generation == Some(snapshot.generation())
    })
}

/// The address of a server within the cluster.
pub(crate) fn url(namespace: &str, name: &str, spec: &EmbeddingServerSpec) -> String {
    let host = service_host(&embedding_server::service(name), namespace);
    format!("http://{host}:{}", spec.port)
}
