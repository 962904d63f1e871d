//! The caches of everything that is not of our own API, and the watches of all caches.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::core::NamespaceResourceScope;
use kube::runtime::watcher;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use thv_plan::{ChildKind, PodSelector};

use crate::cache::{Cache, Projection};
use crate::projection::child::ChildFacts;
use crate::projection::partial::MetadataOnly;
use crate::projection::pod::PodFacts;
use crate::projection::{autoscaler, child, pod, workload};
use crate::queue::Queue;
use crate::subscriptions::Subscriptions;
use crate::watch::{Notifier, run};

/// Objects of one list are held at once, so a page is short.
pub(crate) const PAGE: u32 = 50;

/// The caches of objects of Kubernetes.
pub(crate) struct Caches {
    /// Children, by kind. What others have made is not kept, but those who asked for it are told when it changes.
    pub children: BTreeMap<ChildKind, Cache<ChildFacts>>,
    /// Pods, by what selects them.
    pub pods: BTreeMap<PodSelector, Cache<PodFacts>>,
    /// Autoscalers. Their relations say what they scale.
    pub autoscalers: Cache<()>,
}

impl Caches {
    /// Empty caches for these scopes: namespaces, or nothing for all of them.
    pub(crate) fn new(scopes: &[Option<String>], pods: &[PodSelector]) -> Self {
        Self {
            children: ChildKind::ALL.iter().map(|kind| (*kind, Cache::new(scopes))).collect(),
            pods: pods.iter().map(|selector| (*selector, Cache::new(scopes))).collect(),
            autoscalers: Cache::new(scopes),
        }
    }

    /// The children of a kind.
    pub(crate) fn children(&self, kind: ChildKind) -> Option<&Cache<ChildFacts>> {
        self.children.get(&kind)
    }

    /// Waits until all of them have seen everything once.
    pub(crate) async fn ready(&self) {
        for cache in self.children.values() {
            cache.ready().await;
        }
        for cache in self.pods.values() {
            cache.ready().await;
        }
        self.autoscalers.ready().await;
    }

    /// Starts the watches that keep them up to date.
    ///
    /// Of everything but workloads and pods only the metadata is watched: no content of a Secret or a ConfigMap crosses
    /// the wire because somebody else changed it.
    pub(crate) fn watch(&self, watches: &mut Watches<'_>) {
        for (kind, cache) in &self.children {
            let name = kind.kind();
            match kind {
                ChildKind::ConfigMap => watches.metadata::<ConfigMap>(name, cache),
                ChildKind::Role => watches.metadata::<Role>(name, cache),
                ChildKind::RoleBinding => watches.metadata::<RoleBinding>(name, cache),
                ChildKind::Secret => watches.metadata::<Secret>(name, cache),
                ChildKind::Service => watches.metadata::<Service>(name, cache),
                ChildKind::ServiceAccount => watches.metadata::<ServiceAccount>(name, cache),
                ChildKind::Deployment => watches.add(name, false, cache, None, workload::deployment),
                ChildKind::StatefulSet => watches.add(name, false, cache, None, workload::stateful_set),
            }
        }
        for (selector, cache) in &self.pods {
            let selector = *selector;
            watches.add("Pod", false, cache, Some(selector.labels), move |object| {
                pod::project(selector, object)
            });
        }
        watches.add("HorizontalPodAutoscaler", false, &self.autoscalers, None, |object| {
            Some(autoscaler::project(object))
        });
    }
}

/// Watches that are to be run for as long as the caches are to be up to date.
pub(crate) struct Watches<'a> {
    pub client: &'a Client,
    pub queue: &'a Arc<Queue>,
    pub subscriptions: &'a Arc<Subscriptions>,
    pub running: Vec<BoxFuture<'static, ()>>,
}

impl Watches<'_> {
    /// Keeps a cache of children up to date by their metadata alone.
    fn metadata<K>(&mut self, kind: &'static str, cache: &Cache<ChildFacts>)
    where
        K: Watchable,
        MetadataOnly<K>: Watchable,
    {
        self.add(kind, false, cache, None, child::project::<K>);
    }

    /// Keeps a cache up to date, and tells whom changes concern.
    pub(crate) fn add<K, T>(
        &mut self,
        kind: &'static str,
        is_planned: bool,
        cache: &Cache<T>,
        labels: Option<&str>,
        project: impl Fn(K) -> Option<Projection<T>> + Clone + Send + Sync + 'static,
    ) where
        K: Watchable,
        T: Send + Sync + 'static,
    {
        for (scope, store) in cache.stores() {
            let notifier = Notifier {
                kind,
                is_planned,
                queue: self.queue.clone(),
                subscriptions: self.subscriptions.clone(),
            };
            let mut config = watcher::Config::default().page_size(PAGE);
            config.label_selector = labels.map(str::to_owned);
            let api = match scope {
                Some(namespace) => Api::namespaced(self.client.clone(), namespace),
                None => Api::all(self.client.clone()),
            };
            self.running.push(run(store.clone(), api, config, project.clone(), notifier).boxed());
        }
    }
}

/// What can be watched, in a namespace or in all.
pub(crate) trait Watchable:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug + Send + 'static
{
}

impl<K> Watchable for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + Debug
        + Send
        + 'static
{
}
