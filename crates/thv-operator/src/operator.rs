//! The whole: watches, workers, leadership, and an orderly end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::Client;
use thv_plan::Settings;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::caches::{Caches, Watches};
use crate::endpoints::Readiness;
use crate::engine::{Engine, PASS_LIMIT, PassError};
use crate::key::Key;
use crate::leader::Leader;
use crate::metrics::Metrics;
use crate::migration::Migrator;
use crate::pace::Pace;
use crate::queue::Queue;
use crate::reconcile::{Again, Context};
use crate::registry::{Kinds, Registry};
use crate::snapshot::Loader;
use crate::subscriptions::Subscriptions;
use crate::writer::Writer;

/// How many objects are worked on at once. Most of a pass is waiting for the API server.
const WORKERS: usize = 8;

/// How long passes that are under way may take when we are told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Whether we have been told to stop.
type Stopped = watch::Receiver<bool>;

/// Waits until we are told to stop.
async fn told(stopped: &Stopped) {
    // An error means that whoever could have told us is gone, which is the same.
    let _ = stopped.clone().wait_for(|stopped| *stopped).await;
}

/// How an operator works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How often every object is looked at again although nothing has changed.
    pub resync: Duration,
    /// How many rollouts that nobody asked for start in a second.
    pub rollouts_per_second: f64,
    /// How long a status in which only lists of other objects have changed waits after the last one.
    pub status_interval: Duration,
    /// How long objects may still be stored in a former version after the storage version of their kind has changed.
    /// Nothing if they are not to be migrated.
    pub storage_migration: Option<Duration>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            resync: Duration::from_mins(30),
            rollouts_per_second: 5.0,
            status_interval: Duration::from_secs(10),
            storage_migration: None,
        }
    }
}

/// One set of caches, watches, subscriptions and a queue for all kinds.
pub struct Operator {
    engine: Engine,
    kinds: Arc<Kinds>,
    queue: Arc<Queue>,
    client: Client,
    metrics: Arc<Metrics>,
    migrator: Option<Migrator>,
    tuning: Tuning,
}

impl Operator {
    /// An operator for these kinds and scopes: namespaces, or nothing for all of them.
    pub fn new(
        client: Client,
        registry: &Registry,
        settings: Settings,
        scopes: &[Option<String>],
        metrics: Arc<Metrics>,
        tuning: Tuning,
    ) -> Self {
        let kinds = Arc::new(registry.kinds(scopes));
        let loader = Loader {
            client: client.clone(),
            caches: Arc::new(Caches::new(scopes, &kinds.pods())),
            kinds: kinds.clone(),
            subscriptions: Arc::new(Subscriptions::default()),
            settings: Arc::new(settings),
        };
        let writer = Writer::new(client.clone(), metrics.clone());
        let migrator = tuning
            .storage_migration
            .and_then(|grace| Migrator::new(&client, &writer, &metrics, scopes, grace));
        let pace = Pace::new(tuning.rollouts_per_second);
        let engine = Engine::new(loader, writer, metrics.clone(), pace, tuning.status_interval);
        let queue = Arc::new(Queue::default());
        metrics.observe(queue.clone());
        Self { engine, kinds, queue, client, metrics, migrator, tuning }
    }

    /// Works until `stop` is ready, leading only while `leader` does. What is being worked on then is finished.
    pub async fn run(
        &self,
        mut leader: Option<Leader>,
        readiness: Readiness,
        stop: impl Future<Output = ()>,
    ) {
        let (stopping, stopped) = watch::channel(false);
        let mut watches: FuturesUnordered<_> = self.watches().into_iter().collect();
        let watching = async { while watches.next().await.is_some() {} };
        let working = async {
            self.ready(&readiness).await;
            readiness.set();
            tracing::info!("the caches are complete");
            self.lead(leader.as_mut(), stopped).await;
        };
        let stop = async {
            stop.await;
            tracing::info!("stopping");
            stopping.send_replace(true);
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = watching => tracing::error!("all watches have ended"),
            () = working => {}
            () = stop => tracing::warn!("what was being worked on is left to the next start"),
        }
        if let Some(leader) = leader {
            // Should the API server not answer, the lease runs out by itself.
            let _ = timeout(GRACE, leader.release()).await;
        }
    }

    fn watches(&self) -> Vec<futures::future::BoxFuture<'static, ()>> {
        let loader = &self.engine.loader;
        let mut watches = Watches {
            client: &self.client,
            queue: &self.queue,
            subscriptions: &loader.subscriptions,
            running: Vec::new(),
        };
        for row in self.kinds.rows() {
            row.objects.watch(&mut watches, &loader.settings, row.reconciler.is_some());
        }
        self.engine.caches.watch(&mut watches);
        watches.running
    }

    /// Waits until everything has been seen once, and says what it waits for.
    async fn ready(&self, readiness: &Readiness) {
        for row in self.kinds.rows() {
            let kind = row.objects.kind();
            readiness.waits_for(format!(
                "the objects of the kind {kind} have not been listed; if that lasts, see the log"
            ));
            row.objects.ready().await;
        }
        readiness
            .waits_for("the objects that belong to ours have not been listed; if that lasts, see the log");
        self.engine.caches.ready().await;
    }

    /// Works whenever we lead, until told to stop.
    async fn lead(&self, leader: Option<&mut Leader>, stopped: Stopped) {
        let Some(leader) = leader else {
            self.metrics.leads(true);
            return self.work(&stopped).await;
        };
        while !*stopped.borrow() {
            tokio::select! {
                () = leader.acquire() => {}
                () = told(&stopped) => return,
            }
            tracing::info!("leading");
            self.metrics.leads(true);
            // Somebody else may have written what we remember as ours.
            self.engine.last_applied.clear();
            self.requeue_all();
            tokio::select! {
                () = leader.keep() => tracing::warn!("leadership is lost"),
                () = self.work(&stopped) => {}
            }
            self.metrics.leads(false);
        }
    }

    /// Has every object looked at.
    fn requeue_all(&self) {
        for row in self.kinds.rows().filter(|row| row.reconciler.is_some()) {
            let kind = row.objects.kind();
            for object in row.objects.names() {
                self.queue.add(Key { kind, object });
            }
        }
    }

    /// All workers, and the migrator. A worker that is dropped in the middle of a pass leaves a state that the next pass
    /// mends, and so does the migrator, which is dropped as soon as we are told to stop.
    async fn work(&self, stopped: &Stopped) {
        self.queue.recover();
        let workers: FuturesUnordered<_> = (0..WORKERS).map(|_| self.worker(stopped)).collect();
        let migrating = async {
            if let Some(migrator) = &self.migrator {
                tokio::select! {
                    () = told(stopped) => {}
                    () = migrator.run() => {}
                }
            }
        };
        tokio::join!(workers.for_each(|()| async {}), migrating);
    }

    /// Takes one object after the other, and none once told to stop.
    async fn worker(&self, stopped: &Stopped) {
        let context = Context { engine: &self.engine, client: &self.client, metrics: &self.metrics };
        loop {
            let key = tokio::select! {
                biased;
                () = told(stopped) => return,
                key = self.queue.next() => key,
            };
            let Some(reconciler) = self.kinds.get(key.kind).and_then(|row| row.reconciler.as_deref()) else {
                self.queue.done(&key);
                continue;
            };
            let start = Instant::now();
            let result = timeout(PASS_LIMIT, reconciler.pass(context, &key.object)).await;
            let result = result.unwrap_or(Err(PassError::Slow));
            self.metrics.passed(
                key.kind,
                start.elapsed().as_secs_f64(),
                result.as_ref().err().map(PassError::word),
            );
            match result {
                Ok(again) => self.settle(&key, again),
                Err(error) => {
                    if self.queue.failures(&key) + 1 >= error.told_after() {
                        let report =
                            timeout(PASS_LIMIT, reconciler.report(context, &key.object, &error)).await;
                        if let Err(error) = report.unwrap_or(Err(PassError::Slow)) {
                            tracing::warn!(%key, %error, "the status could not be written either");
                        }
                    }
                    self.back_off(&key, &error);
                }
            }
        }
    }

    /// A pass has come to its end. The object is requeued for the next time that it wants, and for the resync at the
    /// latest: should a change ever be told to nobody, it is found then.
    fn settle(&self, key: &Key, again: Again) {
        if let Some(wait) = again {
            tracing::debug!(%key, ?wait, "a timed requeue");
        }
        self.queue.done(key);
        let is_there = self.kinds.get(key.kind).is_some_and(|row| row.objects.contains(&key.object));
        if is_there {
            let resync = spread(self.tuning.resync, key);
            self.queue.add_after(key.clone(), again.map_or(resync, |again| again.min(resync)));
        }
    }

    /// A pass has failed. The object is requeued after a backoff that grows.
    fn back_off(&self, key: &Key, error: &PassError) {
        let wait = self.queue.failed(key);
        if error.is_routine() {
            tracing::debug!(%key, %error, ?wait, "a pass starts anew");
        } else {
            tracing::warn!(%key, %error, ?wait, "a pass failed and is tried again");
        }
    }
}

/// A time between three quarters of this one and all of it, always the same for one object: objects that appear together
/// do not come back together.
fn spread(period: Duration, key: &Key) -> Duration {
    let sum = key.name().bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    period.saturating_sub((period / 4).mul_f64(f64::from(sum % 1_000) / 1_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_appear_together_are_looked_at_again_one_after_the_other() {
        let period = Duration::from_secs(100);
        let times: std::collections::BTreeSet<Duration> =
            (0..50).map(|number| spread(period, &Key::new("K", "ns", &format!("server-{number}")))).collect();
        assert!(times.len() > 40, "{times:?}");
        assert!(times.iter().all(|time| *time <= period && *time >= period * 3 / 4), "{times:?}");
    }
}
