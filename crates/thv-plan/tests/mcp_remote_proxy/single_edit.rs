//! Every leaf of a full spec and of what it refers to, changed alone: exactly which fields follow.
//!
//! The files `golden/remote-single-edit.txt` and `golden/remote-far-edit.txt` say so for each; `THV_BLESS=1` writes them
//! anew. A leaf without effect has to be on the list below, with a reason.

use std::fmt::Write as _;

use serde_json::Value;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec,
};
use thv_api::{Kind, Object};

use crate::difference::differences;
use crate::edits::{leaves, with_twins};
use crate::reference::Reference;
use crate::remote_edits::{remote_another, remote_far_another};
use crate::remote_references::REMOTE_REFERENCES;
use crate::support::{Scene, assert_on_file, example, folder};

/// Leaves that change nothing, and why.
const IDLE: &[(&str, &str)] = &[
    ("/oidcConfigRef/name", "the object of the other name says the same"),
    ("/toolConfigRef/name", "the object of the other name says the same"),
    ("/telemetryConfigRef/name", "the object of the other name says the same"),
    ("/externalAuthConfigRef/name", "the object of the other name says the same"),
    ("/groupRef/name", "nothing that runs depends on the group, and the other one is fine as well"),
];

/// All proxies of the examples, and what they refer to, with a twin of each.
fn objects() -> Vec<Value> {
    let all = [example("remote.yaml"), example("more-remote.yaml")].concat();
    let (proxies, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|object| object["kind"] == "MCPRemoteProxy");
    [proxies, with_twins(others)].concat()
}

#[test]
fn every_leaf_has_exactly_its_effects() {
    let mut converged = Scene::from_objects(objects(), "saas");
    let before = converged.settle();
    let mut all = Vec::new();
    leaves(&serde_json::to_value(&converged.snapshot.owner.spec).unwrap(), "", &mut all);
    let mut lines = String::new();
    for leaf in &all {
        let mut scene = converged.clone();
        scene.edit(|spec| {
            let value = spec.pointer_mut(leaf).unwrap();
            *value = remote_another(leaf, value);
        });
        let found = differences(&before, &scene.plan());
        let reason = IDLE.iter().find(|(idle, _)| idle == leaf).map(|(_, reason)| *reason);
        assert_eq!(found.is_empty(), reason.is_some(), "{leaf}: {found:?}");
        writeln!(lines, "{leaf}").unwrap();
        for line in reason.map(|reason| format!("nothing: {reason}")).into_iter().chain(found) {
            writeln!(lines, "    {line}").unwrap();
        }
    }
    assert_on_file(&folder("golden").join("remote-single-edit.txt"), &lines);
    for (idle, _) in IDLE {
        assert!(all.iter().any(|leaf| leaf == idle), "{idle} is not a leaf any more");
    }
}

#[test]
fn the_example_has_every_field() {
    let schema = serde_json::to_value(thv_api::crd::<thv_api::kinds::MCPRemoteProxySpec>()).unwrap();
    let versions = schema["spec"]["versions"].as_array().unwrap();
    let fields = &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let spec = serde_json::to_value(&Scene::from_objects(objects(), "saas").snapshot.owner.spec).unwrap();
    let missing: Vec<_> =
        fields.as_object().unwrap().keys().filter(|field| spec.get(field).is_none()).collect();
    // These exclude others that the example has. The other example has them.
    assert_eq!(missing, ["authServerRef", "authzConfigRef", "serviceAccount"]);
}

/// The object of a reference, with the defaults that the API server gives it.
fn far(objects: &[Value], reference: &Reference) -> Value {
    fn defaulted<S: Kind>(object: &Value) -> Value {
        serde_json::to_value(serde_json::from_value::<Object<S>>(object.clone()).unwrap()).unwrap()
    }
    let Reference { owner: _, place: _, kind, name } = reference;
    let mut all = objects.iter();
    let object = all.find(|object| object["kind"] == *kind && object["metadata"]["name"] == *name).unwrap();
    let mut object = match *kind {
        MCPAuthzConfigSpec::KIND => defaulted::<MCPAuthzConfigSpec>(object),
        MCPExternalAuthConfigSpec::KIND => defaulted::<MCPExternalAuthConfigSpec>(object),
        MCPOIDCConfigSpec::KIND => defaulted::<MCPOIDCConfigSpec>(object),
        MCPTelemetryConfigSpec::KIND => defaulted::<MCPTelemetryConfigSpec>(object),
        MCPToolConfigSpec::KIND => defaulted::<MCPToolConfigSpec>(object),
        other => panic!("nobody refers to a {other}"),
    };
    object["kind"] = (*kind).into();
    object
}

#[test]
fn every_leaf_of_what_is_referred_to_has_exactly_its_effects() {
    let objects = objects();
    let mut lines = String::new();
    for reference in REMOTE_REFERENCES {
        let mut converged = Scene::from_objects(objects.clone(), reference.owner);
        let owner = serde_json::to_value(&*converged.snapshot.owner).unwrap();
        assert_eq!(owner.pointer(reference.place), Some(&reference.name.into()), "{reference:?}");
        let before = converged.settle();
        let original = far(&objects, reference);
        let mut all = Vec::new();
        leaves(&original["spec"], "/spec", &mut all);
        for leaf in all {
            let mut changed = original.clone();
            let value = changed.pointer_mut(&leaf).unwrap();
            *value = remote_far_another(&leaf, value);
            let mut scene = converged.clone();
            scene.refer(changed);
            let found = differences(&before, &scene.plan());
            let title = reference.title(&leaf);
            assert!(!found.is_empty(), "{title}");
            writeln!(lines, "{title}").unwrap();
            for line in found {
                writeln!(lines, "    {line}").unwrap();
            }
        }
    }
    assert_on_file(&folder("golden").join("remote-far-edit.txt"), &lines);
}
