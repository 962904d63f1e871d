//! `VirtualMCPServer`: what holds for an `MCPServer` holds for it, and what it has of its own.

mod embedding;
mod overrides;
mod replicas;
mod reporter;

use std::cell::Cell;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::{MCPGroupSpec, VirtualMCPServer, VirtualMCPServerSpec};
use thv_testbed::{Exchange, Mark, Pattern, Space, Verb, wait};

use super::Operator;
use super::difference::{Children, Places, places};
use super::rollout::config;

/// The server that a test is about.
const NAME: &str = "s";

/// An operator and a virtual server.
struct Stage {
    space: Space,
    operator: Operator,
    probes: Cell<usize>,
}

impl Stage {
    /// A virtual server that the operator has dealt with, with `spec` on top of what one needs.
    async fn with(space: &Space, spec: Value) -> Result<Self> {
        let operator = Operator::start(space).await?;
        let stage = Self { space: space.clone(), operator, probes: Cell::new(0) };
        config::<MCPGroupSpec>(space, "g", json!({})).await?;
        config::<VirtualMCPServerSpec>(space, NAME, on_top(spec)).await?;
        stage.settled().await?;
        Ok(stage)
    }

    fn servers(&self) -> Api<VirtualMCPServer> {
        self.space.api()
    }

    /// Waits until the operator has dealt with the server as it is.
    async fn settled(&self) -> Result<VirtualMCPServer> {
        let generation = self.servers().get(NAME).await?.metadata.generation;
        let done = |server: &VirtualMCPServer| {
            server.status.as_ref().and_then(|status| status.observed_generation) >= generation
        };
        self.until("the operator has dealt with it", done).await
    }

    /// Waits until the server is as it should be.
    async fn until(
        &self,
        what: &str,
        done: impl FnMut(&VirtualMCPServer) -> bool,
    ) -> Result<VirtualMCPServer> {
        let found = wait::until(&self.servers(), NAME, what, done).await;
        found.map_err(|error| {
            error.context(format!("the operator wrote:\n{}", self.operator.subject.output()))
        })
    }

    /// Changes the spec by a merge patch, and waits until that is dealt with.
    async fn edit(&self, spec: Value) -> Result<VirtualMCPServer> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.servers().patch(NAME, &PatchParams::default(), &patch).await?;
        self.settled().await
    }

    async fn deployment(&self) -> Result<Deployment> {
        self.operator.deployment(NAME).await
    }

    async fn children(&self) -> Result<Children> {
        Children::of(&self.space, &self.servers().get(NAME).await?).await
    }

    /// The configuration that the pods are given, as text.
    async fn config(&self) -> Result<String> {
        let map = self.space.api::<ConfigMap>().get("s-vmcp-config").await?;
        Ok(map.data.and_then(|mut data| data.remove("config.yaml")).unwrap_or_default())
    }

    /// Has the server looked at once more, by a change that means nothing, and waits until something later is dealt with.
    async fn look_again(&self) -> Result<()> {
        self.probes.set(self.probes.get() + 1);
        let round = self.probes.get().to_string();
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.com/look": round}}}));
        self.servers().patch(NAME, &PatchParams::default(), &patch).await?;
        let name = format!("probe-{round}");
        config::<VirtualMCPServerSpec>(&self.space, &name, on_top(json!({}))).await?;
        let done = |server: &VirtualMCPServer| server.status.is_some();
        wait::until(&self.servers(), &name, "the operator has dealt with it", done).await.map(drop)
    }

    /// The applies of the Deployment that went through.
    fn applies(&self, mark: Mark) -> Vec<Exchange> {
        let apply = Pattern::verb(Verb::Apply).of("deployments").named(NAME).whole();
        let log = self.operator.recorder.since(mark).only(&apply);
        log.iter().filter(|apply| matches!(apply.answered, Some(200..300))).cloned().collect()
    }
}

fn on_top(spec: Value) -> Value {
    let mut whole = json!({"groupRef": {"name": "g"}, "incomingAuth": {"type": "anonymous"}});
    for (field, value) in spec.as_object().into_iter().flatten() {
        whole[field] = value.clone();
    }
    whole
}

/// The places that change with an edit that pods see and their configuration does not, and these.
fn rolled<const N: usize>(more: [&str; N]) -> Places {
    let minted = places([
        "Deployment/s metadata.annotations[toolhive.stacklok.dev/revision]",
        "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/mcpserver-generation]",
        "Deployment/s spec.template.spec.containers[vmcp].env[THV_MCPSERVER_REVISION].value",
    ]);
    minted.into_iter().chain(places(more)).collect()
}

/// The places that change with an edit of this part of the configuration, and these.
fn reconfigured<const N: usize>(part: &str, more: [&str; N]) -> Places {
    let configured = rolled([
        &format!("ConfigMap/s-vmcp-config data[config.yaml].{part}"),
        "ConfigMap/s-vmcp-config metadata.annotations[toolhive.stacklok.dev/content-checksum]",
        "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/runconfig-checksum]",
    ]);
    configured.into_iter().chain(places(more)).collect()
}

/// Status and reason of a condition.
fn condition(server: &VirtualMCPServer, type_: &str) -> Option<(String, String)> {
    let mut all = server.status.iter().flat_map(|status| status.conditions.iter().flatten());
    all.find(|one| one.type_ == type_).map(|one| (one.status.clone(), one.reason.clone()))
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what may not be there")]
fn pair(status: &str, reason: &str) -> Option<(String, String)> {
    Some((status.to_owned(), reason.to_owned()))
}
