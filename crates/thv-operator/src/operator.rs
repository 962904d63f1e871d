//! The whole: watches, workers, leadership, and an orderly end.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::Client;
use thv_plan::Settings;
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
        let events = Events::new(client.clone(), &format!("{}-controller", S::SINGULAR));
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
        let watches = self.caches.watches(&self.client, &self.queue, &self.index);
        let mut watches: FuturesUnordered<_> = watches.into_iter().collect();
        let watching = async { while watches.next().await.is_some() {} };
        let working = async {
            self.caches.ready().await;
            readiness.set();
            tracing::info!("the caches are complete");
            self.lead(leader.as_mut()).await;
        };
        tokio::select! {
            () = watching => tracing::error!("all watches have ended"),
            () = working => {}
            () = stop => tracing::info!("stopping"),
        }
        if let Some(leader) = leader {
            leader.release().await;
        }
    }

    /// Works whenever we lead.
    async fn lead(&self, leader: Option<&mut Leader>) {
        let Some(leader) = leader else {
            self.metrics.leads(true);
            return self.work().await;
        };
        loop {
            leader.acquire().await;
            tracing::info!("leading");
            self.metrics.leads(true);
            // Somebody else may have written what we remember as ours.
            self.engine.ledger.clear();
            tokio::select! {
                () = leader.keep() => tracing::warn!("leadership is lost"),
                () = self.work() => {}
            }
            self.metrics.leads(false);
        }
    }

    /// All workers. A worker that is dropped in the middle of a pass leaves a state that the next pass mends.
    async fn work(&self) {
        self.queue.recover();
        let workers: FuturesUnordered<_> = (0..WORKERS).map(|_| self.worker()).collect();
        workers.for_each(|()| async {}).await;
    }

    async fn worker(&self) {
        loop {
            let key = self.queue.next().await;
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
