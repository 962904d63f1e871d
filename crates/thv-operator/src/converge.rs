//! Children: applied if they have to be, deleted if they are no longer wanted.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::api::DynamicObject;
use thv_plan::{Child, ChildKind, Scalable, Scaling};

use crate::controlled::Controlled;
use crate::engine::{Engine, PassError, Place};
use crate::facts::Facts;
use crate::key::Key;
use crate::ledger::Verdict;
use crate::shelf::resource_version;

/// How long we wait for something to go that stands in the way of a child.
const SOON: Duration = Duration::from_secs(1);

/// The writes of one pass.
pub(crate) struct Converge<'a, S: Controlled> {
    engine: &'a Engine<S>,
    owner: &'a Key,
    uid: &'a str,
    /// Versions of children that this pass itself has made.
    versions: BTreeMap<(ChildKind, String), (String, String)>,
    /// When something that was left alone is to be looked at again.
    again: Option<Duration>,
}

impl<'a, S: Controlled> Converge<'a, S> {
    pub(crate) const fn new(engine: &'a Engine<S>, owner: &'a Key, uid: &'a str) -> Self {
        Self { engine, owner, uid, versions: BTreeMap::new(), again: None }
    }

    /// When something that was left alone is to be looked at again.
    pub(crate) const fn truce(&self) -> Option<Duration> {
        self.again
    }

    /// Applies a child, unless it is there just as we left it.
    pub(crate) async fn apply(&mut self, child: &Child) -> Result<(), PassError> {
        let key = Key::new(&self.owner.namespace, child.name());
        let shelf = self.engine.caches.children.get(&child.kind());
        let Some(live) = shelf.and_then(|shelf| shelf.get(&key)) else {
            return self.write(child, None).await;
        };
        if live.is_going || live.controller != self.uid {
            // It belongs to an earlier object of our owner's name, or somebody has deleted it: it goes by itself.
            self.look_again(SOON);
            return Ok(());
        }
        match self.engine.ledger.judge(self.owner, child, &live) {
            Verdict::Skip => {
                self.engine.metrics.skipped(child.kind().kind());
                Ok(())
            }
            Verdict::Truce { wait, is_news } => {
                if is_news {
                    self.engine.events.fight::<S>(self.owner, self.uid, child, wait).await;
                }
                self.look_again(wait);
                Ok(())
            }
            Verdict::Apply => {
                let version = self.version(child, &live, &key).await?;
                self.write(child, Some(version)).await
            }
        }
    }

    /// The version of a child to base a write on: what this pass has made of it, else what the cache shows. What
    /// the Go operator made is taken over first.
    async fn version(&self, child: &Child, live: &Facts, key: &Key) -> Result<(String, String), PassError> {
        let place = (child.kind(), child.name().to_owned());
        if let Some(version) = self.versions.get(&place) {
            return Ok(version.clone());
        }
        let known = (live.uid.clone(), live.resource_version.clone());
        if live.is_applied {
            return Ok(known);
        }
        let taken = self.engine.writer.take_over_child(child.kind(), key).await?;
        Ok(taken.unwrap_or(known))
    }

    async fn write(&mut self, child: &Child, live: Option<(String, String)>) -> Result<(), PassError> {
        let live = live.as_ref().map(|(uid, version)| (uid.as_str(), version.as_str()));
        let applied = self.engine.writer.apply(&self.owner.namespace, child, live).await?;
        self.note(child.kind(), &applied);
        if let Some(facts) = Facts::read(&applied.metadata) {
            let changed = live.is_none_or(|(_, version)| version != facts.resource_version);
            self.engine.ledger.applied(self.owner, child, &facts, changed);
        }
        Ok(())
    }

    /// Deletes the children of ours that are not among `wanted`.
    pub(crate) async fn prune(&mut self, wanted: &[Child]) -> Result<(), PassError> {
        let engine = self.engine;
        for (kind, shelf) in &engine.caches.children {
            let ours = shelf
                .select(&self.owner.namespace, |_, facts| facts.controller == self.uid && !facts.is_going);
            for (key, facts) in ours {
                let is_wanted = wanted.iter().any(|child| child.kind() == *kind && child.name() == key.name);
                if !is_wanted {
                    engine.writer.delete(*kind, &key, &facts.uid).await?;
                }
            }
        }
        Ok(())
    }

    /// Writes a replica count under the name of the hand-off manager.
    pub(crate) async fn scale(&mut self, scaling: &Scaling) -> Result<(), PassError> {
        let scaled = self.engine.writer.scale(&self.owner.namespace, scaling).await?;
        match scaling.kind {
            Scalable::Deployment => self.note(ChildKind::Deployment, &scaled),
            Scalable::StatefulSet => {
                if let Some(feed) = self.engine.caches.backends.feed(&self.owner.namespace) {
                    self.engine.remember(self.owner, Place::Backend, feed.written(resource_version(&scaled)));
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, kind: ChildKind, object: &DynamicObject) {
        let metadata = &object.metadata;
        if let (Some(name), Some(uid), Some(version)) =
            (&metadata.name, &metadata.uid, &metadata.resource_version)
        {
            self.versions.insert((kind, name.clone()), (uid.clone(), version.clone()));
        }
        let feed = self.engine.caches.children.get(&kind).and_then(|shelf| shelf.feed(&self.owner.namespace));
        if let Some(feed) = feed {
            self.engine.remember(self.owner, Place::Child(kind), feed.written(resource_version(object)));
        }
    }

    fn look_again(&mut self, wait: Duration) {
        self.again = Some(self.again.map_or(wait, |earlier| earlier.min(wait)));
    }
}
