//! The operator's roles, made from the table of what its code uses.

use anyhow::Result;
use serde_json::{Value, json};
use thv_operator::rbac;

use super::files::Files;
use super::yaml;

const FOLDER: &str = "deploy/roles";
const MANAGER: &str = "toolhive-operator-manager-role";

/// One file for an operator that looks after the whole cluster, one for an operator that looks after some namespaces,
/// and one for the election of a leader.
pub(super) fn add(files: &mut Files) -> Result<()> {
    let everywhere = [rbac::rules(), rbac::cluster_rules()].concat();
    let roles = [
        ("cluster.yaml", vec![role("ClusterRole", MANAGER, &everywhere)]),
        (
            "namespaced.yaml",
            vec![
                role("Role", MANAGER, &rbac::rules()),
                role("ClusterRole", "toolhive-operator-crd-reader-role", &rbac::cluster_rules()),
            ],
        ),
        (
            "leader-election.yaml",
            vec![role("Role", "toolhive-operator-leader-election-role", &rbac::leader_rules())],
        ),
    ];
    for (name, documents) in roles {
        let texts: Vec<String> = documents.iter().map(yaml::write).collect::<Result<_>>()?;
        let text = format!("# Made by `cargo xtask crds`; do not edit.\n{}", texts.join("---\n"));
        files.texts.insert(format!("{FOLDER}/{name}"), text);
    }
    files.folders.push(FOLDER.to_owned());
    Ok(())
}

fn role(kind: &str, name: &str, rules: &[Value]) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
        "metadata": {"name": name}, "rules": rules,
    })
}
