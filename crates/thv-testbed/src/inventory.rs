//! What is in a cluster beyond what every cluster has: the proof that tests clean up.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ListParams;
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;

use crate::bed::Bed;

impl Bed {
    /// Everything that is not inside a namespace and that tests make: `Kind name`.
    pub async fn inventory(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        list::<Namespace>(self.client(), &mut found).await?;
        list::<CustomResourceDefinition>(self.client(), &mut found).await?;
        list::<ClusterRole>(self.client(), &mut found).await?;
        list::<ClusterRoleBinding>(self.client(), &mut found).await?;
        list::<PersistentVolume>(self.client(), &mut found).await?;
        list::<MutatingWebhookConfiguration>(self.client(), &mut found).await?;
        list::<ValidatingWebhookConfiguration>(self.client(), &mut found).await?;
        Ok(found)
    }

    /// Waits until everything is gone that was not there `before`, and returns what does not go.
    pub async fn settle(&self, before: &BTreeSet<String>) -> Result<Vec<String>> {
        let mut left = Vec::new();
        for _ in 0..300 {
            left = self.inventory().await?.difference(before).cloned().collect();
            if left.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(left)
    }
}

async fn list<K>(client: Client, found: &mut BTreeSet<String>) -> Result<()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let kind = K::kind(&());
    let objects = Api::<K>::all(client).list_metadata(&ListParams::default()).await;
    let objects = objects.with_context(|| format!("cannot list {kind}"))?;
    // The API server makes these by itself, some of them a moment after it is ready.
    let is_builtin = |name: &String| name.starts_with("kube-") || name.starts_with("system:");
    let names = objects.items.iter().map(ResourceExt::name_any).filter(|name| !is_builtin(name));
    found.extend(names.map(|name| format!("{kind} {name}")));
    Ok(())
}
