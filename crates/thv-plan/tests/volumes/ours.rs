//! Volumes and mounts of ours.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use thv_plan::{Mount, VolumeSource, Volumes};

fn items() -> impl Strategy<Value = BTreeMap<String, String>> {
    proptest::collection::btree_map("[a-c]", "[a-c]", 0..3)
}

fn source() -> impl Strategy<Value = VolumeSource> {
    prop_oneof![
        ("[a-c]", items()).prop_map(|(name, items)| VolumeSource::ConfigMap { name, items }),
        ("[a-c]", items(), proptest::option::of(0..8_i32))
            .prop_map(|(name, items, mode)| VolumeSource::Secret { name, items, mode }),
        "/[a-c]".prop_map(VolumeSource::HostPath),
    ]
}

fn mount() -> impl Strategy<Value = Mount> {
    ("/[a-c]", proptest::option::of("[a-c]"), any::<bool>()).prop_map(|(path, sub_path, read_only)| Mount {
        path,
        sub_path,
        read_only,
    })
}

fn other(text: &str) -> String {
    format!("{text}x")
}

/// The same keys and files but for one that is more, less or different.
fn other_items(items: &BTreeMap<String, String>) -> Vec<BTreeMap<String, String>> {
    let mut more = items.clone();
    more.insert("more".to_owned(), "f".to_owned());
    let mut all = vec![more];
    for (key, path) in items {
        let (mut less, mut renamed) = (items.clone(), items.clone());
        less.remove(key);
        renamed.insert(key.clone(), other(path));
        all.extend([less, renamed]);
    }
    all
}

/// Every source that differs from this one in one detail. Every field is here, so that a new one cannot be forgotten.
fn other_sources(source: &VolumeSource) -> Vec<VolumeSource> {
    match source.clone() {
        VolumeSource::ConfigMap { name, items } => {
            let with = |items| VolumeSource::ConfigMap { name: name.clone(), items };
            let named = VolumeSource::ConfigMap { name: other(&name), items: items.clone() };
            let of_secret = VolumeSource::Secret { name: name.clone(), items: items.clone(), mode: None };
            [named, of_secret].into_iter().chain(other_items(&items).into_iter().map(with)).collect()
        }
        VolumeSource::Secret { name, items, mode } => {
            let with = |items| VolumeSource::Secret { name: name.clone(), items, mode };
            let named = VolumeSource::Secret { name: other(&name), items: items.clone(), mode };
            let mode = Some(mode.map_or(0o400, |mode| mode + 1));
            let allowed = VolumeSource::Secret { name: name.clone(), items: items.clone(), mode };
            [named, allowed].into_iter().chain(other_items(&items).into_iter().map(with)).collect()
        }
        VolumeSource::HostPath(path) => vec![VolumeSource::HostPath(other(&path))],
    }
}

/// Every mount that differs from this one in one detail.
fn other_mounts(mount: &Mount) -> [Mount; 3] {
    let Mount { path, sub_path, read_only } = mount.clone();
    let file = sub_path.as_deref().map_or_else(|| "f".to_owned(), other);
    [
        Mount { path: other(&path), sub_path: sub_path.clone(), read_only },
        Mount { path: path.clone(), sub_path: Some(file), read_only },
        Mount { path, sub_path, read_only: !read_only },
    ]
}

fn rendered(name: &str, source: &VolumeSource, mount: &Mount) -> Value {
    let mut volumes = Volumes::default();
    volumes.add("another", VolumeSource::HostPath("/z".to_owned()), Mount::read_only("/z")).unwrap();
    volumes.add(name, source.clone(), mount.clone()).unwrap();
    json!([volumes.render(), volumes.render_mounts()])
}

proptest! {
    #[test]
    fn s4_08_any_single_change_of_a_volume_of_ours_changes_what_is_rendered(
        name in "[b-d]",
        source in source(),
        mount in mount(),
    ) {
        let before = rendered(&name, &source, &mount);
        prop_assert_eq!(&before, &rendered(&name, &source.clone(), &mount.clone()));
        prop_assert_ne!(&before, &rendered(&other(&name), &source, &mount));
        for other in other_sources(&source) {
            prop_assert_ne!(&before, &rendered(&name, &other, &mount), "{:?}", other);
        }
        for other in other_mounts(&mount) {
            prop_assert_ne!(&before, &rendered(&name, &source, &other), "{:?}", other);
        }
    }
}
