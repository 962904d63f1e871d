//! Watches: they keep caches up to date, and tell whom a change concerns.

use std::fmt::Debug;
use std::sync::Arc;

use futures::StreamExt;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::cache::{Concerned, Listed, Projection, Store};
use crate::key::{Key, NamespacedName};
use crate::queue::Queue;
use crate::relation::{Facet, Relation};
use crate::subscriptions::Subscriptions;

/// Adds to the queue whom a change concerns.
#[derive(Clone)]
pub(crate) struct Notifier {
    /// The kind of the objects that change.
    pub kind: &'static str,
    /// Whether objects of this kind are looked after themselves.
    pub is_planned: bool,
    pub queue: Arc<Queue>,
    pub subscriptions: Arc<Subscriptions>,
}

impl Notifier {
    /// An object has changed, appeared or gone.
    fn changed(&self, name: &NamespacedName, concerned: &Concerned) {
        if self.is_planned {
            self.queue.add(Key { kind: self.kind, object: name.clone() });
        }
        let Concerned { relations, is_status_only } = concerned;
        let named = Relation::Named { kind: self.kind, name: &name.name }.id(&name.namespace);
        let facets: &[Facet] =
            if *is_status_only { &[Facet::Everything] } else { &[Facet::Everything, Facet::Definition] };
        for id in relations.iter().chain([&named]) {
            for subscriber in facets.iter().flat_map(|facet| self.subscriptions.of(id.facet(*facet))) {
                self.queue.add(subscriber);
            }
        }
    }

    /// Everything was read anew after a gap. Of objects that are not kept, nobody knows whether they have changed.
    fn relisted(&self) {
        for subscriber in self.subscriptions.of_kind(self.kind) {
            self.queue.add(subscriber);
        }
    }
}

/// Keeps a store up to date for as long as it is polled.
///
/// Those whom a change concerns are told after the store shows it. The objects themselves are let go at once: a list of
/// them is what takes memory.
pub(crate) async fn run<K, T>(
    store: Arc<Store<T>>,
    api: Api<K>,
    config: watcher::Config,
    project: impl Fn(K) -> Option<Projection<T>> + Send,
    notifier: Notifier,
) where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    T: Send + Sync,
{
    let mut events = watcher::watcher(api, config).default_backoff().boxed();
    let mut list: Vec<Listed<T>> = Vec::new();
    let mut is_first = true;
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                list = Vec::new();
                is_first = store.begin();
            }
            Ok(Event::InitApply(object)) => {
                let (name, version) = (NamespacedName::of(&object), resource_version(&object));
                list.push(Listed { name, version, projection: project(object) });
            }
            Ok(Event::InitDone) => {
                for (name, concerned) in store.complete(std::mem::take(&mut list)) {
                    notifier.changed(&name, &concerned);
                }
                if !is_first {
                    tracing::info!(
                        kind = notifier.kind,
                        "everything was listed anew after a gap in the watch"
                    );
                    notifier.relisted();
                }
            }
            Ok(Event::Apply(object)) => {
                let (name, version) = (NamespacedName::of(&object), resource_version(&object));
                let concerned = store.put(&name, version, project(object));
                notifier.changed(&name, &concerned);
            }
            Ok(Event::Delete(object)) => {
                let (name, version) = (NamespacedName::of(&object), resource_version(&object));
                let concerned = store.put(&name, version, None);
                notifier.changed(&name, &concerned);
            }
            Err(error) => {
                store.failed();
                tracing::warn!(%error, kind = notifier.kind, "a watch failed and is tried again");
            }
        }
    }
}

/// The resourceVersion of an object as a number, which the API server promises it to be.
pub(crate) fn resource_version<K: Resource>(object: &K) -> u64 {
    object.meta().resource_version.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default()
}
