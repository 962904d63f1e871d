//! By which labels children are known when they have lost their owner.

use serde_json::Value;
use thv_api::names::labels::{self, Workload};
use thv_plan::ChildKind;

use crate::support::{Scene, children};

#[test]
fn every_child_carries_the_labels_by_which_it_is_known_and_they_name_kind_and_server() {
    let plan = Scene::example("full.yaml", "web").plan();
    assert_eq!(children(&plan).len(), 8);
    for child in children(&plan) {
        let known_by = if (child.kind(), child.name()) == (ChildKind::ConfigMap, "web-runconfig") {
            labels::configuration(Workload::McpServer, "web")
        } else {
            labels::workload(Workload::McpServer, "web")
        };
        assert_eq!(child.identity(), &known_by, "{}", child.name());
        for (key, value) in child.identity() {
            let carried = &child.body()["metadata"]["labels"][key];
            assert_eq!(carried, &Value::from(value.as_str()), "{} {key}", child.name());
        }
    }
}
