//! One pass over one object: read, plan, write what the plan says.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Client, Resource};
use serde_json::json;
use thv_api::Object;
use thv_api::names::annotations;
use thv_plan::{Backoff, Children, Decision, Deletion, Disruption, Plan, Planned};

use crate::converge::{Converge, Owner};
use crate::engine::{Engine, PassError, Place};
use crate::events::{Events, reference};
use crate::finalizer::FinalizerChange;
use crate::key::{Key, NamespacedName};
use crate::metrics::Metrics;
use crate::own_writes::OwnWrite;
use crate::projection::object::Cached;
use crate::registry::Objects;
use crate::relation::Relation;
use crate::snapshot::Dependencies;

/// How long until the next pass, if one is wanted even when nothing changes.
pub(crate) type Again = Option<Duration>;

/// Looks after the objects of one kind, whichever it is.
pub(crate) trait Reconcile: Send + Sync {
    /// One pass over the object of this name. When it says so, the object wants another one after a while.
    fn pass<'a>(
        &'a self,
        context: Context<'a>,
        name: &'a NamespacedName,
    ) -> BoxFuture<'a, Result<Again, PassError>>;

    /// Says in the status that a pass did not come to its end.
    fn report<'a>(
        &'a self,
        context: Context<'a>,
        name: &'a NamespacedName,
        error: &'a PassError,
    ) -> BoxFuture<'a, Result<(), PassError>>;
}

/// What a pass works with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub engine: &'a Engine,
    pub client: &'a Client,
    pub metrics: &'a Arc<Metrics>,
}

/// Looks after the objects of the kind `S`.
pub(crate) struct Reconciler<S: Planned> {
    pub(crate) objects: Arc<Objects<S>>,
    events: std::sync::OnceLock<Events>,
}

impl<S: Planned> Reconcile for Reconciler<S> {
    fn pass<'a>(
        &'a self,
        context: Context<'a>,
        name: &'a NamespacedName,
    ) -> BoxFuture<'a, Result<Again, PassError>> {
        async move {
            let pass = self.begin(context, name);
            context.engine.catch_up(&pass.key, &self.objects.cache).await?;
            pass.run().await
        }
        .boxed()
    }

    fn report<'a>(
        &'a self,
        context: Context<'a>,
        name: &'a NamespacedName,
        error: &'a PassError,
    ) -> BoxFuture<'a, Result<(), PassError>> {
        async move { self.begin(context, name).report(error).await }.boxed()
    }
}

impl<S: Planned> Reconciler<S> {
    pub(crate) const fn new(objects: Arc<Objects<S>>) -> Self {
        Self { objects, events: std::sync::OnceLock::new() }
    }

    fn begin<'a>(&'a self, context: Context<'a>, name: &NamespacedName) -> Pass<'a, S> {
        let events = self.events.get_or_init(|| {
            let controller = format!("{}-controller", S::SINGULAR);
            Events::new(context.client.clone(), &controller, context.metrics.clone())
        });
        let key = Key { kind: S::KIND, object: name.clone() };
        Pass { engine: context.engine, events, objects: &self.objects, key }
    }
}

/// One pass over one object of the kind `S`.
pub(crate) struct Pass<'a, S: Planned> {
    pub(crate) engine: &'a Engine,
    pub(crate) events: &'a Events,
    pub(crate) objects: &'a Objects<S>,
    pub(crate) key: Key,
}

impl<S: Planned> Pass<'_, S> {
    async fn run(&self) -> Result<Again, PassError> {
        let Some(cached) = self.objects.cache.get(&self.key.object) else {
            self.engine.forget(&self.key);
            return Ok(None);
        };
        let metadata = cached.metadata();
        if metadata.deletion_timestamp.is_some() {
            // It does not have to be well-formed to be removed.
            return self.finalize(&cached).await;
        }
        let object = match &cached.object {
            Ok(object) => object.clone(),
            Err(malformed) => return self.report_malformed(&cached, malformed).await.map(|()| None),
        };
        if let Some(finalizer) = S::FINALIZER.filter(|name| wants_finalizer::<S>() && !has(metadata, name)) {
            self.may_write(metadata, OwnWrite::Finalizer).await?;
            let change = FinalizerChange::Add(finalizer);
            let changed = self.engine.writer.finalizer::<S>(&self.key.object, metadata, change).await?;
            self.engine.own_writes.written(&self.key, uid_of(metadata), OwnWrite::Finalizer);
            if let Some(changed) = changed {
                self.note(&changed);
            }
            // The change comes back as an event, and the next pass starts from it.
            return Ok(None);
        }
        if cached.takeover {
            self.may_write(metadata, OwnWrite::Takeover).await?;
            if let Some(changed) = self.engine.writer.take_over_status::<S>(&self.key.object).await? {
                self.note(&changed);
            }
            self.engine.own_writes.written(&self.key, uid_of(metadata), OwnWrite::Takeover);
            return Ok(None);
        }
        let mut dependencies = Dependencies::new(&self.engine.loader.subscriptions, &self.key);
        let uid = object.metadata.uid.clone().unwrap_or_default();
        for kind in self.engine.caches.children.keys() {
            dependencies.add(kind.kind(), Relation::ControlledBy { uid: &uid });
        }
        let snapshot = self.engine.loader.load(&self.key, object.clone(), &cached, &mut dependencies).await?;
        let plan = S::plan(&snapshot);
        if let Children::Exactly(children) = &plan.children {
            for child in children {
                dependencies.add_named(child.kind().kind(), child.name());
            }
        }
        dependencies.settle();
        let again = self.carry_out(&object, &cached, plan).await?;
        self.engine.forget_failure(&self.key);
        Ok(again)
    }

    async fn carry_out(
        &self,
        object: &Arc<Object<S>>,
        cached: &Cached<S>,
        plan: Plan<S>,
    ) -> Result<Again, PassError> {
        let engine = self.engine;
        let uid = object.metadata.uid.clone().unwrap_or_default();
        let owner = Owner { key: &self.key, uid: &uid };
        let mut converge = Converge::new(engine, self.events, owner, object.object_ref(&()));
        if plan.disruption == Disruption::Unasked
            && let Err(wait) = engine.pace.turn(&self.key)
        {
            self.wait_for_turn(&mut converge, cached, &plan, wait).await?;
            return Ok(Some(converge.again().map_or(wait, |again| again.min(wait))));
        }
        let Plan {
            revision,
            disruption,
            children,
            scalings,
            pods_to_delete,
            annotations,
            status,
            meanwhile: _,
        } = plan;
        if let (Disruption::Edited | Disruption::Unasked, Children::Exactly(children)) =
            (disruption, &children)
        {
            for child in children {
                converge.dry_run(child).await?;
            }
        }
        let mut version = object.metadata.resource_version.clone().unwrap_or_default();
        if let Some(Decision::Mint(revision)) = &revision {
            let mark = json!({annotations::REVISION: revision.to_string()});
            let changed = engine.writer.annotate::<S>(&self.key.object, &version, &mark).await?;
            self.note(&changed);
            version = changed.metadata.resource_version.unwrap_or_default();
        }
        engine.pace.forget(&self.key);
        for scaling in scalings.iter().filter(|scaling| scaling.before_children) {
            converge.scale(scaling).await?;
        }
        if let Children::Exactly(children) = &children {
            for child in children {
                converge.apply(child).await?;
            }
            let known = match S::DELETION {
                Deletion::CleanUp { workloads, status: _ } => workloads(self.key.name()),
                Deletion::Nothing | Deletion::BlockedWhileReferenced { .. } => Vec::new(),
            };
            converge.prune(children, &known).await?;
        }
        for scaling in scalings.iter().filter(|scaling| !scaling.before_children) {
            converge.scale(scaling).await?;
        }
        for (name, uid) in &pods_to_delete {
            engine.writer.delete_object("v1", "Pod", &self.key.object.sibling(name), uid).await?;
        }
        let again = converge.again();
        if !annotations.is_empty() {
            let changed =
                engine.writer.annotate::<S>(&self.key.object, &version, &json!(annotations)).await?;
            self.note(&changed);
        }
        let status = match converge.contention() {
            Some(failure) => S::failing_status(Some(&status), &cached.observation(), &failure),
            None => status,
        };
        let later = self.write_status(cached, &status).await?.again();
        Ok(again.into_iter().chain(later).min())
    }

    /// Does everything that replaces no pods while a rollout that nobody asked for waits for its turn.
    async fn wait_for_turn(
        &self,
        converge: &mut Converge<'_>,
        cached: &Cached<S>,
        plan: &Plan<S>,
        wait: Duration,
    ) -> Result<(), PassError> {
        tracing::debug!(key = %self.key, ?wait, "a rollout that nobody asked for waits for its turn");
        if let Children::Exactly(children) = &plan.children {
            for child in children.iter().filter(|child| !child.carries_revision()) {
                converge.apply(child).await?;
            }
        }
        for scaling in &plan.scalings {
            converge.scale(scaling).await?;
        }
        self.write_status(cached, plan.meanwhile.as_ref().unwrap_or(&plan.status)).await.map(drop)
    }

    /// Fails if somebody keeps undoing this write, and tells of it once.
    pub(crate) async fn may_write(
        &self,
        metadata: &ObjectMeta,
        write: OwnWrite<'_>,
    ) -> Result<(), PassError> {
        let Err(Backoff { wait, is_news }) = self.engine.own_writes.judge(&self.key, uid_of(metadata), write)
        else {
            return Ok(());
        };
        if is_news {
            self.events.contested(&reference::<S>(metadata), "this object", wait).await;
        }
        Err(PassError::Contested { wait })
    }

    pub(crate) fn note<K: Resource>(&self, object: &K) {
        self.engine.note(&self.key, Place::Owner, Some(&self.objects.cache), object);
    }
}

/// The uid of an object, which every object of an API server has.
pub(crate) fn uid_of(metadata: &ObjectMeta) -> &str {
    metadata.uid.as_deref().unwrap_or_default()
}

/// Whether objects of a kind are kept by a finalizer until we have done our part.
const fn wants_finalizer<S: Planned>() -> bool {
    !matches!(S::DELETION, Deletion::Nothing)
}

/// Whether an object has this finalizer.
pub(crate) fn has(metadata: &ObjectMeta, finalizer: &str) -> bool {
    metadata.finalizers.iter().flatten().any(|name| name == finalizer)
}
