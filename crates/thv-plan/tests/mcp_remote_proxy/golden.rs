//! All children of two examples, as they are applied. `THV_BLESS=1` writes the files anew.

use std::collections::BTreeSet;

use serde_json::json;
use thv_api::names::labels::{self, Workload};
use thv_plan::ChildKind;

use crate::scene::assert_children_on_file;
use crate::support::{Scene, children, folder};

#[test]
fn a_minimal_proxy_becomes_this() {
    assert_children_on_file(&folder("golden/remote-minimal"), children(&Scene::of(json!({})).plan()));
}

#[test]
fn a_full_proxy_becomes_this() {
    let plan = Scene::example("remote.yaml", "saas").plan();
    assert_children_on_file(&folder("golden/remote-full"), children(&plan));
}

#[test]
fn every_child_carries_the_labels_by_which_it_is_known() {
    let plan = Scene::example("remote.yaml", "saas").plan();
    let kinds: BTreeSet<&str> = children(&plan).iter().map(|child| child.kind().kind()).collect();
    assert_eq!(kinds, BTreeSet::from(["ConfigMap", "Deployment", "Service", "ServiceAccount"]));
    for child in children(&plan) {
        let known_by = if (child.kind(), child.name()) == (ChildKind::ConfigMap, "saas-runconfig") {
            labels::configuration(Workload::McpRemoteProxy, "saas")
        } else {
            labels::workload(Workload::McpRemoteProxy, "saas")
        };
        assert_eq!(child.identity(), &known_by, "{}", child.name());
        for (key, value) in child.identity() {
            assert_eq!(child.body()["metadata"]["labels"][key], value.as_str(), "{} {key}", child.name());
        }
    }
}

#[test]
fn an_account_of_the_users_is_used_and_none_is_made() {
    let plan = Scene::of(json!({"serviceAccount": "theirs"})).plan();
    let accounts = children(&plan).iter().filter(|child| child.kind() == ChildKind::ServiceAccount);
    assert_eq!(accounts.count(), 0);
    assert_eq!(crate::support::template(&plan)["spec"]["serviceAccountName"], "theirs");
}
