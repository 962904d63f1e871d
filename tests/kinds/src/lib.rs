//! Two kinds that exist for tests only. They show what a kind takes: its types, its plan, its rights, and a line in
//! the program that registers it. Nothing in the operator knows them.
//!
//! A [`Memo`] is small: one ConfigMap, made from a text and from the `MCPServer` that it refers to. A [`Depot`] has what
//! a Memo has not: a workload with volumes, a Secret that is made once, and Memos that keep it from being deleted.

mod condition;
mod depot;
mod memo;

pub use depot::{Depot, DepotSpec, DepotStatus, FINALIZER};
pub use memo::{Memo, MemoSpec, MemoStatus};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use thv_api::names::GROUP;
use thv_api::{Kind, crd};

/// The definitions of both kinds.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![crd::<DepotSpec>(), crd::<MemoSpec>()]
}

/// What an operator of these kinds may do beyond what every operator may.
pub fn rules() -> Vec<Value> {
    let rule = |group: &str, resource: &str, verbs: &[&str]| json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
    let kind = |plural: &str| {
        vec![
            rule(GROUP, plural, &["get", "list", "patch", "watch"]),
            rule(GROUP, &format!("{plural}/status"), &["patch"]),
            rule(GROUP, &format!("{plural}/finalizers"), &["update"]),
        ]
    };
    // A Secret is created and pruned, and never changed, but for its owner should it have lost that.
    let secrets = rule("", "secrets", &["create", "delete", "patch"]);
    [kind(DepotSpec::PLURAL), kind(MemoSpec::PLURAL), vec![secrets]].concat()
}
