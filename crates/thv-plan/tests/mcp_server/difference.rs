//! What is different between two plans, as lines that people can read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thv_api::Kind;
use thv_plan::{Children, Plan};

use crate::places::{compare, compare_maps, fold};

/// The fields of children, and of the status, that differ. What follows from a new revision is one line.
pub(crate) fn differences<S: Kind>(before: &Plan<S>, after: &Plan<S>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    match (&before.children, &after.children) {
        (Children::Exactly(one), Children::Exactly(other)) => {
            let by_name = |children: &[thv_plan::Child]| -> BTreeMap<String, Value> {
                let name = |child: &thv_plan::Child| format!("{} {}", child.kind().kind(), child.name());
                children.iter().map(|child| (name(child), child.body().clone())).collect()
            };
            compare_maps(&by_name(one), &by_name(other), "", &mut all);
        }
        (one, other) if one == other => {}
        _ => {
            all.insert("not applied".to_owned());
        }
    }
    let status = |plan: &Plan<S>| serde_json::to_value(&plan.status).unwrap();
    compare(&status(before), &status(after), "status", &mut all);
    fold(all)
}
