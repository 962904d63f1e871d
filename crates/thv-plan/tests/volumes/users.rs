//! What users say of volumes and mounts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::sources::{Leaf, OF_DEVICES, OF_MOUNTS, OF_VOLUMES};
use crate::subjects::{SUBJECTS, Subject, registry};

/// A way to say something, what it needs besides, and what is applied for it.
type Said = (&'static str, &'static [Leaf], Value, Box<dyn Fn(&Value) -> Value>);

fn volume() -> Value {
    json!({"name": "theirs"})
}

fn mount() -> Value {
    json!({"name": "theirs", "mountPath": "/theirs"})
}

fn device() -> Value {
    json!({"name": "theirs", "devicePath": "/dev/theirs"})
}

/// Every place of a template that has volumes or mounts.
fn places(subject: &Subject) -> Vec<Said> {
    let Subject { kind: _, container, applied } = *subject;
    let template = move |spec: Value| applied(&json!({ "spec": spec }));
    let ours = move |field: &str, value: &Value| {
        template(json!({"containers": [{"name": container, field: [value]}]}))
    };
    let theirs = move |list: &str, value: &Value| {
        template(json!({list: [{"name": "side", "image": "i", "volumeMounts": [value]}]}))
    };
    vec![
        ("volume", &OF_VOLUMES, volume(), Box::new(move |value| template(json!({"volumes": [value]})))),
        ("mount", &OF_MOUNTS, mount(), Box::new(move |value| ours("volumeMounts", value))),
        ("device", &OF_DEVICES, device(), Box::new(move |value| ours("volumeDevices", value))),
        ("mount of a sidecar", &OF_MOUNTS, mount(), Box::new(move |value| theirs("containers", value))),
        (
            "mount of an init container",
            &OF_MOUNTS,
            mount(),
            Box::new(move |value| theirs("initContainers", value)),
        ),
    ]
}

/// The lists of a registry.
fn lists() -> Vec<Said> {
    vec![
        ("volume", &OF_VOLUMES, volume(), Box::new(|value| registry(json!({"volumes": [value]})))),
        ("mount", &OF_MOUNTS, mount(), Box::new(|value| registry(json!({"volumeMounts": [value]})))),
    ]
}

/// Fails the test unless everything that can be said, and everything that can be said instead, is applied differently.
fn assert_told_apart(kind: &str, (what, leaves, needed, applied): &Said) {
    let without = applied(needed);
    assert_eq!(without, applied(needed), "{kind}: equal specs are applied alike");
    for leaf in *leaves {
        let with = |value: &Value| {
            let mut said = needed.clone();
            leaf.set(&mut said, value.clone());
            applied(&said)
        };
        let [one, other] = &leaf.values;
        let (one, other) = (with(one), with(other));
        let place = leaf.place();
        assert_ne!(one, other, "{kind}: {place} of a {what} does not matter");
        assert_ne!(one, without, "{kind}: {place} of a {what} does not matter");
        assert_ne!(other, without, "{kind}: {place} of a {what} does not matter");
    }
}

#[test]
fn s4_08_every_single_field_of_every_volume_source_and_mount_is_in_what_is_applied() {
    for subject in &SUBJECTS {
        for place in places(subject) {
            assert_told_apart(subject.kind, &place);
        }
    }
    for list in lists() {
        assert_told_apart("MCPRegistry", &list);
    }
}

#[test]
fn s4_08_s4_09_a_field_that_a_user_adds_to_a_volume_of_ours_is_in_what_is_applied() {
    let subject = &SUBJECTS[0];
    let applied = |value: &Value| (subject.applied)(&json!({"spec": {"volumes": [value]}}));
    let ours = json!({"name": "vmcp-config"});
    let without = applied(&ours);
    let of_config_maps = OF_VOLUMES.iter().filter(|leaf| leaf.place().starts_with("configMap."));
    let leaves: Vec<&Leaf> = of_config_maps.collect();
    assert!(leaves.len() > 4, "{leaves:?}");
    for leaf in leaves {
        for value in &leaf.values {
            let mut said = ours.clone();
            leaf.set(&mut said, value.clone());
            assert_ne!(applied(&said), without, "{} does not matter", leaf.place());
        }
    }
}

/// What somebody says of one volume: some of what can be said, each in one of two ways.
fn some_of(all: usize) -> impl Strategy<Value = BTreeMap<usize, bool>> {
    proptest::collection::btree_map(0..all, any::<bool>(), 0..12)
}

/// A document that says this.
fn document(needed: &Value, leaves: &[Leaf], said: &BTreeMap<usize, bool>) -> Value {
    let mut document = needed.clone();
    for (leaf, which) in said {
        leaves[*leaf].set(&mut document, leaves[*leaf].values[usize::from(*which)].clone());
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn s4_08_any_single_change_of_any_volume_or_mount_changes_what_is_applied(
        chosen in any::<Index>(),
        said in some_of(200),
        changed in any::<Index>(),
        instead in proptest::option::of(any::<bool>()),
    ) {
        for subject in &SUBJECTS {
            let all = places(subject);
            let (what, leaves, needed, applied) = &all[chosen.index(all.len())];
            let said: BTreeMap<usize, bool> =
                said.iter().map(|(leaf, which)| (leaf % leaves.len(), *which)).collect();
            let changed = changed.index(leaves.len());
            let mut otherwise = said.clone();
            match instead {
                Some(which) => _ = otherwise.insert(changed, which),
                None => _ = otherwise.remove(&changed),
            }
            let (before, after) = (document(needed, leaves, &said), document(needed, leaves, &otherwise));
            let (one, other) = (applied(&before), applied(&after));
            prop_assert_eq!(
                one == other,
                before == after,
                "{}: {} of a {}\n{}\n{}", subject.kind, leaves[changed].place(), what, before, after
            );
        }
    }
}
