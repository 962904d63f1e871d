//! The table of kinds: what is watched, and what is looked after.
//!
//! Adding a kind is a plan module in `thv-plan`, a line in [`Registry::all`], and its row in [`crate::rbac`].

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use kube::api::ListParams;
use kube::{Api, Client, Resource as _, ResourceExt as _};
use thv_api::Kind;
use thv_api::kinds::{
    EmbeddingServerSpec, MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec,
    MCPRegistrySpec, MCPRemoteProxySpec, MCPServerEntrySpec, MCPServerSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec, VirtualMCPCompositeToolDefinitionSpec, VirtualMCPServerSpec,
};
use thv_plan::{AnyObject, Planned, PodSelector, Read, Refers, Settings, Target};

use crate::cache::{Cache, Coverage};
use crate::caches::{PAGE, Watches};
use crate::key::NamespacedName;
use crate::projection::object::{self, Cached, Raw};
use crate::reconcile::{Reconcile, Reconciler};
use crate::relation::Relation;
use crate::snapshot::ReadError;
use crate::write_error::is_not_found;

/// The kinds that an operator knows.
#[derive(Clone, Default)]
pub struct Registry(Vec<MakeRow>);

/// Makes the row of a kind for these scopes.
type MakeRow = fn(&[Option<String>]) -> Row;

impl Registry {
    /// No kind at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every kind of the API.
    pub fn all() -> Self {
        Self::new()
            .planned::<MCPServerSpec>()
            .planned::<EmbeddingServerSpec>()
            .planned::<MCPAuthzConfigSpec>()
            .planned::<MCPExternalAuthConfigSpec>()
            .planned::<MCPGroupSpec>()
            .planned::<MCPOIDCConfigSpec>()
            .planned::<MCPRegistrySpec>()
            .planned::<MCPRemoteProxySpec>()
            .planned::<MCPServerEntrySpec>()
            .planned::<MCPTelemetryConfigSpec>()
            .planned::<MCPToolConfigSpec>()
            .planned::<MCPWebhookConfigSpec>()
            .planned::<VirtualMCPCompositeToolDefinitionSpec>()
            .planned::<VirtualMCPServerSpec>()
    }

    /// Adds a kind that is looked after.
    #[must_use]
    pub fn planned<S: Planned>(mut self) -> Self {
        self.0.push(|scopes| {
            let objects = Arc::new(Objects::<S> { cache: Cache::new(scopes), requests: S::REQUESTS });
            Row { reconciler: Some(Arc::new(Reconciler::new(objects.clone()))), objects, pods: S::PODS }
        });
        self
    }

    pub(crate) fn kinds(&self, scopes: &[Option<String>]) -> Kinds {
        let rows = self.0.iter().map(|row| row(scopes));
        Kinds(rows.map(|row| (row.objects.kind(), row)).collect())
    }
}

/// A kind.
pub(crate) struct Row {
    pub objects: Arc<dyn AnyObjects>,
    /// What looks after its objects, if anything does.
    pub reconciler: Option<Arc<dyn Reconcile>>,
    /// The pods that its plans look at.
    pub pods: &'static [PodSelector],
}

/// The kinds of a running operator, by name.
pub(crate) struct Kinds(BTreeMap<&'static str, Row>);

impl Kinds {
    pub(crate) fn get(&self, kind: &str) -> Option<&Row> {
        self.0.get(kind)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.values()
    }

    /// The kinds whose objects can refer to objects of that one.
    pub(crate) fn that_refer_to(&self, kind: &str) -> impl Iterator<Item = &Row> {
        self.rows().filter(move |row| row.objects.can_refer_to(kind))
    }

    /// Every selector of pods, once.
    pub(crate) fn pods(&self) -> Vec<PodSelector> {
        let mut all: Vec<PodSelector> = self.rows().flat_map(|row| row.pods).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Who refers to an object and is not being deleted himself, of whatever kind.
    pub(crate) fn referrers(&self, namespace: &str, to: &Target) -> Vec<Target> {
        let of_kind = |row: &Row| {
            let found = row.objects.referrers(namespace, to).into_iter();
            let kind = row.objects.kind();
            found
                .filter(|referrer| !referrer.is_terminating)
                .map(move |referrer| Target { kind, name: referrer.name.name.to_string() })
                .collect::<Vec<_>>()
        };
        self.that_refer_to(to.kind).flat_map(of_kind).collect()
    }
}

/// An object that refers to another.
pub(crate) struct Referrer {
    pub name: NamespacedName,
    pub object: Read<Arc<dyn AnyObject>>,
    pub is_terminating: bool,
}

/// The cached objects of one kind, whichever it is.
pub(crate) trait AnyObjects: Send + Sync {
    fn kind(&self) -> &'static str;

    /// Starts the watches that keep the cache up to date.
    fn watch(&self, watches: &mut Watches<'_>, settings: &Arc<Settings>, is_planned: bool);

    /// Waits until everything has been seen once.
    fn ready(&self) -> BoxFuture<'_, ()>;

    /// How much of a namespace is known.
    fn coverage(&self, namespace: &str) -> Coverage;

    /// Whether objects of this kind can refer to objects of that one.
    fn can_refer_to(&self, kind: &str) -> bool;

    /// The objects that refer to another one and are not being deleted, as the API server lists them now. No watch can
    /// tell that there is none: it may be behind.
    fn list_referrers<'a>(
        &'a self,
        client: &'a Client,
        settings: &'a Settings,
        namespace: &'a str,
        to: &'a Target,
    ) -> BoxFuture<'a, Result<Vec<Target>, ReadError>>;

    /// The object of this name.
    fn read(&self, name: &NamespacedName) -> Read<Arc<dyn AnyObject>>;

    /// The objects that refer to another one.
    fn referrers(&self, namespace: &str, to: &Target) -> Vec<Referrer>;

    /// The names of all objects.
    fn names(&self) -> Vec<NamespacedName>;

    /// Whether there is an object of this name.
    fn contains(&self, name: &NamespacedName) -> bool;
}

/// The cached objects of the kind `S`.
pub(crate) struct Objects<S: Kind> {
    pub cache: Cache<Cached<S>>,
    /// Annotations of which plans have to know when they were written.
    requests: &'static [&'static str],
}

impl<S: Refers> AnyObjects for Objects<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn watch(&self, watches: &mut Watches<'_>, settings: &Arc<Settings>, is_planned: bool) {
        let (requests, settings) = (self.requests, settings.clone());
        watches.add(S::KIND, is_planned, &self.cache, None, move |raw| {
            Some(object::project(raw, requests, &settings))
        });
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        self.cache.ready().boxed()
    }

    fn coverage(&self, namespace: &str) -> Coverage {
        self.cache.coverage(namespace)
    }

    fn can_refer_to(&self, kind: &str) -> bool {
        S::REFERS_TO.contains(&kind)
    }

    fn list_referrers<'a>(
        &'a self,
        client: &'a Client,
        settings: &'a Settings,
        namespace: &'a str,
        to: &'a Target,
    ) -> BoxFuture<'a, Result<Vec<Target>, ReadError>> {
        async move {
            let wanted = Relation::RefersTo { kind: to.kind, name: &to.name }.id(namespace);
            let api: Api<Raw<S>> = Api::namespaced(client.clone(), namespace);
            let (mut found, mut page) = (Vec::new(), ListParams::default().limit(PAGE));
            loop {
                let list = match api.list(&page).await {
                    Ok(list) => list,
                    // The kind is not served, so there is none of it.
                    Err(error) if is_not_found(&error) => return Ok(Vec::new()),
                    Err(error) => return Err(ReadError::api(S::KIND, error)),
                };
                for raw in list.items {
                    let (name, is_terminating) = (raw.name_any(), raw.meta().deletion_timestamp.is_some());
                    let projection = object::project(raw, self.requests, settings);
                    if !is_terminating && projection.relations.contains(&wanted) {
                        found.push(Target { kind: S::KIND, name });
                    }
                }
                match list.metadata.continue_.filter(|token| !token.is_empty()) {
                    Some(token) => page.continue_token = Some(token),
                    None => return Ok(found),
                }
            }
        }
        .boxed()
    }

    fn read(&self, name: &NamespacedName) -> Read<Arc<dyn AnyObject>> {
        self.cache.get(name).map_or(Read::Absent, |cached| found(&cached))
    }

    fn referrers(&self, namespace: &str, to: &Target) -> Vec<Referrer> {
        let relation = Relation::RefersTo { kind: to.kind, name: &to.name };
        let related = self.cache.related(namespace, relation).into_iter();
        related
            .map(|(name, cached)| Referrer {
                name,
                object: found(&cached),
                is_terminating: cached.metadata().deletion_timestamp.is_some(),
            })
            .collect()
    }

    fn names(&self) -> Vec<NamespacedName> {
        self.cache.names()
    }

    fn contains(&self, name: &NamespacedName) -> bool {
        self.cache.get(name).is_some()
    }
}

fn found<S: Kind>(cached: &Cached<S>) -> Read<Arc<dyn AnyObject>> {
    match &cached.object {
        Ok(object) => Read::Found(object.clone()),
        Err(malformed) => Read::Malformed(malformed.to_string()),
    }
}
