//! Every leaf of a full spec, changed alone: exactly which fields follow.
//!
//! The file `golden/single-edit.txt` says so for each; `THV_BLESS=1` writes it anew. A leaf without effect has to be
//! on the list below, with a reason.

use std::fmt::Write as _;

use serde_json::Value;

use crate::difference::differences;
use crate::edits::{another, leaves, with_twins};
use crate::support::{Scene, assert_on_file, example, folder, is_server};

/// Leaves that change nothing, and why.
const IDLE: &[(&str, &str)] = &[
    ("/proxyMode", "only a stdio server has a mode of its own; others offer the transport that they speak"),
    ("/oidcConfigRef/name", "the object of the other name says the same"),
    ("/toolConfigRef/name", "the object of the other name says the same"),
    ("/telemetryConfigRef/name", "the object of the other name says the same"),
    ("/externalAuthConfigRef/name", "the object of the other name says the same"),
    ("/webhookConfigRef/name", "the object of the other name says the same"),
    ("/groupRef/name", "nothing that runs depends on the group, and the other one is fine as well"),
];

/// All servers of the examples, and what they refer to, with a twin of each.
pub(crate) fn objects() -> Vec<Value> {
    let all = [example("full.yaml"), example("more.yaml")].concat();
    let (servers, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_server);
    [servers, with_twins(others)].concat()
}

/// The full example.
fn scene() -> Scene {
    Scene::from_objects(objects(), "web")
}

#[test]
fn every_leaf_has_exactly_its_effects() {
    let mut converged = scene();
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
        let reason = IDLE.iter().find(|(idle, _)| idle == leaf).map(|(_, reason)| *reason);
        assert_eq!(found.is_empty(), reason.is_some(), "{leaf}: {found:?}");
        writeln!(lines, "{leaf}").unwrap();
        for line in reason.map(|reason| format!("nothing: {reason}")).into_iter().chain(found) {
            writeln!(lines, "    {line}").unwrap();
        }
    }
    assert_on_file(&folder("golden").join("single-edit.txt"), &lines);
    for (idle, _) in IDLE {
        assert!(all.iter().any(|leaf| leaf == idle), "{idle} is not a leaf any more");
    }
}

#[test]
fn the_example_has_every_field() {
    let schema = serde_json::to_value(thv_api::crd::<thv_api::kinds::MCPServerSpec>()).unwrap();
    let versions = schema["spec"]["versions"].as_array().unwrap();
    let fields = &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let spec = serde_json::to_value(&scene().snapshot.owner.spec).unwrap();
    let missing: Vec<_> =
        fields.as_object().unwrap().keys().filter(|field| spec.get(field).is_none()).collect();
    // These exclude others that the example has. Further examples have the first two.
    assert_eq!(missing, ["authServerRef", "authzConfigRef", "serviceAccount"]);
}
