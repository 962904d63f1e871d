//! A cluster to measure on.

use std::fmt::Debug;
use std::ops::AsyncFnOnce;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::api::{Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thv_operator::rbac;
use thv_testbed::{Assets, Bed, Cluster, Description, Leftovers, Owner, Tier};

use super::process;
use crate::kinds;
use crate::shell::say;

/// Where everything happens.
pub(super) const NAMESPACE: &str = "bench";
const ACCOUNT: &str = "operator";

/// A fresh API server with our kinds, and an account that may do what the operator may do.
pub(super) struct Site {
    bed: Bed,
    /// With this one is that account.
    pub(super) kubeconfig: PathBuf,
    /// The process of the API server.
    pub(super) api_server: u32,
}

/// Measures on a cluster that was made for it, and is gone afterwards.
pub(super) async fn on_fresh_cluster<T>(
    assets: Option<&Path>,
    measure: impl AsyncFnOnce(&Site) -> Result<T>,
) -> Result<T> {
    for leftover in Leftovers::remove().await?.0 {
        say(&format!("removed {leftover}"));
    }
    let mut cluster =
        Cluster::start(Tier::Api, Assets::find(Tier::Api, assets)?, Owner::TestRun, &say).await?;
    let description = cluster.description().clone();
    let work = async {
        let site = Site::prepare(&description).await.context("cannot prepare the cluster")?;
        measure(&site).await
    };
    let result = tokio::select! {
        result = work => result,
        death = cluster.failed() => Err(anyhow!("the cluster broke down: {death}")),
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
    };
    cluster.stop().await?;
    result
}

impl Site {
    async fn prepare(description: &Description) -> Result<Self> {
        let bed = Bed::at(&description.file()).await?;
        kinds::install(&bed.client()).await?;
        grant(&bed.client()).await?;
        let kubeconfig = description.folder.join("operator-kubeconfig");
        std::fs::write(&kubeconfig, bed.kubeconfig_of(NAMESPACE, ACCOUNT).await?)?;
        let api_server = process::find("kube-apiserver", &description.folder)?;
        Ok(Self { bed, kubeconfig, api_server })
    }

    /// The objects of one kind, as an administrator sees them.
    pub(super) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.bed.client(), NAMESPACE)
    }
}

/// The operator's account, with the rights of its own table and no others.
async fn grant(client: &Client) -> Result<()> {
    let global = |kind: &str, name: &str, more: Value| object("v1", kind, name, more);
    let rights = |kind: &str, more: Value| object("rbac.authorization.k8s.io/v1", kind, ACCOUNT, more);
    let binding = |kind: &str, role: &str| {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": ACCOUNT});
        let subjects = json!([{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]);
        rights(kind, json!({"roleRef": role, "subjects": subjects}))
    };
    let everywhere = [rbac::rules(), rbac::cluster_rules()].concat();
    apply::<Namespace>(&Api::all(client.clone()), &global("Namespace", NAMESPACE, json!({}))).await?;
    let here = || client.clone();
    apply::<ServiceAccount>(
        &Api::namespaced(here(), NAMESPACE),
        &global("ServiceAccount", ACCOUNT, json!({})),
    )
    .await?;
    apply::<ClusterRole>(&Api::all(here()), &rights("ClusterRole", json!({"rules": everywhere}))).await?;
    apply::<ClusterRoleBinding>(&Api::all(here()), &binding("ClusterRoleBinding", "ClusterRole")).await?;
    let role = rights("Role", json!({"rules": rbac::leader_rules()}));
    apply::<Role>(&Api::namespaced(here(), NAMESPACE), &role).await?;
    apply::<RoleBinding>(&Api::namespaced(here(), NAMESPACE), &binding("RoleBinding", "Role")).await
}

/// An object of these parts.
fn object(api_version: &str, kind: &str, name: &str, mut more: Value) -> Value {
    if let Some(fields) = more.as_object_mut() {
        fields.insert("apiVersion".to_owned(), api_version.into());
        fields.insert("kind".to_owned(), kind.into());
        fields.insert("metadata".to_owned(), json!({"name": name}));
    }
    more
}

async fn apply<K>(api: &Api<K>, body: &Value) -> Result<()>
where
    K: Clone + Debug + DeserializeOwned,
{
    let name = body.pointer("/metadata/name").and_then(Value::as_str).context("an object has no name")?;
    api.patch(name, &PatchParams::apply("xtask").force(), &Patch::Apply(body)).await?;
    Ok(())
}
