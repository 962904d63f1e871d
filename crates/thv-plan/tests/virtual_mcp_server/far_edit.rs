//! Every leaf of what virtual servers refer to, and of the members of their groups, changed alone: exactly which fields
//! follow.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::difference::differences;
use crate::edits::{far_another, leaves};
use crate::reference::Reference;
use crate::scene::{assert_on_file, folder};
use crate::single_edit::{objects, world};
use crate::support::{object, typed};
use crate::virtual_edits::special;
use crate::virtual_references::REFERENCES;

/// A group with one member.
const ALONE: &str = "alone";

/// Leaves of what is referred to that change nothing, by how their titles begin, and why.
const IDLE: &[(&str, &str)] = &[
    (
        "MCPExternalAuthConfig crew-exchange /spec/tokenExchange/externalTokenHeaderName",
        "SettingsIgnored tells that it has no effect",
    ),
    (
        "MCPServer crew-web /spec/image",
        "a virtual server calls the proxy, and does not care what is behind it",
    ),
    ("MCPServer crew-web /spec/trustProxyHeaders", "it is an affair of the proxy"),
    ("MCPServer crew-web /spec/sessionAffinity", "it is an affair of the proxy"),
    ("MCPServer crew-web /spec/proxyMode", "only a stdio server has a mode of its own"),
    (
        "MCPRemoteProxy crew-far /spec/externalAuthConfigRef/name",
        "the object of the other name says the same",
    ),
    ("MCPRemoteProxy crew-far /spec/allowPrivateEndpoint", "it is an affair of the proxy"),
    ("MCPRemoteProxy crew-far /spec/trustProxyHeaders", "it is an affair of the proxy"),
    ("MCPRemoteProxy crew-far /spec/sessionAffinity", "it is an affair of the proxy"),
    ("MCPServerEntry crew-ctx /spec/allowPrivateEndpoint", "the address is a public one"),
];

/// The object of a reference, with the defaults that the API server gives it.
fn far(objects: &[Value], Reference { owner: _, place: _, kind, name }: &Reference) -> Value {
    let mut all = objects.iter();
    let object = all.find(|object| object["kind"] == *kind && object["metadata"]["name"] == *name).unwrap();
    let mut defaulted = typed(object).1;
    defaulted["kind"] = (*kind).into();
    defaulted["status"] = object["status"].clone();
    defaulted
}

#[test]
fn every_leaf_of_what_a_virtual_server_refers_to_has_exactly_its_effects() {
    let objects = objects();
    let (mut lines, mut silent) = (String::new(), Vec::new());
    for reference in REFERENCES {
        let (mut converged, mut original) = (world(reference.owner), far(&objects, reference));
        // A member is alone in its group.
        if let Some(group) = original.pointer_mut(reference.place) {
            *group = ALONE.into();
            converged.put(object("MCPGroup", ALONE, json!({})));
            converged.put(original.clone());
            converged.edit(|spec| spec["groupRef"]["name"] = ALONE.into());
        } else {
            let owner = serde_json::to_value(&converged.owner).unwrap();
            assert_eq!(owner.pointer(reference.place), Some(&reference.name.into()), "{reference:?}");
        }
        let before = converged.settle();
        let mut all = Vec::new();
        leaves(&original["spec"], "/spec", &mut all);
        for leaf in all {
            let mut changed = original.clone();
            let value = changed.pointer_mut(&leaf).unwrap();
            *value = special(&leaf, value).unwrap_or_else(|| far_another(&leaf, value));
            let mut world = converged.clone();
            world.put(changed);
            let found = differences(&before, &world.plan());
            let title = reference.title(&leaf);
            let idle = IDLE.iter().find(|(idle, _)| title.starts_with(idle)).filter(|_| found.is_empty());
            if found.is_empty() && idle.is_none() {
                silent.push(title.clone());
            }
            writeln!(lines, "{title}").unwrap();
            for line in idle.map(|(_, reason)| format!("nothing: {reason}")).into_iter().chain(found) {
                writeln!(lines, "    {line}").unwrap();
            }
        }
    }
    assert_on_file(&folder("golden").join("virtual-far.txt"), &lines);
    assert_eq!(silent, Vec::<String>::new(), "these change nothing, and nobody says why");
}
