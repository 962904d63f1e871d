//! One pass over all objects of a kind.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Migrator;
use super::definition::Migration;
use super::progress::MigrationProgress;
use super::report::{Failures, MigrationError};
use crate::engine::PassError;
use crate::projection::partial::MetadataOnly;
use crate::snapshot::ReadError;
use crate::write_error::WriteError;

/// How many objects are listed at once, of which only the metadata is held.
const PAGE: u32 = 100;

/// How often a pass begins its list anew because the API server has forgotten where it was. That happens after five
/// minutes, which are enough for some 15,000 objects, and the objects that are remembered take no time again.
const EXPIRIES: usize = 5;

/// How often an object is tried that somebody else writes at the same time.
const ATTEMPTS: usize = 3;

/// Rewrites go one after the other, at most 50 in a second. Every one is an event for all who watch the kind, ourselves
/// included: 5,000 servers take two minutes, in which neither the API server nor our own queue has much to do.
const TURN: Duration = Duration::from_millis(20);

/// After so many failures in a row that are not about the objects, the pass is given up: the API server is not well.
const OUTAGE: usize = 5;

/// How a pass ended. Everything that is not counted here is stored in the storage version, or gone.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many objects somebody else kept writing.
    pub conflicts: usize,
    /// The objects that could not be stored anew.
    pub failures: Failures,
}

/// What became of an object.
enum Fate {
    /// It is stored in the storage version, or gone.
    Settled,
    /// Somebody else kept writing it.
    Contested,
}

/// A pass that is under way.
struct Pass<'a> {
    migrator: &'a Migrator,
    migration: &'a Migration,
    progress: &'a mut MigrationProgress,
    turns: Interval,
    outcome: Outcome,
    /// How many failures in a row were not about the objects.
    outages: usize,
}

impl Migrator {
    /// Has every object stored anew that is not known to be stored in the storage version.
    pub(super) async fn pass(
        &self,
        migration: &Migration,
        progress: &mut MigrationProgress,
    ) -> Result<Outcome, MigrationError> {
        let mut turns = interval(TURN);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (outcome, outages) = (Outcome::default(), 0);
        Pass { migrator: self, migration, progress, turns, outcome, outages }.run().await
    }
}

impl Pass<'_> {
    async fn run(mut self) -> Result<Outcome, MigrationError> {
        let resource = &self.migration.resource;
        let api: Api<MetadataOnly<DynamicObject>> = Api::all_with(self.migrator.client.clone(), resource);
        // With no resourceVersion, the list is of this moment and not of some earlier one.
        let mut page = ListParams::default().limit(PAGE);
        let mut expiries = 0;
        loop {
            let list = match api.list(&page).await {
                Ok(list) => list,
                Err(kube::Error::Api(status)) if status.code == 410 && expiries < EXPIRIES => {
                    expiries += 1;
                    self.outcome = Outcome::default();
                    page.continue_token = None;
                    continue;
                }
                Err(error) => {
                    let what = format!("the {} of the cluster", resource.plural);
                    return Err(MigrationError::read(ReadError::api(&what, error)));
                }
            };
            let beyond = list.metadata.remaining_item_count.unwrap_or_default();
            let beyond = usize::try_from(beyond).unwrap_or_default();
            if page.continue_token.is_none() && self.progress.is_news() {
                self.migrator.tell_begin(self.migration, list.items.len() + beyond).await;
            }
            self.rewrite_all(list.items, beyond).await;
            page.continue_token = list.metadata.continue_.filter(|token| !token.is_empty());
            if page.continue_token.is_none() || self.outages == OUTAGE {
                return Ok(self.outcome);
            }
        }
    }

    /// Has the objects of one page stored anew. So many are on the pages `beyond` it.
    async fn rewrite_all(&mut self, objects: Vec<MetadataOnly<DynamicObject>>, beyond: usize) {
        let (migration, metrics) = (self.migration, &self.migrator.metrics);
        let mut left = objects.len() + beyond;
        for MetadataOnly { metadata, .. } in objects {
            match self.rewrite(metadata.clone()).await {
                Ok(Fate::Settled) => self.outages = 0,
                Ok(Fate::Contested) => self.outcome.conflicts += 1,
                Err(error) => {
                    self.outages = if error.is_definite() { 0 } else { self.outages + 1 };
                    self.outcome.failures.add(migration, metadata, &error);
                }
            }
            left -= 1;
            let unsettled = self.outcome.conflicts + self.outcome.failures.count();
            metrics.migration_remaining(&migration.crd, left + unsettled);
            if self.outages == OUTAGE {
                return;
            }
        }
        let (storage, crd) = (migration.storage(), &migration.crd);
        tracing::info!(
            crd,
            storage,
            left,
            rewritten = self.progress.rewritten(),
            "stored objects are being migrated"
        );
    }

    /// Has an object stored anew, unless it is known to be stored in the storage version.
    async fn rewrite(&mut self, mut metadata: ObjectMeta) -> Result<Fate, PassError> {
        let Migration { crd, resource, .. } = self.migration;
        let Migrator { writer, metrics, .. } = self.migrator;
        for _ in 0..ATTEMPTS {
            if self.progress.contains(&metadata) {
                return Ok(Fate::Settled);
            }
            self.turns.tick().await;
            let found = match writer.rewrite(resource, &metadata).await {
                Ok(Some(after)) => {
                    // The API server writes, and moves the resourceVersion, only if the stored bytes become others.
                    let is_rewritten = after.resource_version != metadata.resource_version;
                    self.progress.remember(&after, is_rewritten);
                    if is_rewritten {
                        metrics.migrated(crd);
                    }
                    return Ok(Fate::Settled);
                }
                Ok(None) => None,
                Err(WriteError::Conflict { .. }) => writer.stored(resource, &metadata).await?,
                Err(error) => return Err(error.into()),
            };
            match found {
                Some(now) => metadata = now,
                None => return Ok(Fate::Settled),
            }
        }
        Ok(Fate::Contested)
    }
}
