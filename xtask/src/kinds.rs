//! The kinds of the API, installed in a cluster.

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use thv_testbed::wait;

/// Installs all kinds, and waits until they are served.
pub(crate) async fn install(client: &Client) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut names = Vec::new();
    for definition in thv_api::crds() {
        let name = definition.metadata.name.clone().context("a CRD has no name")?;
        api.patch(&name, &PatchParams::apply("xtask").force(), &Patch::Apply(&definition)).await?;
        names.push(name);
    }
    for name in names {
        let served =
            |definition: &CustomResourceDefinition| wait::has_condition(definition, "Established", "True");
        wait::until(&api, &name, "it is served", served).await?;
    }
    Ok(())
}
