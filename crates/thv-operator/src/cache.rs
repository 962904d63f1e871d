//! Caches: the objects of one kind that a watch has delivered, as projections of a few hundred bytes.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tokio::sync::watch;

use crate::key::NamespacedName;
use crate::relation::{Relation, RelationId};

/// What is kept of an object, and whom it concerns.
pub(crate) struct Projection<T> {
    /// What is kept.
    pub value: T,
    /// Its relations, but for its name.
    pub relations: Vec<RelationId>,
    /// Identifies what its user says, if its status is told apart from that.
    pub definition: Option<DefinitionId>,
}

/// Another one whenever the user of an object says something else, and the same when only its status changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DefinitionId(pub NonZeroU64);

/// Whom a change concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Concerned {
    /// The relations of before and of now.
    pub relations: Vec<RelationId>,
    /// Whether nothing but the status has changed.
    pub is_status_only: bool,
}

/// The objects of one kind.
///
/// With several namespaces there is one store for each, because each has its own watch and its own progress.
pub(crate) struct Cache<T> {
    stores: BTreeMap<Option<String>, Arc<Store<T>>>,
}

impl<T> Cache<T> {
    /// An empty cache with a store for each scope: a namespace, or nothing for all of them.
    pub(crate) fn new(scopes: &[Option<String>]) -> Self {
        Self { stores: scopes.iter().map(|scope| (scope.clone(), Arc::new(Store::new()))).collect() }
    }

    /// The stores with their scopes.
    pub(crate) fn stores(&self) -> impl Iterator<Item = (Option<&str>, &Arc<Store<T>>)> {
        self.stores.iter().map(|(scope, store)| (scope.as_deref(), store))
    }

    /// The store that covers a namespace.
    pub(crate) fn store(&self, namespace: &str) -> Option<&Arc<Store<T>>> {
        self.stores.get(&Some(namespace.to_owned())).or_else(|| self.stores.get(&None))
    }

    /// The object of this name.
    pub(crate) fn get(&self, name: &NamespacedName) -> Option<Arc<T>> {
        self.store(&name.namespace)?.read().by_name.get(name).map(|entry| entry.value.clone())
    }

    /// The objects of a namespace with this relation, by name.
    pub(crate) fn related(&self, namespace: &str, relation: Relation<'_>) -> Vec<(NamespacedName, Arc<T>)> {
        let Some(store) = self.store(namespace) else { return Vec::new() };
        let objects = store.read();
        let names = objects.related.get(&relation.id(namespace)).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<_> = names
            .iter()
            .filter_map(|name| Some((name.clone(), objects.by_name.get(name)?.value.clone())))
            .collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }

    /// The names of all objects.
    pub(crate) fn names(&self) -> Vec<NamespacedName> {
        self.stores
            .values()
            .flat_map(|store| store.read().by_name.keys().cloned().collect::<Vec<_>>())
            .collect()
    }

    /// How much the store of a namespace shows of what is there.
    pub(crate) fn coverage(&self, namespace: &str) -> Coverage {
        let Some(store) = self.store(namespace) else { return Coverage::Listing };
        match *store.progress.borrow() {
            Progress { started, finished, .. } if started == finished => Coverage::Complete,
            Progress { has_failed: true, .. } => Coverage::Failing,
            Progress { .. } => Coverage::Listing,
        }
    }

    /// Waits until every store has seen everything once.
    pub(crate) async fn ready(&self) {
        for store in self.stores.values() {
            store.wait(|progress| progress.finished > 0).await;
        }
    }
}

/// How much a store shows of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All of it.
    Complete,
    /// What was there before a gap in the watch, while everything is listed anew.
    Listing,
    /// The same, while the API server does not give the list.
    Failing,
}

/// How far a watch has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// The highest resourceVersion that the store shows.
    latest: u64,
    /// How many times a complete list was begun.
    started: u64,
    /// The number of the last list that was completed.
    finished: u64,
    /// Whether a list has failed since.
    has_failed: bool,
}

/// A write of ours that a store has to catch up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    resource_version: u64,
    started: u64,
}

/// What one watch keeps up to date.
pub(crate) struct Store<T> {
    objects: RwLock<Objects<T>>,
    progress: watch::Sender<Progress>,
}

struct Objects<T> {
    by_name: BTreeMap<NamespacedName, Entry<T>>,
    /// The names of those with a relation.
    related: HashMap<RelationId, Vec<NamespacedName>>,
}

struct Entry<T> {
    value: Arc<T>,
    version: u64,
    relations: Box<[RelationId]>,
    definition: Option<DefinitionId>,
}

impl<T> Objects<T> {
    const fn new(related: HashMap<RelationId, Vec<NamespacedName>>) -> Self {
        Self { by_name: BTreeMap::new(), related }
    }

    /// Puts an object in the place of the one of its name, and returns whom it concerned before and concerns now.
    fn put(&mut self, name: &NamespacedName, version: u64, projection: Option<Projection<T>>) -> Concerned {
        if let (Some(entry), Some(new)) = (self.by_name.get_mut(name), &projection)
            && *entry.relations == *new.relations
        {
            // So it is nearly always, and then there is nothing to look for among all who have the relation.
            let is_status_only = new.definition.is_some() && entry.definition == new.definition;
            let concerned = Concerned { relations: entry.relations.to_vec(), is_status_only };
            if let Some(Projection { value, relations: _, definition }) = projection {
                (entry.value, entry.version, entry.definition) = (Arc::new(value), version, definition);
            }
            return concerned;
        }
        let before = self.by_name.remove(name).map(|entry| entry.relations).unwrap_or_default();
        for id in &before {
            if let Some(names) = self.related.get_mut(id) {
                names.retain(|other| other != name);
                if names.is_empty() {
                    self.related.remove(id);
                }
            }
        }
        let mut concerned = before.into_vec();
        if let Some(Projection { value, relations, definition }) = projection {
            for id in &relations {
                self.related.entry(*id).or_insert_with(|| Vec::with_capacity(1)).push(name.clone());
            }
            concerned.extend(&relations);
            let entry = Entry { value: Arc::new(value), version, relations: relations.into(), definition };
            self.by_name.insert(name.clone(), entry);
        }
        Concerned { relations: concerned, is_status_only: false }
    }
}

/// An object of a list, which is not shown before the list is complete.
pub(crate) struct Listed<T> {
    /// Its name.
    pub name: NamespacedName,
    /// Its resourceVersion.
    pub version: u64,
    /// What is kept of it, if anything.
    pub projection: Option<Projection<T>>,
}

impl<T> Store<T> {
    fn new() -> Self {
        Self {
            objects: RwLock::new(Objects::new(HashMap::new())),
            progress: watch::Sender::new(Progress::default()),
        }
    }

    /// Takes in one event: an object as it is now, or nothing if it is gone or of no interest. Returns whom it concerned
    /// before and concerns now.
    pub(crate) fn put(
        &self,
        name: &NamespacedName,
        version: u64,
        projection: Option<Projection<T>>,
    ) -> Concerned {
        let concerned = self.write().put(name, version, projection);
        self.progress.send_modify(|progress| progress.latest = progress.latest.max(version));
        concerned
    }

    /// A complete list begins. Whether it is the first.
    pub(crate) fn begin(&self) -> bool {
        self.progress.send_modify(|progress| progress.started += 1);
        self.progress.borrow().finished == 0
    }

    /// The watch has failed. If everything is being listed, that starts anew.
    pub(crate) fn failed(&self) {
        self.progress.send_modify(|progress| progress.has_failed = progress.started != progress.finished);
    }

    /// Takes in a complete list. Returns every object that is new, that has changed, or that was there and is missing
    /// now, with whom it concerned before and concerns now.
    pub(crate) fn complete(&self, list: Vec<Listed<T>>) -> Vec<(NamespacedName, Concerned)> {
        let mut changes = Vec::new();
        let mut latest = 0;
        {
            let mut objects = self.write();
            let mut missing: BTreeMap<NamespacedName, u64> =
                objects.by_name.iter().map(|(name, entry)| (name.clone(), entry.version)).collect();
            for Listed { name, version, projection } in list {
                latest = latest.max(version);
                let before = missing.remove(&name);
                if before != Some(version) {
                    let concerned = objects.put(&name, version, projection);
                    changes.push((name, concerned));
                }
            }
            for (name, _) in missing {
                let concerned = objects.put(&name, 0, None);
                changes.push((name, concerned));
            }
        }
        self.progress.send_modify(|progress| {
            progress.latest = progress.latest.max(latest);
            progress.finished = progress.started;
            progress.has_failed = false;
        });
        changes
    }

    /// Notes that we have just written something that the API server gave this resourceVersion.
    pub(crate) fn written(&self, resource_version: u64) -> Written {
        Written { resource_version, started: self.progress.borrow().started }
    }

    /// Waits until the store shows a state no older than our write; false if that takes too long.
    ///
    /// It does when it has seen a later event, since events arrive in order, or when it has read everything
    /// anew since then.
    pub(crate) async fn caught_up(&self, written: Written, patience: Duration) -> bool {
        let seen = |progress: &Progress| {
            progress.latest >= written.resource_version || progress.finished > written.started
        };
        tokio::time::timeout(patience, self.wait(seen)).await.is_ok()
    }

    async fn wait(&self, done: impl FnMut(&Progress) -> bool) {
        // The sender lives in `self`, so the wait cannot end in an error.
        let _ = self.progress.subscribe().wait_for(done).await;
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<T>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
