//! Children: applied if they have to be, deleted (pruned) if they are no longer wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::DynamicObject;
use thv_plan::{Child, ChildKind, Failure, Scalable, Scaling};

use crate::engine::{Engine, PassError, Place};
use crate::events::Events;
use crate::key::Key;
use crate::last_applied::Verdict;
use crate::projection::child::{Belonging, ChildFacts};
use crate::projection::metadata::{Writer, controller};
use crate::relation::Relation;
use crate::write_error::WriteError;

/// How long we wait for something to go that stands in the way of a child.
const SOON: Duration = Duration::from_secs(1);

/// The object that children belong to.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub key: &'a Key,
    pub uid: &'a str,
}

/// The writes of one pass.
pub(crate) struct Converge<'a> {
    engine: &'a Engine,
    events: &'a Events,
    owner: Owner<'a>,
    /// The owner, as events refer to it.
    regarding: ObjectReference,
    /// Versions of children that this pass itself has made.
    versions: BTreeMap<(ChildKind, String), (String, String)>,
    /// When something that was left alone is to be looked at again.
    again: Option<Duration>,
    /// Children that somebody keeps changing, and that are not what they should be.
    contested: Vec<String>,
    /// Whether a Role will be another one than the API server knows.
    changes_a_role: bool,
}

/// What is to be done about a child.
enum Step {
    /// It is created.
    Create,
    /// It is applied over this one.
    Apply(Arc<ChildFacts>),
    /// Nothing is sent.
    Nothing,
}

impl<'a> Converge<'a> {
    pub(crate) const fn new(
        engine: &'a Engine,
        events: &'a Events,
        owner: Owner<'a>,
        regarding: ObjectReference,
    ) -> Self {
        Self {
            engine,
            events,
            owner,
            regarding,
            versions: BTreeMap::new(),
            again: None,
            contested: Vec::new(),
            changes_a_role: false,
        }
    }

    /// When something that was left alone is to be looked at again.
    pub(crate) const fn again(&self) -> Option<Duration> {
        self.again
    }

    /// What is to be told of children that somebody keeps changing.
    pub(crate) fn contention(&self) -> Option<Failure> {
        (!self.contested.is_empty()).then(|| {
            Failure::Unknown(format!(
                "somebody keeps changing {}, which is left alone for a while: find out who, and change the spec instead",
                self.contested.join(", ")
            ))
        })
    }

    /// Has the API server judge a child that would be applied, without effect.
    pub(crate) async fn dry_run(&mut self, child: &Child) -> Result<(), PassError> {
        let version = match self.step(child).await? {
            Step::Nothing => return Ok(()),
            Step::Create if child.random().is_some() => return Ok(()),
            Step::Create => None,
            Step::Apply(live) => Some(self.version(child, &live).await?),
        };
        match child.kind() {
            // It is judged by what its Role allows, and that is not what it will be.
            ChildKind::RoleBinding if self.changes_a_role => return Ok(()),
            ChildKind::Role => self.changes_a_role = true,
            _ => {}
        }
        let live = version.as_ref().map(|(uid, version)| (uid.as_str(), version.as_str()));
        let judged = self.engine.writer.dry_run(self.owner.key.namespace(), child, live).await;
        let judged = judged.map_err(PassError::from);
        if live.is_none() { self.explained(child, judged).await } else { judged }
    }

    /// Applies a child, unless it is there just as we left it.
    pub(crate) async fn apply(&mut self, child: &Child) -> Result<(), PassError> {
        match self.step(child).await? {
            Step::Nothing => Ok(()),
            Step::Create => self.create(child).await,
            Step::Apply(live) => {
                let version = self.version(child, &live).await?;
                self.write(child, Some(version)).await
            }
        }
    }

    /// What is to be done about a child, by what the cache shows of it and what we remember of having applied it.
    async fn step(&mut self, child: &Child) -> Result<Step, PassError> {
        let Owner { key, uid } = self.owner;
        let name = key.object.sibling(child.name());
        let cache = self.engine.caches.children(child.kind());
        let Some(live) = cache.and_then(|cache| cache.get(&name)) else { return Ok(Step::Create) };
        if live.is_terminating {
            // Somebody has deleted it, and then it is made again.
            self.look_again(SOON);
            return Ok(Step::Nothing);
        }
        match live.belonging(child, key.kind, key.name(), uid) {
            Belonging::Child if child.random().is_some() => return Ok(Step::Nothing),
            Belonging::Child | Belonging::Orphan => {}
            Belonging::Leftover => {
                self.look_again(SOON);
                return Ok(Step::Nothing);
            }
            Belonging::Foreign => {
                let by = live.controller.clone();
                return Err(WriteError::Taken { what: text(child), by }.into());
            }
        }
        match self.engine.last_applied.judge(key, child, &live) {
            Verdict::Skip => {
                self.engine.metrics.skipped(child.kind().kind());
                Ok(Step::Nothing)
            }
            Verdict::Hold { wait, is_news } => {
                if is_news {
                    self.events.contested(&self.regarding, &text(child), wait).await;
                }
                self.look_again(wait);
                if !self.contested.contains(&text(child)) {
                    self.contested.push(text(child));
                }
                Ok(Step::Nothing)
            }
            Verdict::Apply => Ok(Step::Apply(live)),
        }
    }

    /// Creates a child. If there is one that our caches do not show, they lag behind, or it is not ours.
    async fn create(&mut self, child: &Child) -> Result<(), PassError> {
        let created = match child.random() {
            Some(random) => {
                let created = self.engine.writer.create(self.owner.key.namespace(), child, random).await;
                created.map(|object| self.note(child.kind(), &object)).map_err(PassError::from)
            }
            None => self.write(child, None).await,
        };
        self.explained(child, created).await
    }

    async fn explained(&self, child: &Child, result: Result<(), PassError>) -> Result<(), PassError> {
        let Err(PassError::Write(WriteError::Conflict { what })) = result else { return result };
        let Owner { key, uid } = self.owner;
        let found = self.engine.writer.child_metadata(key.namespace(), child).await?;
        let is_foreign = |facts: Option<ChildFacts>| {
            facts.is_none_or(|facts| facts.belonging(child, key.kind, key.name(), uid) == Belonging::Foreign)
        };
        match found {
            Some(metadata) if is_foreign(ChildFacts::read(&metadata)) => {
                let by = controller(&metadata).map(Box::new);
                Err(WriteError::Taken { what, by }.into())
            }
            _ => Err(WriteError::Conflict { what }.into()),
        }
    }

    /// The version of a child to base a write on: what this pass has made of it, else what the cache shows. What
    /// the Go operator has written is taken over first, however often it comes back. That changes who owns the fields,
    /// and none of them.
    async fn version(&mut self, child: &Child, live: &ChildFacts) -> Result<(String, String), PassError> {
        let place = (child.kind(), child.name().to_owned());
        if let Some(version) = self.versions.get(&place) {
            return Ok(version.clone());
        }
        let known = (live.uid.clone(), live.resource_version.clone());
        if !live.needs_takeover {
            return Ok(known);
        }
        let name = self.owner.key.object.sibling(child.name());
        let taken = self.engine.writer.take_over_child(child.kind(), &name, &known).await?;
        self.versions.insert(place, taken.clone());
        Ok(taken)
    }

    async fn write(&mut self, child: &Child, live: Option<(String, String)>) -> Result<(), PassError> {
        let key = self.owner.key;
        let live = live.as_ref().map(|(uid, version)| (uid.as_str(), version.as_str()));
        let applied = self.engine.writer.apply(key.namespace(), child, live).await?;
        self.note(child.kind(), &applied);
        if let Some(facts) = ChildFacts::read(&applied.metadata) {
            let changed = live.is_none_or(|(_, version)| version != facts.resource_version);
            self.engine.last_applied.applied(key, child, &facts, changed);
        }
        Ok(())
    }

    /// Deletes the children that are not among `wanted`. An operator must have written them: what others have given our
    /// owner is theirs, and is left and told. `known` are workloads that others make for our owner.
    pub(crate) async fn prune(
        &mut self,
        wanted: &[Child],
        known: &[(ChildKind, String)],
    ) -> Result<(), PassError> {
        let (engine, Owner { key, uid }) = (self.engine, self.owner);
        let is_wanted = |kind: ChildKind, name: &str| {
            wanted.iter().any(|child| child.kind() == kind && child.name() == name)
                || known.iter().any(|(its, other)| *its == kind && other == name)
        };
        let mut unmanaged: BTreeSet<(ChildKind, Arc<str>)> = BTreeSet::new();
        for (kind, cache) in &engine.caches.children {
            for (name, facts) in cache.related(key.namespace(), Relation::ControlledBy { uid }) {
                if is_wanted(*kind, &name.name) || facts.is_terminating || !facts.is_controlled_by(uid) {
                    continue;
                }
                match facts.writer {
                    Writer::Operator | Writer::GoOperator => {
                        engine.writer.delete(*kind, &name, &facts.uid).await?;
                    }
                    // What proxies make, proxies look after.
                    Writer::Proxy => {}
                    Writer::Other => {
                        unmanaged.insert((*kind, name.name.clone()));
                        if engine.last_applied.is_news(key, *kind, &name.name) {
                            engine.metrics.left_unmanaged(kind.kind());
                            self.events.unmanaged(&self.regarding, *kind, &name.name).await;
                        }
                    }
                }
            }
        }
        engine
            .last_applied
            .keep_only(key, |kind, name| is_wanted(kind, name) || unmanaged.contains(&(kind, name.into())));
        Ok(())
    }

    /// Writes a replica count under the name of the hand-off manager.
    pub(crate) async fn scale(&mut self, scaling: &Scaling) -> Result<(), PassError> {
        let scaled = self.engine.writer.scale(self.owner.key.namespace(), scaling).await?;
        let kind = match scaling.kind {
            Scalable::Deployment => ChildKind::Deployment,
            Scalable::StatefulSet => ChildKind::StatefulSet,
        };
        self.note(kind, &scaled);
        Ok(())
    }

    fn note(&mut self, kind: ChildKind, object: &DynamicObject) {
        let metadata = &object.metadata;
        if let (Some(name), Some(uid), Some(version)) =
            (&metadata.name, &metadata.uid, &metadata.resource_version)
        {
            self.versions.insert((kind, name.clone()), (uid.clone(), version.clone()));
        }
        self.engine.note(self.owner.key, Place::Child(kind), self.engine.caches.children(kind), object);
    }

    fn look_again(&mut self, wait: Duration) {
        self.again = Some(self.again.map_or(wait, |earlier| earlier.min(wait)));
    }
}

fn text(child: &Child) -> String {
    format!("{} {}", child.kind().kind(), child.name())
}
