//! The operator's roles, made from the table of what its code uses.

use anyhow::Result;
use serde_json::{Value, json};
use thv_operator::rbac;

use super::files::Files;
use super::yaml;

const FOLDER: &str = "deploy/roles";
const MANAGER: &str = "toolhive-operator-manager-role";

/// One file for an operator that looks after the whole cluster, one for an operator that looks after some namespaces,
/// one for the election of a leader, and one for the storage-version migrator.
pub(super) fn add(files: &mut Files) -> Result<()> {
    let roles = [
        ("cluster.yaml", role("ClusterRole", MANAGER, &rbac::rules())),
        ("namespaced.yaml", role("Role", MANAGER, &rbac::rules())),
        (
            "leader-election.yaml",
            role("Role", "toolhive-operator-leader-election-role", &rbac::leader_rules()),
        ),
        ("storage-version-migrator.yaml", role("ClusterRole", rbac::MIGRATOR_ROLE, &rbac::migrator_rules())),
    ];
    for (name, role) in roles {
        let text = format!("# Made by `cargo xtask crds`; do not edit.\n{}", yaml::write(&role)?);
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
