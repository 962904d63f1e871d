//! Every leaf of what servers refer to, changed alone: exactly which fields follow.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::{Kind, Object, crd};
use thv_config::authz::{CedarConfig, PdpConfig, PdpContext, PdpHttp};

use crate::difference::differences;
use crate::edits::{far_another, leaves};
use crate::reference::Reference;
use crate::references::REFERENCES;
use crate::single_edit::objects;
use crate::support::{Scene, assert_on_file, folder};

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
        MCPWebhookConfigSpec::KIND => defaulted::<MCPWebhookConfigSpec>(object),
        other => panic!("nobody refers to a {other}"),
    };
    object["kind"] = (*kind).into();
    object
}

#[test]
fn every_leaf_of_what_is_referred_to_has_exactly_its_effects() {
    let objects = objects();
    let mut lines = String::new();
    for reference in REFERENCES {
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
            *value = far_another(&leaf, value);
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
    assert_on_file(&folder("golden").join("far-edit.txt"), &lines);
}

/// The fields of a schema, below a path.
fn fields_of(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    if let Some(items) = schema.get("items") {
        return fields_of(items, path, all);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        fields_of(schema, &path, all);
        all.insert(path);
    }
}

/// The fields of a value, below a path, as a schema has them.
fn fields_in(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    for item in value.as_array().into_iter().flatten() {
        fields_in(item, path, all);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        fields_in(value, &path, all);
        all.insert(path);
    }
}

#[test]
fn the_examples_have_every_field_of_an_authorization_server() {
    let schema = serde_json::to_value(crd::<MCPExternalAuthConfigSpec>()).unwrap();
    let versions = schema["spec"]["versions"].as_array().unwrap();
    let spec = &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let (mut known, mut written) = (BTreeSet::new(), BTreeSet::new());
    fields_of(&spec["embeddedAuthServer"], "", &mut known);
    let objects = objects();
    for reference in REFERENCES.iter().filter(|it| it.kind == MCPExternalAuthConfigSpec::KIND) {
        fields_in(&far(&objects, reference)["spec"]["embeddedAuthServer"], "", &mut written);
    }
    assert!(known.len() > 80, "{known:?}");
    assert_eq!(known.difference(&written).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_examples_have_every_field_of_shared_rules() {
    let objects = objects();
    let config = |name: &str| {
        let mut references = REFERENCES.iter();
        far(&objects, references.find(|reference| reference.name == name).unwrap())["spec"]["config"].clone()
    };
    let CedarConfig {
        policies,
        entities_json,
        primary_upstream_provider,
        group_claim_name,
        role_claim_name,
        group_entity_type,
        multi_valued_claims,
    } = serde_json::from_value(config("rules")).unwrap();
    let texts =
        [entities_json, primary_upstream_provider, group_claim_name, role_claim_name, group_entity_type];
    let lists = [policies, multi_valued_claims];
    assert!(texts.iter().all(|text| !text.is_empty()) && lists.iter().all(|list| !list.is_empty()));

    let PdpConfig { http, context, claim_mapping } = serde_json::from_value(config("referee")).unwrap();
    let PdpHttp { url, timeout, insecure_skip_verify } = http.unwrap();
    let PdpContext { include_args, include_operation } = context.unwrap();
    assert!(!url.is_empty() && timeout > 0 && !claim_mapping.is_empty());
    assert!(insecure_skip_verify && include_args && include_operation);
}
