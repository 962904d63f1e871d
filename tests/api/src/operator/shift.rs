//! What a change of something comes to, whichever kind of object has pods because of it.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use thv_api::names::annotations;
use thv_testbed::{Exchange, Mark, Pattern, Verb, wait};

use super::difference::{Children, Places, places};
use super::rollout::replica_sets;
use super::rules::{api_of, resource_of};
use super::stage::Stage;

/// A kind whose objects have pods. The object that a test is about is called `s`.
#[derive(Clone, Copy)]
pub(super) struct Pods {
    pub(super) kind: &'static str,
    /// The kind and the name of what makes the pods.
    pub(super) workload: (&'static str, &'static str),
    /// The container of ours.
    pub(super) container: &'static str,
    /// A spec with no more than it needs.
    pub(super) spec: fn() -> Value,
}

pub(super) const VIRTUAL_SERVER: Pods = Pods {
    kind: "VirtualMCPServer",
    workload: ("Deployment", "s"),
    container: "vmcp",
    spec: || json!({"groupRef": {"name": "g"}, "incomingAuth": {"type": "anonymous"}}),
};

pub(super) const EMBEDDING_SERVER: Pods = Pods {
    kind: "EmbeddingServer",
    workload: ("StatefulSet", "s"),
    container: "embedding",
    spec: || json!({"model": "m"}),
};

pub(super) const REGISTRY: Pods = Pods {
    kind: "MCPRegistry",
    workload: ("Deployment", "s-api"),
    container: "registry-api",
    spec: || json!({"configYAML": "sources: []"}),
};

pub(super) const REMOTE_PROXY: Pods = Pods {
    kind: "MCPRemoteProxy",
    workload: ("Deployment", "s"),
    container: "toolhive",
    spec: || json!({"remoteUrl": "https://mcp.example.com"}),
};

impl Pods {
    /// Places in the pod template.
    pub(super) fn places<const N: usize>(&self, all: [&str; N]) -> Places {
        let (kind, name) = self.workload;
        all.iter().map(|place| format!("{kind}/{name} spec.template.spec.{place}")).collect()
    }

    /// Places in the container of ours.
    pub(super) fn in_container<const N: usize>(&self, all: [&str; N]) -> Places {
        let all = all.map(|place| format!("containers[{}].{place}", self.container));
        self.places(all.each_ref().map(String::as_str))
    }

    fn manifest(&self) -> Value {
        json!({"apiVersion": "apps/v1", "kind": self.workload.0})
    }
}

impl Stage {
    /// The children of the object `s`.
    pub(super) async fn children(&self, pods: &Pods) -> Result<Children> {
        Children::of(&self.space, &self.api(pods.kind).get("s").await?).await
    }

    fn workloads(&self, pods: &Pods) -> Api<DynamicObject> {
        api_of(&self.space, &pods.manifest())
    }

    /// Waits until the controller of the workload has seen it as it is.
    async fn seen(&self, pods: &Pods) -> Result<DynamicObject> {
        let is_seen = |workload: &DynamicObject| {
            workload.data["status"]["observedGeneration"].as_i64() == workload.metadata.generation
        };
        wait::until(&self.workloads(pods), pods.workload.1, "its controller has seen it", is_seen).await
    }

    /// How many times the pods have been rolled, the first time included.
    pub(super) async fn rollouts(&self, pods: &Pods) -> Result<usize> {
        if pods.workload.0 == "Deployment" {
            return Ok(replica_sets(&self.space, pods.workload.1).await?.len());
        }
        let workload = self.seen(pods).await?;
        let uid = workload.metadata.uid.unwrap_or_default();
        let revisions = self.space.api::<ControllerRevision>().list(&ListParams::default()).await?;
        let is_its = |one: &&ControllerRevision| one.owner_references().iter().any(|owner| owner.uid == uid);
        Ok(revisions.iter().filter(is_its).count())
    }

    /// What a change comes to: the places of the children that change, but for marks of revisions. The workload is
    /// applied once, and rolled once.
    pub(super) async fn shift(
        &self,
        pods: &Pods,
        change: impl Future<Output = Result<()>>,
    ) -> Result<Places> {
        let (before, rollouts) = (self.children(pods).await?, self.rollouts(pods).await?);
        let old = self.workloads(pods).get(pods.workload.1).await?.metadata.generation;
        let mark = self.operator.recorder.mark();
        change.await?;
        let is_new = |workload: &DynamicObject| workload.metadata.generation > old;
        let waited = wait::until(&self.workloads(pods), pods.workload.1, "it has changed", is_new).await;
        waited.map_err(|error| error.context(self.tail()))?;
        self.calm().await?;
        self.assert_applies(mark, pods, 1);
        assert_eq!(self.rollouts(pods).await?, rollouts + 1, "{}", pods.kind);
        Ok(before.changes(&self.children(pods).await?).into_iter().filter(|place| !is_mark(place)).collect())
    }

    /// The same for an edit of the spec.
    pub(super) async fn change(&self, pods: &Pods, spec: Value) -> Result<Places> {
        self.shift(pods, self.edit(pods.kind, "s", spec)).await
    }

    /// Fails the test unless the workload was written this often since `mark`, and only by applies. Those that came too
    /// late, because somebody else had just written its status, do not count.
    #[track_caller]
    pub(super) fn assert_applies(&self, mark: Mark, pods: &Pods, times: usize) {
        let about = Pattern::any().of(&resource_of(&pods.manifest()).plural).named(pods.workload.1);
        let log = self.operator.recorder.since(mark).writes().only(&about);
        let is_apply = |write: &Exchange| write.verb == Verb::Apply && write.subresource.is_none();
        let done = log.iter().filter(|write| write.told != Some(409)).count();
        let kind = pods.kind;
        assert!(done == times && log.iter().all(is_apply), "{kind}: {times} applies, there were:\n{log}");
    }

    /// Has the operator start anew and look at the object once more, and shows that it changes nothing about it: it
    /// applies each child once at most, which leaves it as it is, and writes nothing else.
    pub(super) async fn assert_fixed(&mut self, pods: &Pods) -> Result<()> {
        self.seen(pods).await?;
        self.calm().await?;
        let (before, rollouts) = (self.children(pods).await?, self.rollouts(pods).await?);
        let mark = self.operator.recorder.mark();
        self.operator.subject.restart().await?;
        let plural = resource_of(&pods.manifest()).plural;
        let last = Pattern::verb(Verb::Apply).of(&plural).named(pods.workload.1).whole();
        self.operator.recorder.seen(mark, &last).await?;
        self.calm().await?;
        let after = self.children(pods).await?;
        assert_eq!(before.versions(), after.versions(), "{}", pods.kind);
        assert_eq!((before.changes(&after), self.rollouts(pods).await?), (places([]), rollouts));
        let mut sent = BTreeSet::new();
        for write in self.operator.writes(mark) {
            assert_eq!((write.verb, write.told), (Verb::Apply, Some(200)), "{write}");
            assert!(write.subresource.is_none() && sent.insert(write.path.clone()), "{write}");
        }
        Ok(())
    }
}

/// Whether a place changes whenever pods do, with what tells one revision from another.
pub(super) fn is_mark(place: &str) -> bool {
    let on_objects = [
        annotations::CONFIG_HASH,
        annotations::CONTENT_CHECKSUM,
        annotations::MCP_SERVER_GENERATION,
        annotations::REVISION,
        annotations::RUN_CONFIG_CHECKSUM,
    ];
    on_objects.iter().any(|annotation| place.ends_with(&format!("metadata.annotations[{annotation}]")))
        || place.ends_with(".env[THV_MCPSERVER_REVISION].value")
        || place.ends_with(" data[runconfig.json].mcpserver_generation")
}
