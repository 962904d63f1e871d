//! Every leaf of the specs of the examples, changed alone: exactly which fields follow.
//!
//! The files `golden/virtual-*.txt` say so for each; `THV_BLESS=1` writes them anew. A leaf without effect has to be on the
//! list below, with a reason.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::difference::differences;
use crate::edits::{far_another, leaves, with_twins};
use crate::scene::{assert_on_file, example, folder};
use crate::support::{World, is_server};
use crate::virtual_edits::special;

/// Leaves that change nothing, by the name of the server and how they begin, and why.
const IDLE: &[(&str, &str)] = &[
    ("hub /config/operational/logLevel", "the schema knows one value"),
    ("hub /incomingAuth/oidcConfigRef/name", "the object of the other name says the same"),
    ("hub /telemetryConfigRef/name", "the object of the other name says the same"),
    ("hub /config/aggregation/tools/1/toolConfigRef/name", "the object of the other name says the same"),
    ("rooms /incomingAuth/oidcConfigRef/name", "the object of the other name says the same"),
    ("rooms /incomingAuth/authzConfigRef/name", "the object of the other name says the same"),
    ("gate /incomingAuth/oidcConfigRef/name", "the object of the other name says the same"),
    ("gate /outgoingAuth/default/externalAuthConfigRef/name", "the object of the other name says the same"),
    ("ward /incomingAuth/authzConfig/configMap", "the document of the other name says the same"),
    ("gate /incomingAuth/authzConfig/inline/primaryUpstreamProvider", TOLD),
    ("ward /config", TOLD),
];

/// Why a leaf changes nothing that the status says to have no effect.
const TOLD: &str = "SettingsIgnored tells that it has no effect";

/// All objects of the examples, with a twin of each that is no virtual server.
pub(crate) fn objects() -> Vec<Value> {
    let all = [example("virtual.yaml"), example("more-virtual.yaml")].concat();
    let (servers, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_server);
    [servers, with_twins(others)].concat()
}

/// A virtual server of the examples.
pub(crate) fn world(name: &str) -> World {
    World::among(objects(), name)
}

fn another(leaf: &str, value: &Value) -> Value {
    special(leaf, value).unwrap_or_else(|| far_another(leaf, value))
}

/// Whether a text names a leaf of the spec, or what it is in.
fn is_named(leaf: &str, text: &str) -> bool {
    let parts: Vec<&str> = leaf.trim_start_matches('/').split('/').collect();
    (2..=parts.len()).any(|count| text.contains(&format!("spec.{} ", parts[..count].join("."))))
}

fn check(name: &str) {
    let mut converged = world(name);
    let before = converged.settle();
    let mut all = Vec::new();
    leaves(&serde_json::to_value(&converged.owner.spec).unwrap(), "", &mut all);
    let (mut lines, mut used, mut silent) = (String::new(), BTreeSet::new(), Vec::new());
    for leaf in &all {
        let mut changed = converged.clone();
        let value = changed.leaf(leaf);
        let is_known = changed.try_edit(|spec| *spec.pointer_mut(leaf).unwrap() = another(leaf, &value));
        let found = if is_known { differences(&before, &changed.plan()) } else { BTreeSet::new() };
        let title = format!("{name} {leaf}");
        let idle = IDLE.iter().find(|(idle, _)| title.starts_with(idle)).filter(|_| found.is_empty());
        used.extend(idle.map(|(idle, _)| *idle));
        if idle.is_some_and(|(_, reason)| *reason == TOLD) {
            let (_, _, told) = converged.condition("SettingsIgnored");
            assert!(is_named(leaf, &told), "nobody tells of {title}: {told}");
        }
        if found.is_empty() && idle.is_none() {
            silent.push(title.clone());
        }
        writeln!(lines, "{leaf}").unwrap();
        for line in idle.map(|(_, reason)| format!("nothing: {reason}")).into_iter().chain(found) {
            writeln!(lines, "    {line}").unwrap();
        }
    }
    assert_on_file(&folder("golden").join(format!("virtual-{name}.txt")), &lines);
    assert_eq!(silent, Vec::<String>::new(), "these change nothing, and nobody says why");
    for (idle, _) in IDLE.iter().filter(|(idle, _)| idle.starts_with(&format!("{name} "))) {
        assert!(used.contains(idle), "{idle} has an effect");
    }
}

#[test]
fn every_leaf_of_a_virtual_server_has_exactly_its_effects() {
    check("hub");
}

#[test]
fn every_leaf_of_a_virtual_server_that_discovers_its_backends_has_exactly_its_effects() {
    check("rooms");
}

#[test]
fn every_leaf_of_a_virtual_server_with_an_authorization_server_has_exactly_its_effects() {
    check("gate");
}

#[test]
fn every_leaf_that_the_operator_fills_in_from_elsewhere_is_told_to_have_no_effect() {
    check("ward");
}

/// The leaves of a schema, below a path.
fn leaves_of(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    if let Some(fields) = schema["properties"].as_object() {
        for (name, schema) in fields {
            leaves_of(schema, &format!("{path}/{name}"), all);
        }
    } else if schema["items"].is_object() {
        leaves_of(&schema["items"], &format!("{path}/*"), all);
    } else if schema["additionalProperties"].is_object() {
        leaves_of(&schema["additionalProperties"], &format!("{path}/*"), all);
    } else {
        all.insert(path.to_owned());
    }
}

/// Whether a value has something at a path, where `*` is any key.
fn has(value: &Value, path: &str) -> bool {
    let Some((first, rest)) = path
        .trim_start_matches('/')
        .split_once('/')
        .map_or_else(|| (!path.is_empty()).then_some((path.trim_start_matches('/'), "")), Some)
    else {
        return !value.is_null();
    };
    match value {
        Value::Array(items) => items.iter().any(|item| has(item, rest)),
        Value::Object(fields) if first == "*" => fields.values().any(|value| has(value, rest)),
        Value::Object(fields) => fields.get(first).is_some_and(|value| has(value, rest)),
        _ => false,
    }
}

#[test]
fn the_examples_have_every_field_of_a_virtual_server() {
    let schema = serde_json::to_value(thv_api::crd::<thv_api::kinds::VirtualMCPServerSpec>()).unwrap();
    let versions = schema["spec"]["versions"].as_array().unwrap();
    let spec = &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut all = BTreeSet::new();
    leaves_of(spec, "", &mut all);
    assert!(all.len() > 300, "{all:?}");
    let servers: Vec<_> = objects().into_iter().filter(is_server).collect();
    let is_shown = |path: &String| servers.iter().any(|server| has(&server["spec"], path));
    // Strategies by which to sign in are one type, of which the examples have two. Fields of an authorization server that
    // exclude those that are there are in the examples of MCPExternalAuthConfig, which has the same type.
    let is_elsewhere = |path: &String| {
        path.starts_with("/config/outgoingAuth/")
            || path.contains("/dcrConfig/discoveryUrl")
            || path.contains("/sentinelConfig/")
    };
    let missing: Vec<_> = all.iter().filter(|path| !is_shown(path) && !is_elsewhere(path)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}
