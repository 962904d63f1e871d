//! Snapshots: everything is read once, before anything is written.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use thv_api::{Kind, Object};
use thv_plan::{ChildKind, Live, Read, Reference, References, Referent, Referred, Settings, Snapshot};

use crate::caches::Caches;
use crate::clock;
use crate::controlled::Controlled;
use crate::index::Index;
use crate::key::Key;
use crate::owner::Cached;

/// Something could not be read. That is never the same as its not being there.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {what}: {source}")]
pub(crate) struct ReadError {
    what: String,
    source: Box<kube::Error>,
}

/// Reads snapshots.
pub(crate) struct Loader {
    client: Client,
    caches: Arc<Caches>,
    index: Arc<Index>,
    settings: Arc<Settings>,
}

impl Loader {
    /// A loader over these caches.
    pub(crate) fn new(
        client: Client,
        caches: Arc<Caches>,
        index: Arc<Index>,
        settings: Arc<Settings>,
    ) -> Self {
        Self { client, caches, index, settings }
    }

    /// Everything that bears on one object.
    pub(crate) async fn load<S: Controlled>(
        &self,
        key: &Key,
        owner: Arc<Object<S>>,
    ) -> Result<Snapshot<S>, ReadError> {
        let mut references = References::new();
        loop {
            let wanted = S::refs(&owner, &references, &self.settings);
            // Known before it is read: a change after the read then finds us, whenever it comes.
            self.index.set(key, wanted.clone());
            let missing: BTreeSet<Reference> =
                wanted.into_iter().filter(|reference| !references.contains(reference)).collect();
            if missing.is_empty() {
                break;
            }
            for reference in missing {
                let read = self.read(&key.namespace, &reference).await?;
                references.insert(reference, read);
            }
        }
        let (live, settings, now) = (self.live(key), self.settings.clone(), clock::now());
        Ok(Snapshot { owner, references, live, settings, now })
    }

    /// Forgets what an object that is gone referred to.
    pub(crate) fn forget(&self, key: &Key) {
        self.index.set(key, BTreeSet::new());
    }

    async fn read(&self, namespace: &str, reference: &Reference) -> Result<Read<Referent>, ReadError> {
        let key = Key::new(namespace, &reference.name);
        let caches = &self.caches;
        Ok(match reference.kind {
            Referred::AuthzConfig => cached(caches.authz_configs.get(&key), Referent::AuthzConfig),
            Referred::ExternalAuthConfig => {
                cached(caches.external_auth_configs.get(&key), Referent::ExternalAuthConfig)
            }
            Referred::Group => cached(caches.groups.get(&key), Referent::Group),
            Referred::OidcConfig => cached(caches.oidc_configs.get(&key), Referent::OidcConfig),
            Referred::TelemetryConfig => {
                cached(caches.telemetry_configs.get(&key), Referent::TelemetryConfig)
            }
            Referred::ToolConfig => cached(caches.tool_configs.get(&key), Referent::ToolConfig),
            Referred::WebhookConfig => cached(caches.webhook_configs.get(&key), Referent::WebhookConfig),
            Referred::ConfigMap => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                let read =
                    api.get_opt(&key.name).await.map_err(|error| unreadable("ConfigMap", &key, error))?;
                read.map_or(Read::Absent, |object| {
                    Read::Found(Referent::ConfigMap(Arc::new(object.data.unwrap_or_default())))
                })
            }
            Referred::Secret => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                let read = api.get_opt(&key.name).await.map_err(|error| unreadable("Secret", &key, error))?;
                read.map_or(Read::Absent, |object| {
                    let keys = object.data.unwrap_or_default().into_keys().collect();
                    Read::Found(Referent::Secret(Arc::new(keys)))
                })
            }
        })
    }

    /// What is there of a server.
    fn live(&self, key: &Key) -> Live {
        let deployments = self.caches.children.get(&ChildKind::Deployment);
        let deployment = deployments.and_then(|shelf| shelf.get(key));
        let pods = self.caches.pods.select(&key.namespace, |_, facts| facts.server == key.name);
        let autoscalers = self.caches.autoscalers.select(&key.namespace, |_, target| *target == key.name);
        Live {
            deployment: deployment.and_then(|facts| facts.deployment.as_deref().cloned()),
            backend: self.caches.backends.get(key).map(|backend| (*backend).clone()),
            pods: pods.into_iter().map(|(_, facts)| facts.pod.clone()).collect(),
            autoscalers: autoscalers.into_iter().map(|(key, _)| key.name).collect(),
        }
    }
}

fn cached<S: Kind>(cached: Option<Arc<Cached<S>>>, wrap: fn(Arc<Object<S>>) -> Referent) -> Read<Referent> {
    match cached.as_deref().map(|cached| &cached.object) {
        None => Read::Absent,
        Some(Ok(object)) => Read::Found(wrap(object.clone())),
        Some(Err(malformed)) => Read::Malformed(malformed.to_string()),
    }
}

fn unreadable(kind: &str, key: &Key, error: kube::Error) -> ReadError {
    ReadError { what: format!("{kind} {key}"), source: Box::new(error) }
}
