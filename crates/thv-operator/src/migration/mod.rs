//! The storage-version migrator: has the objects of a kind stored anew in its storage version, and then takes the former
//! versions off the list of those that may be stored (`status.storedVersions` of the CRD). Only then may a later release
//! stop serving a former version.
//!
//! The cluster is the only state. A pass that is cut short, by a crash or a change of leader, is begun anew, and the API
//! server writes nothing for the objects that were stored anew before. What [`MigrationProgress`] holds saves requests, nothing else.
//!
//! # When a version may be trimmed
//!
//! Only after a pass over all objects in which each was stored anew, or gone. The patch that trims carries the
//! resourceVersion of the CRD as it was read before the pass: if anybody changes the CRD meanwhile, as by another switch of
//! the storage version, it is refused, and the pass starts over.
//!
//! That does not cover everything, because objects can be stored in the former version *after* the CRD names another, with
//! no change of the CRD. The API server encodes an object in the storage version that it knew of when the request arrived:
//!
//! - A request that was under way when the CRD changed keeps the former version to its end. By default a request takes at
//!   most a minute.
//! - API servers learn of a change by watching, and in a cluster of several each does so in its own time. One that is
//!   behind stores new objects in the former version. It also *elides our own rewrites*, because to it nothing changes, and
//!   its answer looks just like that for an object that needs no rewriting.
//!
//! What covers these is time. A pass begins a grace period after the spec of the CRD was first seen as it is, by the CRD's
//! uid and generation. From then on nobody writes the former version, and what a list of that moment does not show was
//! stored in the new one. (Kubernetes relies on time in the same way, for five seconds, when it establishes a CRD in a
//! cluster of several API servers.) An API server whose watch lags for longer than the grace period is beyond our sight.

mod definition;
mod pass;
mod progress;
mod report;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt};
use thv_api::names::{env, labels};

use self::definition::{Definition, has_suffix};
use self::progress::Migrations;
use self::report::MigrationError;
use crate::events::Events;
use crate::key::{Key, NamespacedName};
use crate::metrics::Metrics;
use crate::projection::partial::MetadataOnly;
use crate::queue::Queue;
use crate::rbac;
use crate::snapshot::ReadError;
use crate::writer::Writer;

/// The kind of what is looked at.
const KIND: &str = "CustomResourceDefinition";

/// CRDs of one list are held at once, and the annotations of each may be as large as the CRD.
const DEFINITIONS: u32 = 5;

/// How long objects that somebody else keeps writing are left alone.
const AFTER_CONFLICTS: Duration = Duration::from_secs(30);

/// How long the migrator rests after a panic.
const AFTER_PANIC: Duration = Duration::from_mins(5);

/// Has objects stored anew in the storage version of their kind.
pub(crate) struct Migrator {
    client: Client,
    writer: Writer,
    events: Events,
    metrics: Arc<Metrics>,
    /// How long API servers may still store the former version.
    grace: Duration,
}

impl Migrator {
    /// A migrator, unless the operator looks after some namespaces only: trimming is about the objects of all.
    pub(crate) fn new(
        client: &Client,
        writer: &Writer,
        metrics: &Arc<Metrics>,
        scopes: &[Option<String>],
        grace: Duration,
    ) -> Option<Self> {
        if scopes.iter().any(Option::is_some) {
            tracing::warn!(
                "the storage-version migrator stays off: it has to see the objects of the whole cluster, and {} \
                 limits this operator to some namespaces. Unset one of {0} and {}",
                env::WATCH_NAMESPACE,
                env::ENABLE_STORAGE_VERSION_MIGRATOR,
            );
            return None;
        }
        let events = Events::new(client.clone(), "storageversionmigrator-controller", metrics.clone());
        let (client, writer, metrics) = (client.clone(), writer.clone(), metrics.clone());
        Some(Self { client, writer, events, metrics, grace })
    }

    /// Works for as long as it is polled, and survives itself: nothing that happens here stops the operator.
    pub(crate) async fn run(&self) {
        catch_panics(async || {
            let queue = Queue::default();
            tokio::join!(self.watch(&queue), self.work(&queue));
        })
        .await;
    }

    /// Adds every CRD that has opted in to the queue, whenever it changes. Nothing of it is kept but its name.
    async fn watch(&self, queue: &Queue) {
        let api: Api<MetadataOnly<CustomResourceDefinition>> = Api::all(self.client.clone());
        let opted_in = format!("{}=true", labels::AUTO_MIGRATE_STORAGE_VERSION);
        let config = watcher::Config::default().labels(&opted_in).page_size(DEFINITIONS);
        let mut events = watcher::watcher(api, config).default_backoff().boxed();
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::InitApply(crd) | Event::Apply(crd) | Event::Delete(crd)) => {
                    let name = crd.name_any();
                    if has_suffix(&name) {
                        queue.add(Key { kind: KIND, object: NamespacedName::new("", &name) });
                    }
                }
                Ok(Event::Init | Event::InitDone) => {}
                Err(error) => tracing::warn!(
                    %error,
                    "the storage-version migrator cannot watch CRDs and tries again; its rights are in the ClusterRole {}",
                    rbac::MIGRATOR_ROLE,
                ),
            }
        }
    }

    /// Takes one CRD after the other.
    async fn work(&self, queue: &Queue) {
        let mut migrations = Migrations::default();
        loop {
            let key = queue.next().await;
            match self.migrate(key.name(), &mut migrations).await {
                Ok(again) => {
                    queue.done(&key);
                    if let Some(wait) = again {
                        queue.add_after(key, wait);
                    }
                }
                Err(error) => {
                    let failures = queue.failures(&key) + 1;
                    let wait = queue.failed(&key);
                    tracing::warn!(crd = key.name(), %error, ?wait, "stored objects are not migrated yet; will try again");
                    self.tell_failure(key.name(), migrations.uid(key.name()), &error, failures).await;
                }
            }
        }
    }

    /// Migrates the objects of one kind, as far as that can be done now: when to look again, if there is more to do.
    async fn migrate(
        &self,
        crd: &str,
        migrations: &mut Migrations,
    ) -> Result<Option<Duration>, MigrationError> {
        let Some(migration) = self.definition(crd).await?.and_then(Definition::into_migration) else {
            migrations.forget(crd);
            self.metrics.migration_remaining(crd, 0);
            return Ok(None);
        };
        let progress = migrations.of(&migration);
        if let Some(wait) = progress.wait(self.grace) {
            tracing::info!(crd, storage = migration.storage(), ?wait, "stored objects will be migrated");
            return Ok(Some(wait));
        }
        let outcome = self.pass(&migration, progress).await?;
        if !outcome.failures.is_empty() {
            return Err(MigrationError::Objects(outcome.failures));
        }
        if outcome.conflicts > 0 {
            let conflicts = outcome.conflicts;
            tracing::info!(crd, conflicts, "somebody else keeps writing objects; they are tried again later");
            return Ok(Some(AFTER_CONFLICTS));
        }
        let trimmed = self.writer.trim_stored_versions(crd, &migration.resource_version, migration.storage());
        trimmed.await.map_err(MigrationError::trim)?;
        self.tell_success(&migration, progress.rewritten()).await;
        migrations.forget(crd);
        Ok(None)
    }

    /// The CRD as it is now, if it is there.
    async fn definition(&self, crd: &str) -> Result<Option<Definition>, MigrationError> {
        let found = Api::<Definition>::all(self.client.clone()).get_opt(crd).await;
        found.map_err(|error| MigrationError::read(ReadError::api(&format!("{KIND} {crd}"), error)))
    }
}

/// Does something that does not end, and begins it anew after a rest should it panic.
async fn catch_panics(mut work: impl AsyncFnMut()) {
    loop {
        if AssertUnwindSafe(work()).catch_unwind().await.is_err() {
            tracing::error!(wait = ?AFTER_PANIC, "the storage-version migrator has panicked; it will start again");
        }
        tokio::time::sleep(AFTER_PANIC).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_migrator_that_panics_starts_again_after_a_rest_and_stops_nobody() {
        let (start, mut starts) = (Instant::now(), Vec::new());
        let work = catch_panics(async || {
            starts.push(start.elapsed());
            assert!(starts.len() > 2, "on purpose");
            std::future::pending::<()>().await;
        });
        assert!(timeout(AFTER_PANIC * 5, work).await.is_err(), "it works on");
        assert_eq!(starts, [Duration::ZERO, AFTER_PANIC, AFTER_PANIC * 2]);
    }
}
