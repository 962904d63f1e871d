//! A test's own namespace, which goes away with it.

use std::ops::AsyncFnOnce;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Event, Namespace};
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt};

use crate::assets::Tier;
use crate::bed::Bed;
use crate::control_plane::client_from;

/// What a test works with.
#[derive(Clone)]
pub struct Space {
    bed: Bed,
    namespace: String,
    clean_up: Arc<Mutex<Vec<BoxFuture<'static, Result<()>>>>>,
}

/// Runs a test that needs an API server in a namespace of its own, and removes that namespace, whatever happens.
pub async fn in_namespace<F>(test: F)
where
    F: AsyncFnOnce(Space) -> Result<()>,
{
    run(Tier::Api, test).await;
}

/// The same for a test that needs pods.
pub async fn on_cluster<F>(test: F)
where
    F: AsyncFnOnce(Space) -> Result<()>,
{
    run(Tier::Full, test).await;
}

#[expect(clippy::panic, reason = "this is how a test fails")]
async fn run<F>(tier: Tier, test: F)
where
    F: AsyncFnOnce(Space) -> Result<()>,
{
    let space = match Space::create(tier).await {
        Ok(space) => space,
        Err(error) => panic!("{error:#}"),
    };
    let outcome = AssertUnwindSafe(test(space.clone())).catch_unwind().await;
    if !matches!(outcome, Ok(Ok(()))) {
        space.show_events().await;
    }
    let removed = space.remove().await;
    match outcome {
        Err(panic) => resume_unwind(panic),
        Ok(Err(error)) => panic!("{error:#}"),
        Ok(Ok(())) => {}
    }
    if let Err(error) = removed {
        panic!("the test passed, but it could not be cleaned up: {error:#}");
    }
}

impl Space {
    async fn create(tier: Tier) -> Result<Self> {
        let bed = Bed::open(tier).await?;
        let namespace = Namespace {
            metadata: ObjectMeta { generate_name: Some("test-".to_owned()), ..ObjectMeta::default() },
            ..Namespace::default()
        };
        let namespaces: Api<Namespace> = Api::all(bed.client());
        let created = namespaces.create(&PostParams::default(), &namespace).await;
        let namespace = created.context("cannot make a namespace for the test")?.name_any();
        Ok(Self { bed, namespace, clean_up: Arc::default() })
    }

    /// The cluster.
    pub fn bed(&self) -> &Bed {
        &self.bed
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.bed.client()
    }

    /// The name of the namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The objects of one kind in the namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client(), &self.namespace)
    }

    /// Has something outside the namespace removed when the test is over. The last one named goes first.
    pub fn finally(&self, remove: impl Future<Output = Result<()>> + Send + 'static) {
        self.clean_up.lock().unwrap_or_else(PoisonError::into_inner).push(remove.boxed());
    }

    /// A token with which a program acts as a ServiceAccount of the namespace.
    pub async fn token_of(&self, account: &str) -> Result<String> {
        self.bed.token_of(&self.namespace, account).await
    }

    /// A client that acts as a ServiceAccount of the namespace.
    pub async fn client_of(&self, account: &str) -> Result<Client> {
        client_from(&self.bed.kubeconfig_of(&self.namespace, account).await?).await
    }

    /// The events of the namespace tell why something did not happen.
    async fn show_events(&self) {
        let events: Api<Event> = self.api();
        for event in events.list(&ListParams::default()).await.into_iter().flat_map(|list| list.items) {
            let about = event.involved_object;
            eprintln!(
                "event: {} {}: {}: {}",
                about.kind.unwrap_or_default(),
                about.name.unwrap_or_default(),
                event.reason.unwrap_or_default(),
                event.message.unwrap_or_default()
            );
        }
    }

    /// Everything outside the namespace, then the namespace. Its content goes in the background; the test run
    /// as a whole waits for that.
    async fn remove(&self) -> Result<()> {
        let steps = std::mem::take(&mut *self.clean_up.lock().unwrap_or_else(PoisonError::into_inner));
        for step in steps.into_iter().rev() {
            step.await?;
        }
        let namespaces: Api<Namespace> = Api::all(self.client());
        let deleted = namespaces.delete(&self.namespace, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("cannot delete the namespace {}", self.namespace))
    }
}
