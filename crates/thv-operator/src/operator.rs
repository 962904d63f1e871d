//! The whole: watches, workers, leadership, and an orderly end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::Client;
use thv_plan::Settings;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::caches::Caches;
use crate::controlled::Controlled;
use crate::endpoints::Readiness;
use crate::engine::{Engine, PassError};
use crate::events::Events;
use crate::index::Index;
use crate::key::Key;
use crate::leader::Leader;
use crate::loader::Loader;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::writer::{WriteError, Writer};

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

/// Everything that one kind needs to be run.
pub struct Operator<S: Controlled> {
    engine: Engine<S>,
    queue: Arc<Queue>,
    index: Arc<Index>,
    caches: Arc<Caches>,
    client: Client,
    metrics: Arc<Metrics>,
}

impl<S: Controlled> Operator<S> {
    /// An operator for these scopes: namespaces, or nothing for all of them.
    pub fn new(client: Client, settings: Settings, scopes: &[Option<String>], metrics: Arc<Metrics>) -> Self {
        let caches = Arc::new(Caches::new(scopes));
        let index = Arc::new(Index::default());
        let loader = Loader::new(client.clone(), caches.clone(), index.clone(), Arc::new(settings));
        let writer = Writer::new(client.clone(), metrics.clone());
        let events = Events::new(client.clone(), &format!("{}-controller", S::SINGULAR), metrics.clone());
        let engine = Engine::new(caches.clone(), writer, loader, events, metrics.clone());
        Self { engine, queue: Arc::default(), index, caches, client, metrics }
    }

    /// Works until `stop` is ready, leading only while `leader` does. What is being worked on then is finished.
    pub async fn run(
        &self,
        mut leader: Option<Leader>,
        readiness: Readiness,
        stop: impl Future<Output = ()>,
    ) {
        let (stopping, stopped) = watch::channel(false);
        let watches = self.caches.watches(&self.client, &self.queue, &self.index);
        let mut watches: FuturesUnordered<_> = watches.into_iter().collect();
        let watching = async { while watches.next().await.is_some() {} };
        let working = async {
            readiness.waits_for("the caches are not complete yet");
            self.caches.ready().await;
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
            leader.release().await;
        }
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
            self.engine.ledger.clear();
            tokio::select! {
                () = leader.keep() => tracing::warn!("leadership is lost"),
                () = self.work(&stopped) => {}
            }
            self.metrics.leads(false);
        }
    }

    /// All workers. A worker that is dropped in the middle of a pass leaves a state that the next pass mends.
    async fn work(&self, stopped: &Stopped) {
        self.queue.recover();
        let workers: FuturesUnordered<_> = (0..WORKERS).map(|_| self.worker(stopped)).collect();
        workers.for_each(|()| async {}).await;
    }

    /// Takes one object after the other, and none once told to stop.
    async fn worker(&self, stopped: &Stopped) {
        loop {
            let key = tokio::select! {
                biased;
                () = told(stopped) => return,
                key = self.queue.next() => key,
            };
            let start = Instant::now();
            let result = self.engine.pass(&key).await;
            self.settle(&key, result, start.elapsed()).await;
            self.metrics.queue(S::KIND, self.queue.depth());
        }
    }

    async fn settle(&self, key: &Key, result: Result<Option<Duration>, PassError>, took: Duration) {
        let error = result.as_ref().err().map(PassError::word);
        self.metrics.passed(S::KIND, took.as_secs_f64(), error);
        match result {
            Ok(again) => {
                self.queue.done(key);
                if let Some(wait) = again {
                    self.queue.add_after(key.clone(), wait);
                }
            }
            Err(error @ (PassError::Behind | PassError::Write(WriteError::Conflict { .. }))) => {
                let wait = self.queue.failed(key);
                tracing::debug!(%key, %error, ?wait, "a pass starts anew");
            }
            Err(error) => {
                if let Err(error) = self.engine.report(key, &error).await {
                    tracing::debug!(%key, %error, "the status could not be written either");
                }
                let wait = self.queue.failed(key);
                tracing::warn!(%key, %error, ?wait, "a pass failed and is tried again");
            }
        }
    }
}
