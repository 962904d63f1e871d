//! The manifests in `examples/virtual`, which users start from.

use std::path::Path;

use serde_json::Value;
use thv_plan::Children;

use crate::support::{World, is_server};

#[test]
fn the_examples_for_users_become_children_and_have_no_setting_without_effect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/virtual");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for server in objects.iter().filter(|object| is_server(object)) {
            let world = World::among(objects.clone(), server["metadata"]["name"].as_str().unwrap());
            let plan = world.plan();
            assert!(matches!(plan.children, Children::Exactly(_)), "{:#?}", plan.status);
            assert!(!world.has_condition("SettingsIgnored"), "{:?}", world.condition("SettingsIgnored"));
            assert_eq!(world.condition("MembersAccepted").0, "True");
            tried += 1;
        }
    }
    assert_eq!(tried, 2);
}
