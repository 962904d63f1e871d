//! The end of an object: its finalizer goes when we have done our part.

use thv_api::Object;
use thv_api::conditions::Observation;
use thv_plan::{ChildKind, Deletion, Failure, Planned, Target, referrer_list};

use crate::engine::PassError;
use crate::finalizer::FinalizerChange;
use crate::projection::child::ChildFacts;
use crate::projection::metadata::Writer;
use crate::projection::object::Cached;
use crate::reconcile::{Again, Pass, has};
use crate::snapshot::Dependencies;
use crate::status::StatusWrite;

/// The finalizer by which the API server remembers that whoever deleted an object wants what belongs to it to stay, as
/// with `kubectl delete --cascade=orphan`. Another object of the same kind and name adopts it.
const ORPHAN: &str = "orphan";

impl<S: Planned> Pass<'_, S> {
    /// Does what there is to do about an object that is being deleted, and lets it go. Nothing is waited for but those
    /// who refer to it, if the kind says so. What else belongs to it is collected by the API server.
    pub(crate) async fn finalize(&self, cached: &Cached<S>) -> Result<Again, PassError> {
        let mut metadata = cached.metadata().clone();
        let Some(finalizer) = S::FINALIZER.filter(|name| has(&metadata, name)) else { return Ok(None) };
        match S::DELETION {
            Deletion::Nothing => {}
            Deletion::CleanUp { workloads, status } => {
                if !has(&metadata, ORPHAN) {
                    self.delete_workloads(metadata.uid.as_deref().unwrap_or_default(), workloads).await?;
                }
                if let Ok(object) = &cached.object {
                    match self.write_status(cached, &status(object, &cached.observation())).await {
                        Ok(StatusWrite::Written(changed)) => metadata = *changed,
                        Ok(StatusWrite::Unchanged | StatusWrite::Later(_)) => {}
                        // Whether it can be said or not, the object goes.
                        Err(error) => {
                            tracing::debug!(key = %self.key, %error, "its last status was not written");
                        }
                    }
                }
            }
            Deletion::BlockedWhileReferenced { status } => {
                let referrers = self.referrers().await?;
                if !referrers.is_empty() {
                    return self.block_deletion(cached, &referrers, status).await;
                }
            }
        }
        let change = FinalizerChange::Remove(finalizer);
        if let Some(changed) = self.engine.writer.finalizer::<S>(&self.key.object, &metadata, change).await? {
            self.note(&changed);
        }
        Ok(None)
    }

    /// Deletes the workloads that are this object's: those that it controls, and those that a proxy has made for it and
    /// that nobody controls yet.
    async fn delete_workloads(
        &self,
        uid: &str,
        workloads: fn(&str) -> Vec<(ChildKind, String)>,
    ) -> Result<(), PassError> {
        for (kind, name) in workloads(self.key.name()) {
            let name = self.key.object.sibling(&name);
            let Some(facts) = self.engine.caches.children(kind).and_then(|cache| cache.get(&name)) else {
                continue;
            };
            let is_proxys = |facts: &ChildFacts| facts.controller.is_none() && facts.writer == Writer::Proxy;
            if facts.is_controlled_by(uid) || is_proxys(&facts) {
                self.engine.writer.delete(kind, &name, &facts.uid).await?;
            }
        }
        Ok(())
    }

    /// Who refers to this object. We hear of it when that changes. That nobody does has to be certain, and a watch that
    /// hangs shows the same as one with nothing to tell: the API server is asked.
    async fn referrers(&self) -> Result<Vec<Target>, PassError> {
        let loader = &self.engine.loader;
        let (kinds, namespace) = (&loader.kinds, self.key.namespace());
        let own = Target::new::<S>(self.key.name());
        let mut dependencies = Dependencies::new(&loader.subscriptions, &self.key);
        dependencies.add_referrers(kinds, &own);
        dependencies.settle();
        let mut found = kinds.referrers(namespace, &own);
        if found.is_empty() {
            for row in kinds.that_refer_to(own.kind) {
                let listed = row.objects.list_referrers(&loader.client, &loader.settings, namespace, &own);
                found.extend(listed.await?);
            }
        }
        Ok(found)
    }

    /// Says who keeps the object.
    async fn block_deletion(
        &self,
        cached: &Cached<S>,
        referrers: &[Target],
        status: fn(&Object<S>, &Observation<'_>, &[Target]) -> S::Status,
    ) -> Result<Again, PassError> {
        let observation = cached.observation();
        let status = match &cached.object {
            Ok(object) => status(object, &observation, referrers),
            Err(malformed) => {
                let message = format!(
                    "it is being deleted, and goes when nobody refers to it any more: {}. It is malformed as well: {malformed}",
                    referrer_list(referrers),
                );
                let failure = Failure::Malformed(message);
                S::failing_status(cached.our_status().as_ref(), &observation, &failure)
            }
        };
        Ok(self.write_status(cached, &status).await?.again())
    }
}
