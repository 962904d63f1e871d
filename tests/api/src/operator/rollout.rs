//! Rollouts: how to cause them, and how to see that there was one, or none.

use anyhow::Result;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_api::{Kind, Object};
use thv_testbed::{Exchange, Mark, Pattern, Space, Verb, wait};

use super::difference::{Children, Places, places};
use super::{Operator, minimal, pod_annotations};
use crate::fixture::{apply, json_of, resource_version};

/// The annotation with the revision, on a server and on its Deployment.
pub(crate) const REVISION: &str = "toolhive.stacklok.dev/revision";
/// The annotation of pods with the generation that they were made for.
pub(crate) const STAMP: &str = "toolhive.stacklok.dev/mcpserver-generation";
/// The annotation of pods with the digest of their configuration.
pub(crate) const CHECKSUM: &str = "toolhive.stacklok.dev/runconfig-checksum";

/// The places that change with every new revision.
pub(crate) fn minted() -> Places {
    places([
        "Deployment/s metadata.annotations[toolhive.stacklok.dev/revision]",
        "Deployment/s spec.template.spec.containers[toolhive].env[THV_MCPSERVER_REVISION].value",
    ])
}

/// The places that change with the configuration of the proxy, but for the configuration.
pub(crate) fn configured() -> Places {
    places([
        "ConfigMap/s-runconfig metadata.annotations[toolhive.stacklok.dev/content-checksum]",
        "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/runconfig-checksum]",
    ])
}

/// The places that change with the generation that pods are made for, which is in their configuration too.
pub(crate) fn stamped() -> Places {
    places([
        "ConfigMap/s-runconfig data[runconfig.json].mcpserver_generation",
        "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/mcpserver-generation]",
    ])
}

/// The places that change with an edit of the spec that changes the pods: a revision, a stamp, and these.
pub(crate) fn edited<const N: usize>(more: [&str; N]) -> Places {
    [minted(), configured(), stamped(), places(more)].into_iter().flatten().collect()
}

/// The places that change with something that the server refers to, when its configuration depends on it.
pub(crate) fn reconfigured<const N: usize>(more: [&str; N]) -> Places {
    [minted(), configured(), places(more)].into_iter().flatten().collect()
}

/// What the pods of a Deployment are bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Birth {
    /// The number of the revision.
    pub(crate) revision: u64,
    /// The content that it names.
    pub(crate) content: String,
    /// The generation of the server.
    pub(crate) stamp: i64,
    /// The digest of the configuration.
    pub(crate) checksum: String,
}

impl Birth {
    /// That of the pods that a Deployment makes. What its container is told of it agrees with it.
    pub(crate) fn of(deployment: &Deployment) -> Self {
        let (number, content) = deployment.annotations()[REVISION].split_once('/').unwrap();
        let owner = &deployment.owner_references()[0].uid;
        assert_eq!(variable(deployment, "THV_MCPSERVER_REVISION")["value"], format!("{owner}/{number}"));
        let on_pods = pod_annotations(deployment);
        for (name, annotation) in [("THV_MCPSERVER_GENERATION", STAMP), ("THV_RUNCONFIG_CHECKSUM", CHECKSUM)]
        {
            let path = format!("metadata.annotations['{annotation}']");
            let field = json!({"fieldRef": {"apiVersion": "v1", "fieldPath": path}});
            assert_eq!(variable(deployment, name), json!({"name": name, "valueFrom": field}));
        }
        Self {
            revision: number.parse().unwrap(),
            content: content.to_owned(),
            stamp: on_pods[STAMP].parse().unwrap(),
            checksum: on_pods[CHECKSUM].clone(),
        }
    }
}

/// An environment variable of the proxy.
pub(crate) fn variable(deployment: &Deployment, name: &str) -> Value {
    let env = json_of(deployment).pointer("/spec/template/spec/containers/0/env").cloned().unwrap();
    let mut found = env.as_array().unwrap().iter().filter(|variable| variable["name"] == name);
    let first = found.next().unwrap_or_else(|| panic!("no variable {name} in {env}")).clone();
    assert_eq!(found.next(), None, "{name} is there twice");
    first
}

impl Operator {
    /// The children of the server `s`.
    pub(crate) async fn children(&self) -> Result<Children> {
        Children::of(&self.space, &self.servers().get("s").await?).await
    }

    /// Every ReplicaSet of a Deployment, as [`replica_sets`] tells.
    pub(crate) async fn replica_sets(&self, name: &str) -> Result<Vec<ReplicaSet>> {
        replica_sets(&self.space, name).await
    }

    /// Waits until the controllers around the Deployment `s` have nothing left to say about it, and returns its version.
    /// Its pods are there and never become ready, since nobody runs them.
    pub(crate) async fn at_rest(&self) -> Result<String> {
        let is_at_rest = |deployment: &Deployment| {
            let status = deployment.status.clone().unwrap_or_default();
            status.observed_generation == deployment.metadata.generation
                && status.updated_replicas == Some(1)
                && status.unavailable_replicas == status.replicas
                && wait::has_condition(deployment, "Progressing", "True")
                && wait::has_condition(deployment, "Available", "False")
        };
        let deployments = self.space.api::<Deployment>();
        let deployment = wait::until(&deployments, "s", "its controller is done", is_at_rest).await?;
        Ok(resource_version(&deployment))
    }

    /// Waits until there is nothing left to do about the server `s`, also about what its pods are up to.
    pub(crate) async fn settle(&self, probe: &str) -> Result<()> {
        self.at_rest().await?;
        self.outlast(&format!("{probe}-before")).await
    }

    /// How many times the pods of a server have been rolled, the first time included.
    pub(crate) async fn rollouts(&self, name: &str) -> Result<usize> {
        Ok(self.replica_sets(name).await?.len())
    }

    /// Waits until the Deployment has another revision than before.
    pub(crate) async fn rolled(&self, before: &Deployment) -> Result<Deployment> {
        let old = before.annotations().get(REVISION).cloned();
        let is_new = |deployment: &Deployment| deployment.annotations().get(REVISION).cloned() != old;
        let deployments = self.space.api::<Deployment>();
        let rolled = wait::until(&deployments, &before.name_any(), "it has a new revision", is_new).await;
        rolled.map_err(|error| error.context(format!("the operator wrote:\n{}", self.subject.output())))
    }

    /// Gives the operator time to do what it should not: what came before the new server has been seen before it.
    pub(crate) async fn outlast(&self, probe: &str) -> Result<()> {
        self.server(&format!("probe-{probe}"), minimal()).await.map(drop)
    }

    /// The writes since `mark` that are not about the servers of [`Operator::outlast`].
    pub(crate) fn writes(&self, mark: Mark) -> Vec<Exchange> {
        let log = self.recorder.since(mark).writes();
        let is_meant = |exchange: &&Exchange| {
            let name = exchange.name.as_deref().unwrap_or_default();
            !name.contains("probe") && !["events", "leases"].contains(&exchange.resource.as_str())
        };
        log.iter().filter(is_meant).cloned().collect()
    }

    /// Fails the test unless the Deployment of the server `s` was written this often since `mark`, and only by applies.
    /// Those that came too late, because somebody else had just written its status, do not count.
    #[track_caller]
    pub(crate) fn assert_applies(&self, mark: Mark, times: usize) {
        let log = self.recorder.since(mark).writes().only(&Pattern::any().of("deployments").named("s"));
        let is_apply = |write: &Exchange| write.verb == Verb::Apply && write.subresource.is_none();
        let done = log.iter().filter(|write| write.told != Some(409)).count();
        assert!(done == times && log.iter().all(is_apply), "expected {times} applies, there were:\n{log}");
    }

    /// Restarts the operator and shows that it changes nothing about the server `s`: every child is applied once, which
    /// leaves it as it is, and nothing else is written.
    pub(crate) async fn assert_fixed(&mut self, probe: &str) -> Result<()> {
        self.settle(probe).await?;
        let (before, rollouts) = (self.children().await?, self.rollouts("s").await?);
        let mark = self.recorder.mark();
        self.subject.restart().await?;
        let last = Pattern::verb(Verb::Apply).of("deployments").named("s").whole();
        self.recorder.seen(mark, &last).await?;
        // A change that is none, of the server itself, has it looked at once more.
        let touch = json!({"metadata": {"labels": {"touched": probe}}});
        self.edit("s", touch).await?;
        self.outlast(probe).await?;
        let after = self.children().await?;
        assert_eq!(before.versions(), after.versions());
        assert_eq!(before.changes(&after), places([]));
        assert_eq!(self.rollouts("s").await?, rollouts);
        let mut sent = std::collections::BTreeSet::new();
        for write in self.writes(mark) {
            assert_eq!((write.verb, write.told), (Verb::Apply, Some(200)), "{write}");
            assert!(write.subresource.is_none(), "{write}");
            assert!(sent.insert(write.path.clone()), "{write} comes twice");
        }
        assert_eq!(sent.len(), before.versions().len(), "{sent:?}");
        Ok(())
    }
}

/// Every ReplicaSet of a Deployment, oldest first, as soon as its controller has seen it as it is.
pub(crate) async fn replica_sets(space: &Space, name: &str) -> Result<Vec<ReplicaSet>> {
    let is_seen = |deployment: &Deployment| {
        let seen = deployment.status.as_ref().and_then(|status| status.observed_generation);
        seen == deployment.metadata.generation
    };
    let deployment =
        wait::until(&space.api::<Deployment>(), name, "its controller has seen it", is_seen).await?;
    let uid = deployment.metadata.uid.unwrap();
    let mut sets = space.api::<ReplicaSet>().list(&ListParams::default()).await?.items;
    sets.retain(|set| set.owner_references().iter().any(|owner| owner.uid == uid));
    let number =
        |set: &ReplicaSet| -> u64 { set.annotations()["deployment.kubernetes.io/revision"].parse().unwrap() };
    sets.sort_by_key(number);
    Ok(sets)
}

/// Makes or changes a configuration that servers refer to.
pub(crate) async fn config<S: Kind>(space: &Space, name: &str, spec: Value) -> Result<()>
where
    Object<S>: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
{
    let body = json!({
        "apiVersion": Object::<S>::api_version_text(), "kind": S::KIND,
        "metadata": {"name": name}, "spec": spec,
    });
    let api: Api<Object<S>> = space.api();
    apply(&api, name, "user", &body).await?;
    Ok(())
}

/// Makes or changes a ConfigMap.
pub(crate) async fn config_map(space: &Space, name: &str, data: Value) -> Result<()> {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data});
    apply(&space.api::<ConfigMap>(), name, "user", &body).await.map(drop).map_err(Into::into)
}

/// Makes or changes a Secret.
pub(crate) async fn secret(space: &Space, name: &str, data: Value) -> Result<()> {
    let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data});
    apply(&space.api::<Secret>(), name, "user", &body).await.map(drop).map_err(Into::into)
}

/// Changes something by a merge patch.
pub(crate) async fn patch<K>(api: &Api<K>, name: &str, patch: Value) -> Result<K>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    Ok(api.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await?)
}
