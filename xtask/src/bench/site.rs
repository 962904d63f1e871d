//! A cluster to measure on.

use std::ops::AsyncFnOnce;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ApiResource, DynamicObject};
use kube::core::NamespaceResourceScope;
use kube::{Api, Resource};
use serde_json::json;
use tests_fixture::{ACCOUNT, Reach, apply, grant, install_kinds};
use thv_testbed::{Assets, Bed, Cluster, Description, Leftovers, Owner, SubjectBuilder, Tier, usage};

use crate::product;
use crate::shell::say;

/// Where everything happens.
pub(crate) const NAMESPACE: &str = "bench";

/// A fresh API server with our kinds, and an account that may do what the operator may do.
pub(crate) struct Site {
    bed: Bed,
    /// With this one is that account.
    pub(super) kubeconfig: PathBuf,
    /// The process of the API server.
    pub(super) api_server: u32,
}

/// Measures on a cluster that was made for it, and is gone afterwards.
pub(crate) async fn on_fresh_cluster<T>(
    tier: Tier,
    assets: Option<&Path>,
    measure: impl AsyncFnOnce(&Description) -> Result<T>,
) -> Result<T> {
    for leftover in Leftovers::remove().await?.0 {
        say(&format!("removed {leftover}"));
    }
    let mut cluster = Cluster::start(tier, Assets::find(tier, assets)?, Owner::TestRun, &say).await?;
    let description = cluster.description().clone();
    let result = tokio::select! {
        result = measure(&description) => result,
        death = cluster.failed() => Err(anyhow!("the cluster broke down: {death}")),
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
    };
    cluster.stop().await?;
    result
}

impl Site {
    pub(crate) async fn prepare(description: &Description) -> Result<Self> {
        let bed = Bed::at(&description.file()).await?;
        install_kinds(&bed.client()).await?;
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        apply::<Namespace>(&Api::all(bed.client()), &namespace).await?;
        grant(&bed.client(), NAMESPACE, Reach::Cluster).await?;
        let kubeconfig = description.folder.join("operator-kubeconfig");
        std::fs::write(&kubeconfig, bed.kubeconfig_of(NAMESPACE, ACCOUNT).await?)?;
        let api_server = usage::find("kube-apiserver", &description.folder.display().to_string())?;
        Ok(Self { bed, kubeconfig, api_server })
    }

    /// The operator, with its metrics on a port of this machine.
    pub(crate) fn operator(&self, port: u16) -> Result<SubjectBuilder> {
        Ok(SubjectBuilder::new(product::built("thv-operator")?)
            .args(["--leader-elect", "--health-probe-bind-address", "0", "--metrics-bind-address"])
            .args([format!("127.0.0.1:{port}")])
            .args(["--kubeconfig".into(), self.kubeconfig.clone().into_os_string()])
            .env("POD_NAMESPACE", NAMESPACE)
            .env("OPERATOR_OPENSHIFT", "false"))
    }

    /// The cluster.
    pub(crate) fn bed(&self) -> &Bed {
        &self.bed
    }

    /// The objects of one kind, as an administrator sees them.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.bed.client(), NAMESPACE)
    }

    /// The objects of a kind that is known at run time only.
    pub(super) fn api_with(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.bed.client(), NAMESPACE, resource)
    }
}
