//! One server, brought to rest, and what has changed about it since.

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::conditions::{Reason, find};
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_testbed::{Exchange, Mark, Pattern, Space, Verb, wait};

use super::difference::{Children, places};
use super::program::Program;
use super::rollout::secret;
use super::{Operator, minimal};
use crate::fixture::replicas;

/// The server that a test is about.
pub(super) const NAME: &str = "s";

/// A Secret that the server gets a variable from. Every pass reads it, so that the request log shows the passes.
pub(super) const PULSE: &str = "pulse";

/// What the status says from the first pass on. With no node no pod ever runs or fails, so that is how it stays.
pub(super) const AT_REST: &str = "the proxy is starting";

/// Where children change whenever the content of pods does.
pub(super) const NEW_REVISION: [&str; 6] = [
    "ConfigMap/s-runconfig data[runconfig.json].mcpserver_generation",
    "ConfigMap/s-runconfig metadata.annotations[toolhive.stacklok.dev/content-checksum]",
    "Deployment/s metadata.annotations[toolhive.stacklok.dev/revision]",
    "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/mcpserver-generation]",
    "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/runconfig-checksum]",
    "Deployment/s spec.template.spec.containers[toolhive].env[THV_MCPSERVER_REVISION].value",
];

/// An operator and the server that a test is about.
pub(super) struct Scene {
    pub(super) space: Space,
    pub(super) operator: Operator,
    probes: Cell<usize>,
}

impl Scene {
    /// An operator, and no server yet.
    pub(super) async fn empty(space: &Space, environment: &BTreeMap<&str, &str>) -> Result<Self> {
        Self::start(space, environment, &[]).await
    }

    /// The same with these arguments.
    pub(super) async fn start(
        space: &Space,
        environment: &BTreeMap<&str, &str>,
        arguments: &[&str],
    ) -> Result<Self> {
        pulse(space, PULSE).await?;
        Box::pin(Program::Shipped.prepare(space)).await?;
        let operator = Box::pin(Operator::run(Program::Shipped, space, environment, arguments)).await?;
        Ok(Self { space: space.clone(), operator, probes: Cell::new(0) })
    }

    /// A server at rest with `spec` on top of what one needs.
    pub(super) async fn with(space: &Space, spec: Value) -> Result<Self> {
        let scene = Self::empty(space, &BTreeMap::new()).await?;
        scene.make(spec).await?;
        Ok(scene)
    }

    /// Makes the server, and waits until it is at rest.
    pub(super) async fn make(&self, spec: Value) -> Result<MCPServer> {
        let mut whole = minimal();
        whole["secrets"] = json!([{"name": PULSE, "key": "beat"}]);
        for (field, value) in spec.as_object().into_iter().flatten() {
            whole[field] = value.clone();
        }
        self.operator.server(NAME, whole).await?;
        self.rest().await
    }

    /// Changes the spec by a merge patch, and waits until the server is at rest again.
    pub(super) async fn edit(&self, spec: Value) -> Result<MCPServer> {
        self.operator.edit(NAME, json!({"spec": spec})).await?;
        self.rest().await
    }

    /// Waits until the server is as it stays without a node.
    async fn rest(&self) -> Result<MCPServer> {
        self.at_rest(NAME).await
    }

    async fn at_rest(&self, name: &str) -> Result<MCPServer> {
        wait::until(&self.operator.servers(), name, "it is at rest", |server| {
            let Some(status) = &server.status else { return false };
            status.observed_generation == server.metadata.generation
                && (status.phase == Some(MCPServerPhase::Stopped)
                    || status.message.as_deref() == Some(AT_REST))
        })
        .await
    }

    /// Returns when whatever was under way is over: another server was made meanwhile, and is at rest.
    pub(super) async fn calm(&self) -> Result<()> {
        self.probes.set(self.probes.get() + 1);
        let name = format!("probe-{}", self.probes.get());
        self.operator.server(&name, minimal()).await?;
        self.at_rest(&name).await.map(drop)
    }

    /// Has the server looked at once more, by a change that means nothing, and waits until that is over.
    pub(super) async fn look_again(&self) -> Result<()> {
        let mark = self.operator.recorder.mark();
        let patch = json!({"metadata": {"annotations": {"example.com/look": self.probes.get().to_string()}}});
        self.operator.servers().patch(NAME, &PatchParams::default(), &Patch::Merge(patch)).await?;
        self.operator.recorder.seen(mark, &pass()).await?;
        self.calm().await
    }

    /// How many passes over the server there were.
    pub(super) fn passes(&self, mark: Mark) -> usize {
        self.operator.recorder.since(mark).only(&pass()).len()
    }

    /// Scales the Deployment, the way `kubectl scale` and autoscalers do.
    pub(super) async fn scale(&self, count: i32) -> Result<()> {
        let scale = Patch::Merge(json!({"spec": {"replicas": count}}));
        let params = PatchParams { field_manager: Some("scaler".to_owned()), ..PatchParams::default() };
        self.space.api::<Deployment>().patch_scale(NAME, &params, &scale).await?;
        Ok(())
    }

    /// The Deployment.
    pub(super) async fn deployment(&self) -> Result<Deployment> {
        self.operator.deployment(NAME).await
    }

    /// The number of proxies that the Deployment asks for.
    pub(super) async fn live(&self) -> Result<i32> {
        Ok(replicas(&self.deployment().await?))
    }

    /// The operator's writes about the server and its children. Events are no writes to any of them.
    pub(super) fn writes(&self, mark: Mark) -> Vec<Exchange> {
        let is_about_it = |write: &&Exchange| {
            let name = write.name.as_deref().unwrap_or_default();
            write.resource != "events" && !name.contains("probe-")
        };
        self.operator.recorder.since(mark).writes().iter().filter(is_about_it).cloned().collect()
    }

    /// The applies of the Deployment that went through. Some are refused because a controller of Kubernetes was
    /// faster, and sent again.
    pub(super) fn applies(&self, mark: Mark) -> Vec<Exchange> {
        self.done(mark, &deployment_apply())
    }

    /// The requests that `pattern` means and that went through.
    pub(super) fn done(&self, mark: Mark, pattern: &Pattern) -> Vec<Exchange> {
        let log = self.operator.recorder.since(mark).only(pattern);
        log.iter().filter(|request| matches!(request.answered, Some(200..300))).cloned().collect()
    }

    /// The replicas in the applies of the Deployment that went through.
    pub(super) fn sent(&self, mark: Mark) -> Vec<Option<i64>> {
        self.applies(mark).iter().map(sent).collect()
    }

    /// Waits until the Deployment is as it should be, and the log says how it came to that.
    pub(super) async fn until(&self, what: &str, done: impl FnMut(&Deployment) -> bool) -> Result<()> {
        wait::until(&self.space.api::<Deployment>(), NAME, what, done).await?;
        self.calm().await
    }

    /// Waits until the Deployment asks for this number of proxies.
    pub(super) async fn until_live(&self, count: i32) -> Result<()> {
        let what = format!("{count} replicas are asked for");
        self.until(&what, |deployment| replicas(deployment) == count).await
    }

    /// The children of the server as they are now.
    pub(super) async fn children(&self) -> Result<Children> {
        Children::of(&self.space, &self.operator.servers().get(NAME).await?).await
    }

    /// Fails the test unless exactly these places of the children differ from what they were.
    pub(super) async fn assert_changed<const N: usize>(
        &self,
        before: &Children,
        all: [&str; N],
    ) -> Result<()> {
        assert_eq!(before.changes(&self.children().await?), places(all));
        Ok(())
    }
}

/// Makes a Secret that a server can get a variable from: with the key `beat`.
pub(super) async fn pulse(space: &Space, name: &str) -> Result<()> {
    secret(space, name, json!({"beat": "1"})).await
}

/// What every pass over the server does.
pub(super) fn pass() -> Pattern {
    Pattern::verb(Verb::Get).of("secrets").named(PULSE)
}

/// The operator's applies of the Deployment.
pub(super) fn deployment_apply() -> Pattern {
    Pattern::verb(Verb::Apply).of("deployments").named(NAME).whole()
}

/// The operator's writes of the status.
pub(super) fn status_apply() -> Pattern {
    Pattern::verb(Verb::Apply).of("mcpservers").named(NAME).subresource("status")
}

/// The number of replicas that a request is about.
pub(super) fn sent(apply: &Exchange) -> Option<i64> {
    apply.body.as_ref()?.pointer("/spec/replicas")?.as_i64()
}

/// The condition that `R` is about.
#[track_caller]
pub(super) fn condition<R: Reason>(server: &MCPServer) -> Condition {
    let all = server.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    find(all, R::TYPE).unwrap_or_else(|| panic!("there is no condition {}: {all:?}", R::TYPE)).clone()
}

/// Fails the test unless the server says this, about its current generation.
#[track_caller]
pub(super) fn assert_says<R: Reason>(server: &MCPServer, reason: R) {
    let condition = condition::<R>(server);
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        (reason.status().as_str(), reason.as_str())
    );
    assert_eq!(condition.observed_generation, server.metadata.generation, "{condition:?}");
    assert!(!condition.message.is_empty(), "{condition:?}");
}

/// What the conditions of a server say, by their types.
pub(super) fn conditions(server: &MCPServer) -> BTreeMap<String, (String, String)> {
    let all = server.status.iter().flat_map(|status| status.conditions.iter().flatten());
    all.map(|condition| (condition.type_.clone(), (condition.status.clone(), condition.reason.clone())))
        .collect()
}
