//! One pass over one object: read, plan, write what the plan says.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde_json::json;
use thv_api::Object;
use thv_api::conditions::Observation;
use thv_plan::{ChildKind, Children, Plan};

use crate::caches::Caches;
use crate::clock;
use crate::controlled::Controlled;
use crate::converge::Converge;
use crate::events::Events;
use crate::key::Key;
use crate::ledger::Ledger;
use crate::loader::{Loader, ReadError};
use crate::metrics::Metrics;
use crate::owner::{Cached, status_digest};
use crate::shelf::Written;
use crate::writer::{FinalizerChange, WriteError, Writer};

/// How long a pass waits for the caches to show our own last writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A pass that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PassError {
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The caches do not show yet what we have written.
    #[error("the caches have not caught up with our own writes")]
    Behind,
}

impl PassError {
    /// One word for metrics.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(WriteError::Conflict { .. }) => "conflict",
            Self::Write(WriteError::Taken { .. }) => "taken",
            Self::Write(WriteError::Api { .. }) => "write",
            Self::Behind => "behind",
        }
    }
}

/// Which cache a write of ours will show up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// That of the object itself.
    Owner,
    /// That of a kind of children.
    Child(ChildKind),
    /// That of the StatefulSets.
    Backend,
}

/// Runs passes over the objects of one kind.
pub(crate) struct Engine<S: Controlled> {
    pub(crate) caches: Arc<Caches>,
    pub(crate) writer: Writer,
    pub(crate) ledger: Ledger,
    pub(crate) events: Events,
    pub(crate) metrics: Arc<Metrics>,
    loader: Loader,
    /// Our last write in each place, for each owner.
    written: Mutex<BTreeMap<Key, BTreeMap<Place, Written>>>,
    kind: PhantomData<fn() -> S>,
}

impl<S: Controlled> Engine<S> {
    /// An engine over these parts.
    pub(crate) fn new(
        caches: Arc<Caches>,
        writer: Writer,
        loader: Loader,
        events: Events,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            caches,
            writer,
            loader,
            events,
            metrics,
            ledger: Ledger::default(),
            written: Mutex::default(),
            kind: PhantomData,
        }
    }

    /// One pass. When it says so, the object wants another one after a while.
    pub(crate) async fn pass(&self, key: &Key) -> Result<Option<Duration>, PassError> {
        self.catch_up(key).await?;
        let Some(cached) = S::shelf(&self.caches).get(key) else {
            self.forget(key);
            return Ok(None);
        };
        let object = match &cached.object {
            Ok(object) => object.clone(),
            Err(malformed) if malformed.metadata.deletion_timestamp.is_some() => {
                // It does not have to be mended to be removed.
                return self.let_go(key, &malformed.metadata).await.map(|()| None);
            }
            Err(malformed) => {
                tracing::warn!(%key, %malformed, "the object is malformed and is left alone until it is mended");
                self.events.malformed::<S>(malformed).await;
                return Ok(None);
            }
        };
        if object.metadata.deletion_timestamp.is_some() {
            return self.part(key, &object, &cached).await.map(|()| None);
        }
        if !has_finalizer::<S>(&object.metadata) {
            let change = FinalizerChange::Add(S::FINALIZER);
            let changed = self.writer.finalizer::<S>(key, &object.metadata, change).await?;
            self.note_owner(key, &changed);
            // The change comes back as an event, and the next pass starts from it.
            return Ok(None);
        }
        if cached.takeover {
            self.take_over(key).await?;
            return Ok(None);
        }
        let snapshot = self.loader.load::<S>(key, object.clone()).await?;
        let plan = S::plan(&snapshot);
        self.carry_out(key, &object, &cached, plan).await
    }

    /// Says in the status that something could not be read or written.
    pub(crate) async fn report(&self, key: &Key, error: &PassError) -> Result<(), PassError> {
        let Some(cached) = S::shelf(&self.caches).get(key) else { return Ok(()) };
        let Ok(object) = &cached.object else { return Ok(()) };
        let observation = observation(object);
        let status = S::troubled(object, &observation, &cached.conditions, &error.to_string());
        self.write_status(key, object, &cached, &status).await
    }

    async fn carry_out(
        &self,
        key: &Key,
        object: &Arc<Object<S>>,
        cached: &Cached<S>,
        plan: Plan<S>,
    ) -> Result<Option<Duration>, PassError> {
        let Plan { revision, children, scalings, doomed_pods, annotations, status, again } = plan;
        let uid = object.metadata.uid.clone().unwrap_or_default();
        let mut version = object.metadata.resource_version.clone().unwrap_or_default();
        if let Some(thv_plan::Decision::Mint(revision)) = &revision {
            let mark = json!({thv_api::names::annotations::REVISION: revision.to_string()});
            let changed = self.writer.annotate::<S>(key, &version, &mark).await?;
            self.note_owner(key, &changed);
            version = changed.metadata.resource_version.unwrap_or_default();
        }
        let mut converge = Converge::new(self, key, &uid);
        for scaling in scalings.iter().filter(|scaling| scaling.before_children) {
            converge.scale(scaling).await?;
        }
        if let Children::Exactly(children) = &children {
            for child in children {
                converge.apply(child).await?;
            }
            converge.prune(children).await?;
        }
        for scaling in scalings.iter().filter(|scaling| !scaling.before_children) {
            converge.scale(scaling).await?;
        }
        for (name, uid) in &doomed_pods {
            self.writer.delete_object("v1", "Pod", &Key::new(&key.namespace, name), uid).await?;
        }
        let truce = converge.truce();
        if !annotations.is_empty() {
            let changed = self.writer.annotate::<S>(key, &version, &json!(annotations)).await?;
            self.note_owner(key, &changed);
        }
        self.write_status(key, object, cached, &status).await?;
        Ok([again, truce].into_iter().flatten().min())
    }

    /// Applies the status if it is not what is there already, and tells of what has turned.
    async fn write_status(
        &self,
        key: &Key,
        object: &Arc<Object<S>>,
        cached: &Cached<S>,
        status: &S::Status,
    ) -> Result<(), PassError> {
        let value = json!(status);
        if cached.status.as_deref() == Some(&status_digest(&value)) {
            return Ok(());
        }
        let changed = self.writer.apply_status::<S>(key, &value).await?;
        self.note_owner(key, &changed);
        let before = object.status.as_ref().map(S::conditions).unwrap_or_default();
        self.events.turned(object.as_ref(), before, S::conditions(status)).await;
        Ok(())
    }

    /// The end of an object: its workloads are told to go, and nothing is waited for. What else belongs to it is
    /// collected by the API server.
    async fn part(&self, key: &Key, object: &Arc<Object<S>>, cached: &Cached<S>) -> Result<(), PassError> {
        if !has_finalizer::<S>(&object.metadata) {
            return Ok(());
        }
        let status = S::farewell(object, &observation(object));
        self.write_status(key, object, cached, &status).await?;
        // The status has moved the version, so the object is read once more by the next pass if it has to be.
        let mut metadata = object.metadata.clone();
        metadata.resource_version = self.written_version(key).or(metadata.resource_version);
        self.let_go(key, &metadata).await
    }

    /// Removes the workloads of an object, and then our finalizer.
    async fn let_go(&self, key: &Key, metadata: &ObjectMeta) -> Result<(), PassError> {
        if !has_finalizer::<S>(metadata) {
            return Ok(());
        }
        let uid = metadata.uid.as_deref().unwrap_or_default();
        let deployments = self.caches.children.get(&ChildKind::Deployment);
        let deployment = deployments.and_then(|shelf| shelf.get(key)).filter(|facts| facts.controller == uid);
        if let Some(facts) = deployment {
            self.writer.delete(ChildKind::Deployment, key, &facts.uid).await?;
        }
        if let Some(backend) = self.caches.backends.get(key) {
            let is_ours = backend.controller.as_deref().is_none_or(|controller| controller == uid);
            if is_ours {
                self.writer.delete_object("apps/v1", "StatefulSet", key, &backend.identity.uid).await?;
            }
        }
        let change = FinalizerChange::Remove(S::FINALIZER);
        self.writer.finalizer::<S>(key, metadata, change).await?;
        Ok(())
    }

    async fn take_over(&self, key: &Key) -> Result<(), PassError> {
        if let Some(changed) = self.writer.take_over_status::<S>(key).await? {
            self.note_owner(key, &changed);
        }
        Ok(())
    }

    /// Waits until the caches show all that we have written for this owner.
    async fn catch_up(&self, key: &Key) -> Result<(), PassError> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        for (place, written) in written.unwrap_or_default() {
            let caught_up = match place {
                Place::Owner => match S::shelf(&self.caches).feed(&key.namespace) {
                    Some(feed) => feed.caught_up(written, PATIENCE).await,
                    None => true,
                },
                Place::Child(kind) => {
                    match self.caches.children.get(&kind).and_then(|shelf| shelf.feed(&key.namespace)) {
                        Some(feed) => feed.caught_up(written, PATIENCE).await,
                        None => true,
                    }
                }
                Place::Backend => match self.caches.backends.feed(&key.namespace) {
                    Some(feed) => feed.caught_up(written, PATIENCE).await,
                    None => true,
                },
            };
            if !caught_up {
                return Err(PassError::Behind);
            }
        }
        self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
        Ok(())
    }

    pub(crate) fn remember(&self, key: &Key, place: Place, written: Written) {
        let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key.clone()).or_default().insert(place, written);
    }

    fn note_owner<K: Resource>(&self, key: &Key, object: &K) {
        if let Some(feed) = S::shelf(&self.caches).feed(&key.namespace) {
            self.remember(key, Place::Owner, feed.written(crate::shelf::resource_version(object)));
        }
    }

    fn written_version(&self, key: &Key) -> Option<String> {
        let all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(key)?.get(&Place::Owner).map(Written::version)
    }

    /// Everything that we know of an owner that is gone.
    fn forget(&self, key: &Key) {
        self.loader.forget(key);
        self.ledger.forget(key);
    }
}

fn has_finalizer<S: Controlled>(metadata: &ObjectMeta) -> bool {
    metadata.finalizers.iter().flatten().any(|name| name == S::FINALIZER)
}

fn observation<S: Controlled>(object: &Object<S>) -> Observation<'_> {
    let live = object.status.as_ref().map(S::conditions).unwrap_or_default();
    Observation::new(object.metadata.generation.unwrap_or_default(), clock::now(), live)
}
