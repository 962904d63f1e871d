//! Snapshots: everything is read once, before anything is written, and whatever is read is subscribed to.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use thv_api::Object;
use thv_plan::{
    ChildKind, LiveDeployment, LivePod, LiveStatefulSet, Observe, Planned, PodSelector, Read, Reference,
    References, Referent, Scalable, Settings, Snapshot, Target,
};

use crate::cache::Coverage;
use crate::caches::Caches;
use crate::clock;
use crate::key::{Key, NamespacedName};
use crate::projection::child::Workload;
use crate::projection::object::Cached;
use crate::registry::{Kinds, Row};
use crate::relation::{Facet, Relation, RelationId};
use crate::subscriptions::Subscriptions;

/// Something could not be read. That is never the same as its not being there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The API server does not give it.
    #[error("cannot read {what}: {source}")]
    Api { what: String, source: Box<kube::Error> },
    /// What the cache shows is not what is there.
    #[error("{}", stale(kind, *is_failing))]
    Stale { kind: &'static str, is_failing: bool },
}

impl ReadError {
    /// The API server does not give this.
    pub(crate) fn api(what: &str, error: kube::Error) -> Self {
        Self::Api { what: what.to_owned(), source: Box::new(error) }
    }
}

/// Reads snapshots.
pub(crate) struct Loader {
    pub client: Client,
    pub caches: Arc<Caches>,
    pub kinds: Arc<Kinds>,
    pub subscriptions: Arc<Subscriptions>,
    pub settings: Arc<Settings>,
}

/// Subscribes an object to what its plan depends on, and remembers what that was.
pub(crate) struct Dependencies<'a> {
    subscriptions: &'a Subscriptions,
    subscriber: &'a Key,
    ids: BTreeSet<RelationId>,
}

impl<'a> Dependencies<'a> {
    pub(crate) const fn new(subscriptions: &'a Subscriptions, subscriber: &'a Key) -> Self {
        Self { subscriptions, subscriber, ids: BTreeSet::new() }
    }

    /// From now on, changes to objects of this kind with this relation are told.
    pub(crate) fn add(&mut self, kind: &'static str, relation: Relation<'_>) {
        self.ids.insert(self.subscriptions.add(self.subscriber, kind, relation, Facet::Everything));
    }

    /// The same, but for changes of their status alone.
    fn add_definition(&mut self, kind: &'static str, relation: Relation<'_>) {
        self.ids.insert(self.subscriptions.add(self.subscriber, kind, relation, Facet::Definition));
    }

    /// From now on, changes to whoever refers to an object are told, of whatever kind, but for changes of their status.
    pub(crate) fn add_referrers(&mut self, kinds: &Kinds, to: &Target) {
        let relation = Relation::RefersTo { kind: to.kind, name: &to.name };
        for row in kinds.that_refer_to(to.kind) {
            self.add_definition(row.objects.kind(), relation);
        }
    }

    /// The same for an object by its name.
    pub(crate) fn add_named(&mut self, kind: &'static str, name: &str) {
        self.add(kind, Relation::Named { kind, name });
    }

    /// Whatever the object depended on before and does not any more is forgotten.
    pub(crate) fn settle(self) {
        self.subscriptions.keep_only(self.subscriber, &self.ids);
    }
}

impl Loader {
    /// Everything that bears on one object. Each thing is subscribed to before it is read: a change after the read then
    /// finds its way, whenever it comes.
    pub(crate) async fn load<S: Planned>(
        &self,
        key: &Key,
        owner: Arc<Object<S>>,
        cached: &Cached<S>,
        dependencies: &mut Dependencies<'_>,
    ) -> Result<Snapshot<S>, ReadError> {
        let mut references = References::new();
        loop {
            let wanted = S::refs(&owner, &references, &self.settings);
            let missing: Vec<Reference> =
                wanted.into_iter().filter(|reference| !references.contains(reference)).collect();
            if missing.is_empty() {
                break;
            }
            for reference in missing {
                self.subscribe(&reference, dependencies);
                let read = self.read(&key.object, &reference).await?;
                references.insert(reference, read);
            }
        }
        let mut observer = Observer { caches: &self.caches, owner: &key.object, dependencies };
        let live = S::live(&owner, &mut observer);
        Ok(Snapshot {
            owner,
            requested: cached.requested.clone(),
            references,
            live,
            settings: self.settings.clone(),
            now: clock::now(),
        })
    }

    fn subscribe(&self, reference: &Reference, dependencies: &mut Dependencies<'_>) {
        match reference {
            Reference::Object(Target { kind, name }) => {
                dependencies.add_definition(kind, Relation::Named { kind, name });
            }
            Reference::Status(Target { kind, name }) => dependencies.add_named(kind, name),
            Reference::ConfigMap(name) => dependencies.add_named(ChildKind::ConfigMap.kind(), name),
            Reference::Secret(name) => dependencies.add_named(ChildKind::Secret.kind(), name),
            Reference::Referrers { kind, to } => {
                dependencies.add_definition(kind, Relation::RefersTo { kind: to.kind, name: &to.name });
            }
            Reference::ReferredBy(to) => dependencies.add_referrers(&self.kinds, to),
        }
    }

    async fn read(&self, owner: &NamespacedName, reference: &Reference) -> Result<Read<Referent>, ReadError> {
        let namespace = &owner.namespace;
        Ok(match reference {
            Reference::Object(Target { kind, name }) | Reference::Status(Target { kind, name }) => {
                complete(self.kinds.get(kind), namespace)?;
                let read = self.kinds.get(kind).map(|row| row.objects.read(&owner.sibling(name)));
                match read.unwrap_or(Read::Absent) {
                    Read::Absent => Read::Absent,
                    Read::Malformed(why) => Read::Malformed(why),
                    Read::Found(object) => Read::Found(Referent::Object(object)),
                }
            }
            Reference::Referrers { kind, to } => {
                complete(self.kinds.get(kind), namespace)?;
                let found = self.kinds.get(kind).map(|row| row.objects.referrers(namespace, to));
                let found = found.unwrap_or_default().into_iter();
                Read::Found(Referent::Objects(
                    found.map(|referrer| (referrer.name.name.to_string(), referrer.object)).collect(),
                ))
            }
            // To name people for people. Who lets an object go asks the API server.
            Reference::ReferredBy(to) => Read::Found(Referent::Targets(self.kinds.referrers(namespace, to))),
            Reference::ConfigMap(name) => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                let read = api.get_opt(name).await.map_err(|error| unreadable("ConfigMap", name, error))?;
                read.map_or(Read::Absent, |object| {
                    Read::Found(Referent::ConfigMap(Arc::new(object.data.unwrap_or_default())))
                })
            }
            Reference::Secret(name) => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                let read = api.get_opt(name).await.map_err(|error| unreadable("Secret", name, error))?;
                read.map_or(Read::Absent, |Secret { metadata, data, .. }| {
                    let uid = metadata.uid.unwrap_or_default();
                    let content = data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0));
                    Read::Found(Referent::secret(&uid, content))
                })
            }
        })
    }
}

/// Fails if a kind is being listed anew: what is known of it is what was there before a gap in its watch.
fn complete(row: Option<&Row>, namespace: &str) -> Result<(), ReadError> {
    let Some(objects) = row.map(|row| &row.objects) else { return Ok(()) };
    let is_failing = match objects.coverage(namespace) {
        Coverage::Complete => return Ok(()),
        Coverage::Listing => false,
        Coverage::Failing => true,
    };
    Err(ReadError::Stale { kind: objects.kind(), is_failing })
}

fn stale(kind: &str, is_failing: bool) -> String {
    let why = if is_failing {
        "the API server does not list them, as the operator's log says"
    } else {
        "they are being listed anew"
    };
    format!("cannot tell which objects of the kind {kind} there are: {why}")
}

fn unreadable(kind: &str, name: &str, error: kube::Error) -> ReadError {
    ReadError::api(&format!("{kind} {name}"), error)
}

/// Looks up objects in the caches, and subscribes to them.
struct Observer<'a, 'b> {
    caches: &'a Caches,
    owner: &'a NamespacedName,
    dependencies: &'a mut Dependencies<'b>,
}

impl Observer<'_, '_> {
    fn workload(&mut self, kind: ChildKind, name: &str) -> Option<Workload> {
        self.dependencies.add_named(kind.kind(), name);
        let facts = self.caches.children(kind)?.get(&self.owner.sibling(name))?;
        facts.workload.as_deref().cloned()
    }
}

impl Observe for Observer<'_, '_> {
    fn deployment(&mut self, name: &str) -> Option<LiveDeployment> {
        match self.workload(ChildKind::Deployment, name)? {
            Workload::Deployment(live) => Some(live),
            Workload::StatefulSet(_) => None,
        }
    }

    fn stateful_set(&mut self, name: &str) -> Option<LiveStatefulSet> {
        match self.workload(ChildKind::StatefulSet, name)? {
            Workload::StatefulSet(live) => Some(live),
            Workload::Deployment(_) => None,
        }
    }

    fn pods(&mut self, selector: PodSelector, instance: &str) -> Vec<LivePod> {
        let relation = Relation::PodOf { selector: selector.labels, instance };
        self.dependencies.add("Pod", relation);
        let Some(cache) = self.caches.pods.get(&selector) else { return Vec::new() };
        let pods = cache.related(&self.owner.namespace, relation).into_iter();
        pods.filter(|(_, facts)| facts.instance == instance).map(|(_, facts)| facts.pod.clone()).collect()
    }

    fn autoscalers(&mut self, kind: Scalable, name: &str) -> Vec<String> {
        let relation = Relation::Scales { kind: kind.kind(), name };
        self.dependencies.add("HorizontalPodAutoscaler", relation);
        let found = self.caches.autoscalers.related(&self.owner.namespace, relation).into_iter();
        found.map(|(name, _)| name.name.to_string()).collect()
    }
}
