//! The manifests in the folders of `examples` are accepted and valid, and those of configuration are used by the server that
//! comes with each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kube::api::DynamicObject;
use serde_json::Value;
use thv_testbed::{Space, in_namespace, wait};

use super::Operator;
use super::rules::api_of;
use crate::fixture::apply;

/// All manifests of a folder, by the name of the file.
fn manifests(folder: &str) -> Result<BTreeMap<String, Vec<Value>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().context("an example has no name")?.to_string_lossy().into_owned();
        all.insert(name, serde_saphyr::from_multiple(&fs::read_to_string(&path)?)?);
    }
    Ok(all)
}

/// Kinds that say nothing of themselves.
const SILENT: [&str; 2] = ["ConfigMap", "Secret"];

/// Whether an object says of itself that all is well, as far as that can be without pods.
fn is_well(object: &DynamicObject) -> bool {
    let status = &object.data["status"];
    let is_observed = status["observedGeneration"].as_i64() == object.metadata.generation;
    let is_about_pods = |condition: &&Value| condition["type"] == "Ready";
    let mut conditions =
        status["conditions"].as_array().into_iter().flatten().filter(|one| !is_about_pods(one));
    let good = [
        "ConfigurationValid",
        "AuthConfigured",
        "FullyApplied",
        "MCPServersChecked",
        "OverridesAccepted",
        "PodTemplateValid",
        "SpecValid",
        "Valid",
    ];
    let is_fine = |condition: &Value| {
        let name = condition["type"].as_str().unwrap_or_default();
        let wants = good.contains(&name) || name.ends_with("Validated");
        !wants || condition["status"] == "True"
    };
    is_observed && conditions.all(is_fine)
}

/// Makes the objects of an example, of which one of these kinds has the name of the file.
async fn try_out(
    space: &Space,
    operator: &Operator,
    (name, objects): (&str, &[Value]),
    of: &[&str],
) -> Result<()> {
    let mut kinds = Vec::new();
    for object in objects {
        let api = api_of(space, object);
        let its_name = object["metadata"]["name"].as_str().context("an example has no name")?;
        apply(&api, its_name, "user", object).await.with_context(|| format!("{name}.yaml"))?;
        kinds.push((object["kind"].as_str().unwrap_or_default(), api, its_name));
    }
    ensure!(kinds.iter().any(|(kind, ..)| of.contains(kind)), "{name}");
    for (kind, api, its_name) in kinds.iter().filter(|(kind, ..)| !SILENT.contains(kind)) {
        let well = wait::until(api, its_name, "it says that all is well", is_well).await;
        let found =
            well.with_context(|| format!("{name}.yaml; the operator wrote:\n{}", operator.subject.output()))?;
        let ignored = wait::has_condition(&found, "SettingsIgnored", "True");
        ensure!(!ignored, "a setting of the {kind} in {name}.yaml has no effect");
    }
    Ok(())
}

#[tokio::test]
async fn every_example_of_configuration_is_valid_and_used() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let all = manifests("configuration")?;
        ensure!(all.len() >= 8, "there is an example for each kind of configuration");
        for (name, objects) in &all {
            try_out(&space, &operator, (name, objects), &["MCPServer"]).await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn every_example_of_remote_servers_is_valid() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let all = manifests("remote")?;
        ensure!(all.len() == 2, "there is an example for each kind");
        for (name, objects) in &all {
            try_out(&space, &operator, (name, objects), &["MCPRemoteProxy", "MCPServerEntry"]).await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn every_example_of_a_workload_is_valid_and_applied() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let all = manifests("workloads")?;
        ensure!(all.len() == 2, "there is an example for each kind");
        for (name, objects) in &all {
            try_out(&space, &operator, (name, objects), &["EmbeddingServer", "MCPRegistry"]).await?;
            let owner = objects.last().context("an example is empty")?;
            let phase = api_of(&space, owner).get(name).await?.data["status"]["phase"].clone();
            ensure!(phase != "Failed", "{name}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn every_example_of_a_virtual_server_is_valid_and_applied() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let all = manifests("virtual")?;
        ensure!(all.keys().eq(["desk", "front-door"]), "{:?}", all.keys());
        for (name, objects) in &all {
            try_out(&space, &operator, (name, objects), &["VirtualMCPServer"]).await?;
            let server = objects.last().context("an example is empty")?;
            let found = api_of(&space, server).get(name).await?;
            ensure!(found.data["status"]["phase"] == "Pending", "{name}: {}", found.data["status"]);
            ensure!(wait::has_condition(&found, "MembersAccepted", "True"), "{}", found.data["status"]);
        }
        Ok(())
    })
    .await;
}
