//! Caches of what watches have seen: projections, one shelf a kind.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::StreamExt;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::key::Key;

/// The objects of one kind, as far as we care for them.
///
/// With several namespaces there is one feed for each, because each has its own watch and its own progress.
pub struct Shelf<T> {
    feeds: BTreeMap<Option<String>, Arc<Feed<T>>>,
}

impl<T> Shelf<T> {
    /// An empty shelf with a feed for each scope: a namespace, or nothing for all of them.
    pub fn new(scopes: &[Option<String>]) -> Self {
        Self { feeds: scopes.iter().map(|scope| (scope.clone(), Arc::new(Feed::new()))).collect() }
    }

    /// The feeds with their scopes.
    pub fn feeds(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Feed<T>>)> {
        self.feeds.iter().map(|(scope, feed)| (scope.as_deref(), feed))
    }

    /// The object of this name.
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.feed(&key.namespace)?.get(key)
    }

    /// All objects of a namespace that `choose` says yes to.
    pub fn select(&self, namespace: &str, mut choose: impl FnMut(&Key, &T) -> bool) -> Vec<(Key, Arc<T>)> {
        let Some(feed) = self.feed(namespace) else { return Vec::new() };
        let objects = feed.objects.read().unwrap_or_else(PoisonError::into_inner);
        let start = Key::new(namespace, "");
        let in_namespace = objects.range(start..).take_while(|(key, _)| key.namespace == namespace);
        in_namespace
            .filter(|(key, object)| choose(key, object))
            .map(|(key, object)| (key.clone(), object.clone()))
            .collect()
    }

    /// Whether every feed has seen everything once.
    pub fn is_ready(&self) -> bool {
        self.feeds.values().all(|feed| feed.progress.borrow().finished > 0)
    }

    /// Waits until every feed has seen everything once.
    pub async fn ready(&self) {
        for feed in self.feeds.values() {
            feed.wait(|progress| progress.finished > 0).await;
        }
    }

    /// The feed that covers a namespace.
    pub fn feed(&self, namespace: &str) -> Option<&Arc<Feed<T>>> {
        self.feeds.get(&Some(namespace.to_owned())).or_else(|| self.feeds.get(&None))
    }
}

/// How far a feed has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The highest resourceVersion seen.
    pub latest: u64,
    /// How many times a complete list was begun.
    pub started: u64,
    /// The number of the last list that was completed.
    pub finished: u64,
}

/// A write of ours that a feed has to catch up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    resource_version: u64,
    started: u64,
}

impl Written {
    /// The resourceVersion that it was given.
    pub fn version(&self) -> String {
        self.resource_version.to_string()
    }
}

/// What one watch keeps up to date.
pub struct Feed<T> {
    objects: RwLock<BTreeMap<Key, Arc<T>>>,
    progress: watch::Sender<Progress>,
}

impl<T> Feed<T> {
    fn new() -> Self {
        Self { objects: RwLock::default(), progress: watch::Sender::new(Progress::default()) }
    }

    fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Notes that we have just written something that the API server gave this resourceVersion.
    pub fn written(&self, resource_version: u64) -> Written {
        Written { resource_version, started: self.progress.borrow().started }
    }

    /// Waits until the feed shows a state no older than our write; false if that takes too long.
    ///
    /// It does when it has seen a later event, since events arrive in order, or when it has read everything
    /// anew since then.
    pub async fn caught_up(&self, written: Written, patience: Duration) -> bool {
        let seen = |progress: &Progress| {
            progress.latest >= written.resource_version || progress.finished > written.started
        };
        tokio::time::timeout(patience, self.wait(seen)).await.is_ok()
    }

    async fn wait(&self, done: impl FnMut(&Progress) -> bool) {
        // The sender lives in `self`, so the wait cannot end in an error.
        let _ = self.progress.subscribe().wait_for(done).await;
    }

    fn put(&self, key: &Key, object: Option<T>) {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        match object {
            Some(object) => drop(objects.insert(key.clone(), Arc::new(object))),
            None => drop(objects.remove(key)),
        }
    }

    fn advance(&self, resource_version: u64) {
        self.progress.send_modify(|progress| progress.latest = progress.latest.max(resource_version));
    }
}

/// What is made of an object that a watch has seen.
pub(crate) struct Sight<T> {
    /// What is kept of it, if anything.
    pub kept: Option<T>,
    /// The object that it belongs to, if it says so itself.
    pub owner: Option<Key>,
}

/// Keeps a feed up to date for as long as it is polled.
///
/// `changed` is told of every object that was seen to appear, change or go, kept or not, with its owner, after
/// the feed shows it. The objects themselves are let go at once: a list of them is what takes memory.
pub(crate) async fn run<K, T>(
    feed: Arc<Feed<T>>,
    api: Api<K>,
    config: watcher::Config,
    project: impl Fn(K) -> Sight<T> + Send,
    changed: impl Fn(&Key, Option<Key>) + Send,
) where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    T: Send + Sync,
{
    let mut events = watcher::watcher(api, config).default_backoff().boxed();
    let mut listed: BTreeMap<Key, Arc<T>> = BTreeMap::new();
    let mut touched: Vec<(Key, Option<Key>)> = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                listed.clear();
                touched.clear();
                feed.progress.send_modify(|progress| progress.started += 1);
            }
            Ok(Event::InitApply(object)) => {
                let key = Key::of(&object);
                feed.advance(resource_version(&object));
                let Sight { kept, owner } = project(object);
                if let Some(kept) = kept {
                    listed.insert(key.clone(), Arc::new(kept));
                }
                touched.push((key, owner));
            }
            Ok(Event::InitDone) => {
                *feed.objects.write().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut listed);
                feed.progress.send_modify(|progress| progress.finished = progress.started);
                for (key, owner) in touched.drain(..) {
                    changed(&key, owner);
                }
            }
            Ok(Event::Apply(object)) => {
                let (key, version) = (Key::of(&object), resource_version(&object));
                let Sight { kept, owner } = project(object);
                feed.put(&key, kept);
                feed.advance(version);
                changed(&key, owner);
            }
            Ok(Event::Delete(object)) => {
                let (key, version) = (Key::of(&object), resource_version(&object));
                let owner = project(object).owner;
                feed.put(&key, None);
                feed.advance(version);
                changed(&key, owner);
            }
            Err(error) => {
                let kind = std::any::type_name::<K>();
                tracing::warn!(%error, kind, "a watch failed and is tried again");
            }
        }
    }
}

/// The resourceVersion of an object as a number, which the API server promises it to be.
pub(crate) fn resource_version<K: Resource>(object: &K) -> u64 {
    object.meta().resource_version.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default()
}
