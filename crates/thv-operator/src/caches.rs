//! Everything that we watch.

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
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServerSpec,
    MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_plan::{ChildKind, LiveBackend, Reference, Referred};

use crate::facts::{self, Facts, PodFacts};
use crate::index::Index;
use crate::key::Key;
use crate::owner::{self, Cached, Raw};
use crate::queue::Queue;
use crate::shelf::{Shelf, Sight, run};

/// Objects of one list are held at once, so a page is short.
const PAGE: u32 = 50;

/// The caches.
pub struct Caches {
    /// Servers.
    pub servers: Shelf<Cached<MCPServerSpec>>,
    /// Authorization rules.
    pub authz_configs: Shelf<Cached<MCPAuthzConfigSpec>>,
    /// Outgoing authentication.
    pub external_auth_configs: Shelf<Cached<MCPExternalAuthConfigSpec>>,
    /// Groups.
    pub groups: Shelf<Cached<MCPGroupSpec>>,
    /// Identity providers.
    pub oidc_configs: Shelf<Cached<MCPOIDCConfigSpec>>,
    /// Telemetry settings.
    pub telemetry_configs: Shelf<Cached<MCPTelemetryConfigSpec>>,
    /// Tool settings.
    pub tool_configs: Shelf<Cached<MCPToolConfigSpec>>,
    /// Webhooks.
    pub webhook_configs: Shelf<Cached<MCPWebhookConfigSpec>>,
    /// Children, by kind.
    pub children: BTreeMap<ChildKind, Shelf<Facts>>,
    /// StatefulSets of backends.
    pub backends: Shelf<LiveBackend>,
    /// Pods of proxies.
    pub pods: Shelf<PodFacts>,
    /// Autoscalers of Deployments.
    pub autoscalers: Shelf<String>,
    /// Secrets: nothing is kept of them.
    pub secrets: Shelf<()>,
}

impl Caches {
    /// Empty caches for these scopes: namespaces, or nothing for all of them.
    pub fn new(scopes: &[Option<String>]) -> Self {
        Self {
            servers: Shelf::new(scopes),
            authz_configs: Shelf::new(scopes),
            external_auth_configs: Shelf::new(scopes),
            groups: Shelf::new(scopes),
            oidc_configs: Shelf::new(scopes),
            telemetry_configs: Shelf::new(scopes),
            tool_configs: Shelf::new(scopes),
            webhook_configs: Shelf::new(scopes),
            children: ChildKind::ALL.iter().map(|kind| (*kind, Shelf::new(scopes))).collect(),
            backends: Shelf::new(scopes),
            pods: Shelf::new(scopes),
            autoscalers: Shelf::new(scopes),
            secrets: Shelf::new(scopes),
        }
    }

    /// Waits until all of them have seen everything once.
    pub async fn ready(&self) {
        self.servers.ready().await;
        self.authz_configs.ready().await;
        self.external_auth_configs.ready().await;
        self.groups.ready().await;
        self.oidc_configs.ready().await;
        self.telemetry_configs.ready().await;
        self.tool_configs.ready().await;
        self.webhook_configs.ready().await;
        for shelf in self.children.values() {
            shelf.ready().await;
        }
        self.backends.ready().await;
        self.pods.ready().await;
        self.autoscalers.ready().await;
        self.secrets.ready().await;
    }

    /// The watches, to be run for as long as the caches are to be up to date. What changes goes to the queue.
    pub fn watches(
        &self,
        client: &Client,
        queue: &Arc<Queue>,
        index: &Arc<Index>,
    ) -> Vec<BoxFuture<'static, ()>> {
        let mut watches = Watches { client, queue, index, running: Vec::new() };
        watches.add::<Raw<MCPServerSpec>, _>(&self.servers, None, None, owner::owner);
        watches.add(&self.authz_configs, Some(Referred::AuthzConfig), None, owner::referent);
        watches.add(&self.external_auth_configs, Some(Referred::ExternalAuthConfig), None, owner::referent);
        watches.add(&self.groups, Some(Referred::Group), None, owner::referent);
        watches.add(&self.oidc_configs, Some(Referred::OidcConfig), None, owner::referent);
        watches.add(&self.telemetry_configs, Some(Referred::TelemetryConfig), None, owner::referent);
        watches.add(&self.tool_configs, Some(Referred::ToolConfig), None, owner::referent);
        watches.add(&self.webhook_configs, Some(Referred::WebhookConfig), None, owner::referent);
        for (kind, shelf) in &self.children {
            match kind {
                ChildKind::ConfigMap => {
                    let referred = Some(Referred::ConfigMap);
                    watches.add(shelf, referred, None, facts::child::<ConfigMap>);
                }
                ChildKind::Deployment => watches.add(shelf, None, None, facts::deployment),
                ChildKind::Role => watches.add(shelf, None, None, facts::child::<Role>),
                ChildKind::RoleBinding => watches.add(shelf, None, None, facts::child::<RoleBinding>),
                ChildKind::Service => watches.add(shelf, None, None, facts::child::<Service>),
                ChildKind::ServiceAccount => watches.add(shelf, None, None, facts::child::<ServiceAccount>),
            }
        }
        watches.add(&self.backends, None, Some("toolhive=true"), facts::backend);
        watches.add(&self.pods, None, Some("app=mcpserver"), facts::pod);
        watches.add(&self.autoscalers, None, None, facts::autoscaler);
        watches.add(&self.secrets, Some(Referred::Secret), None, facts::nothing::<Secret>);
        watches.running
    }
}

struct Watches<'a> {
    client: &'a Client,
    queue: &'a Arc<Queue>,
    index: &'a Arc<Index>,
    running: Vec<BoxFuture<'static, ()>>,
}

impl Watches<'_> {
    /// Keeps a shelf up to date. The owner of what changes is due, and so is everybody who refers to it.
    fn add<K, T>(
        &mut self,
        shelf: &Shelf<T>,
        referred: Option<Referred>,
        labels: Option<&str>,
        project: fn(K) -> Sight<T>,
    ) where
        K: Watchable,
        T: Send + Sync + 'static,
    {
        for (scope, feed) in shelf.feeds() {
            let (queue, index) = (self.queue.clone(), self.index.clone());
            let changed = move |key: &Key, owner: Option<Key>| {
                let referrers =
                    referred.map(|kind| index.owners(&key.namespace, Reference::new(kind, &key.name)));
                for due in owner.into_iter().chain(referrers.into_iter().flatten()) {
                    queue.add(due);
                }
            };
            let mut config = watcher::Config::default().page_size(PAGE);
            config.label_selector = labels.map(str::to_owned);
            let api = match scope {
                Some(namespace) => Api::namespaced(self.client.clone(), namespace),
                None => Api::all(self.client.clone()),
            };
            self.running.push(run(feed.clone(), api, config, project, changed).boxed());
        }
    }
}

/// What can be watched, in a namespace or in all.
trait Watchable:
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
