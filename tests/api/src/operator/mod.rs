//! The operator, run as a program under its own role behind a recorder.

mod adoption;
mod alone;
mod autoscaler;
mod blocked;
mod conditions;
mod contested;
mod deletion;
mod difference;
mod drift;
mod embedding_server;
mod events;
mod examples;
mod fence;
mod gaps;
mod kinds;
mod leadership;
mod lifecycle;
mod malformed;
mod migration;
mod overrides;
mod ownership;
mod passes;
mod platform;
mod pods;
mod program;
mod pruning;
mod readiness;
mod references;
mod refusals;
mod registry;
mod remote_proxy;
mod replicas;
mod restarts;
mod rollout;
mod rules;
mod scene;
mod sessions;
mod shift;
mod signing_keys;
mod stage;
mod stamps;
mod stdio_cap;
mod steady;
mod stopping;
mod taken;
mod takeover;
mod takeover_workloads;
mod test_kinds;
mod transient;
mod unknown_field;
mod unknown_times;
mod unlisted;
mod user_agent;
mod virtual_server;
mod volumes;

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_testbed::{Recorder, Space, Subject, wait};

pub(crate) use self::program::Program;
use crate::fixture::apply;

/// A running operator that looks after the test's namespace.
pub(crate) struct Operator {
    pub(crate) recorder: Recorder,
    pub(crate) subject: Subject,
    program: Program,
    space: Space,
}

impl Operator {
    /// Starts it with nothing special in its environment.
    pub(crate) async fn start(space: &Space) -> Result<Self> {
        Self::start_with(space, &BTreeMap::new()).await
    }

    /// Starts it with these environment variables.
    pub(crate) async fn start_with(space: &Space, environment: &BTreeMap<&str, &str>) -> Result<Self> {
        Self::start_as(Program::Shipped, space, environment).await
    }

    /// Starts one of the programs that are operators.
    pub(crate) async fn start_as(
        program: Program,
        space: &Space,
        environment: &BTreeMap<&str, &str>,
    ) -> Result<Self> {
        // In boxes, because what a test waits for is otherwise part of its own frame, and a thread has 2 MiB.
        Box::pin(program.prepare(space)).await?;
        Box::pin(Self::run(program, space, environment, &[])).await
    }

    /// Starts one where everything is prepared, with these environment variables and arguments. There may be several.
    pub(crate) async fn run(
        program: Program,
        space: &Space,
        environment: &BTreeMap<&str, &str>,
        arguments: &[&str],
    ) -> Result<Self> {
        let recorder = Recorder::start(space.bed()).await?;
        let subject = program.builder(space, &recorder, environment, arguments).await?.start()?;
        Ok(Self { recorder, subject, program, space: space.clone() })
    }

    /// Ends it, and starts it with these environment variables instead.
    pub(crate) async fn restart_with(&mut self, environment: &BTreeMap<&str, &str>) -> Result<()> {
        self.subject.kill().await?;
        self.subject = self.program.builder(&self.space, &self.recorder, environment, &[]).await?.start()?;
        Ok(())
    }

    /// Servers, as an administrator sees them.
    pub(crate) fn servers(&self) -> Api<MCPServer> {
        self.space.api()
    }

    /// Makes a server and waits until the operator has nothing left to do about it.
    pub(crate) async fn server(&self, name: &str, spec: Value) -> Result<MCPServer> {
        let body = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": name}, "spec": spec,
        });
        let applied = apply(&self.servers(), name, "user", &body).await?;
        self.settled(name, applied.metadata.generation).await
    }

    /// Changes a server by a merge patch, and waits until the operator has nothing left to do about it.
    pub(crate) async fn edit(&self, name: &str, patch: Value) -> Result<MCPServer> {
        let edited = self.servers().patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.settled(name, edited.metadata.generation).await
    }

    /// Waits until the status of a server is about its current generation.
    pub(crate) async fn settled(&self, name: &str, generation: Option<i64>) -> Result<MCPServer> {
        let done = |server: &MCPServer| {
            server.status.as_ref().and_then(|status| status.observed_generation) >= generation
        };
        let settled = wait::until(&self.servers(), name, "the operator has dealt with it", done).await;
        settled.map_err(|error| error.context(format!("the operator wrote:\n{}", self.subject.output())))
    }

    /// The Deployment of a server.
    pub(crate) async fn deployment(&self, name: &str) -> Result<Deployment> {
        Ok(self.space.api::<Deployment>().get(name).await?)
    }
}

/// A minimal spec.
pub(crate) fn minimal() -> Value {
    json!({"image": "localhost/server:1", "transport": "streamable-http"})
}

/// The pod template's annotations.
pub(crate) fn pod_annotations(deployment: &Deployment) -> BTreeMap<String, String> {
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    template.and_then(|template| template.metadata.as_ref()?.annotations.clone()).unwrap_or_default()
}
