//! Every leaf of a full spec, changed alone: exactly which fields follow.
//!
//! A file in `golden` says so for each; `THV_BLESS=1` writes it anew. A leaf without effect has to be on a list, with a
//! reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use thv_api::kinds::{EmbeddingServerSpec, MCPRegistrySpec};

use crate::edits::another;
use crate::on_file::{assert_on_file, folder};
use crate::support::{Scene, Subject, differences};

fn leaves(value: &Value, pointer: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            for (key, value) in sorted {
                leaves(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{pointer}/{index}"), all);
            }
        }
        Value::Null => {}
        _ => all.push(pointer.to_owned()),
    }
}

fn check<S: Subject>(file: &str, idle: &[(&str, &str)]) {
    let mut converged = Scene::<S>::full();
    let before = converged.settle();
    let mut all = Vec::new();
    leaves(&serde_json::to_value(&converged.snapshot.owner.spec).unwrap(), "", &mut all);
    let mut lines = String::new();
    for leaf in &all {
        let mut scene = converged.clone();
        scene.edit(|spec| {
            let value = spec.pointer_mut(leaf).unwrap();
            *value = another(leaf, value);
        });
        let found = differences(&before, &scene.plan());
        let reason = idle.iter().find(|(idle, _)| idle == leaf).map(|(_, reason)| *reason);
        assert_eq!(found.is_empty(), reason.is_some(), "{leaf}: {found:?}");
        writeln!(lines, "{leaf}").unwrap();
        for line in reason.map(|reason| format!("nothing: {reason}")).into_iter().chain(found) {
            writeln!(lines, "    {line}").unwrap();
        }
    }
    assert_on_file(&folder("golden").join(file), &lines);
    for (idle, _) in idle {
        assert!(all.iter().any(|leaf| leaf == idle), "{idle} is not a leaf any more");
    }
}

#[test]
fn s4_11_every_leaf_of_an_embedding_server_has_exactly_its_effects() {
    check::<EmbeddingServerSpec>("embedding-server-single-edit.txt", &[]);
}

#[test]
fn s4_11_every_leaf_of_a_registry_has_exactly_its_effects() {
    let idle = [("/displayName", "it is for people to read")];
    check::<MCPRegistrySpec>("registry-single-edit.txt", &idle);
}

#[test]
fn the_examples_have_every_field() {
    fn missing<S: Subject>() -> Vec<String> {
        let schema = serde_json::to_value(thv_api::crd::<S>()).unwrap();
        let versions = schema["spec"]["versions"].as_array().unwrap();
        let fields =
            &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
        let spec = serde_json::to_value(&Scene::<S>::full().snapshot.owner.spec).unwrap();
        fields
            .as_object()
            .unwrap()
            .keys()
            .filter(|field| spec.get(field.as_str()).is_none())
            .cloned()
            .collect()
    }
    assert_eq!(missing::<EmbeddingServerSpec>(), Vec::<String>::new());
    assert_eq!(missing::<MCPRegistrySpec>(), Vec::<String>::new());
}
