//! Everything that can be said of a volume or a mount, by the table of Kubernetes that we merge by.

use std::sync::LazyLock;

use k8s_openapi::api::core::v1::{Volume, VolumeDevice, VolumeMount};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const TABLE: &str = include_str!("../../src/strategic_merge/table.txt");

/// What a leaf may be, and what else: the first that the type takes is what it is.
fn candidates() -> [[Value; 2]; 5] {
    [
        [json!("a"), json!("b")],
        [json!(1), json!(2)],
        [json!(true), json!(false)],
        [json!({"k": "a"}), json!({"k": "b"})],
        [json!("2026-11-16T08:00:00Z"), json!("2026-11-16T09:00:00Z")],
    ]
}

/// A step on the way to a leaf: a field, and whether it is a list, of which there is one item then.
#[derive(Clone, Copy, Debug)]
struct Step {
    field: &'static str,
    is_list: bool,
}

/// Something that can be said, and two ways to say it.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    way: Vec<Step>,
    pub(crate) values: [Value; 2],
}

impl Leaf {
    /// Its place, such as `projected.sources[].secret.name`.
    pub(crate) fn place(&self) -> String {
        let steps = self.way.iter().map(
            |Step { field, is_list }| {
                if *is_list { format!("{field}[]") } else { (*field).to_owned() }
            },
        );
        steps.collect::<Vec<_>>().join(".")
    }

    /// Says it in a document.
    pub(crate) fn set(&self, document: &mut Value, value: Value) {
        *place_in(document, &self.way) = value;
    }

    /// What a document says there.
    pub(crate) fn get<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.way.iter().try_fold(document, |place, Step { field, is_list }| {
            let place = place.get(field)?;
            if *is_list { place.get(0) } else { Some(place) }
        })
    }
}

fn place_in<'a>(document: &'a mut Value, way: &[Step]) -> &'a mut Value {
    way.iter().fold(document, |place, Step { field, is_list }| {
        let place = &mut place[*field];
        if !is_list {
            return place;
        }
        if place.is_null() {
            *place = json!([null]);
        }
        &mut place[0]
    })
}

/// Everything that can be said of a volume.
pub(crate) static OF_VOLUMES: LazyLock<Vec<Leaf>> = LazyLock::new(|| leaves::<Volume>("Volume"));

/// Everything that can be said of a mount.
pub(crate) static OF_MOUNTS: LazyLock<Vec<Leaf>> = LazyLock::new(|| leaves::<VolumeMount>("VolumeMount"));

/// Everything that can be said of a volume that is no file system.
pub(crate) static OF_DEVICES: LazyLock<Vec<Leaf>> = LazyLock::new(|| leaves::<VolumeDevice>("VolumeDevice"));

fn leaves<K: DeserializeOwned + Serialize>(type_: &str) -> Vec<Leaf> {
    let mut ways = Vec::new();
    find::<K>(type_, &mut Vec::new(), &mut ways);
    ways.into_iter().map(|way| Leaf { values: values::<K>(&way), way }).collect()
}

fn find<K: DeserializeOwned>(type_: &str, way: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    assert!(way.len() < 20, "the table has a loop: {way:?}");
    for (step, holds) in fields(type_) {
        way.push(step);
        if holds.is_empty() || !has_fields::<K>(way) {
            found.push(way.clone());
        } else {
            find::<K>(holds, way, found);
        }
        way.pop();
    }
}

/// Whether what is there has fields in JSON, too. A quantity has in Go, and is a text.
fn has_fields<K: DeserializeOwned>(way: &[Step]) -> bool {
    let mut document = json!({});
    *place_in(&mut document, way) = json!({});
    serde_json::from_value::<K>(document).is_ok()
}

/// The fields of a type, each with the type of what it holds if that has fields.
fn fields(type_: &str) -> Vec<(Step, &'static str)> {
    let line = TABLE.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| *name == type_);
    let (_, fields) = line.unwrap_or_else(|| panic!("the table has no {type_}"));
    fields
        .split_whitespace()
        .map(|word| {
            let (field, rest) = word.split_at(word.find(['=', '*', '[']).unwrap());
            match rest.split_once(']') {
                Some((_, holds)) => (Step { field, is_list: true }, holds),
                None => (Step { field, is_list: false }, &rest[1..]),
            }
        })
        .collect()
}

/// Two values that fit there: what comes back from the type is what went in.
fn values<K: DeserializeOwned + Serialize>(way: &[Step]) -> [Value; 2] {
    let leaf = |values| Leaf { way: way.to_vec(), values };
    let fits = |value: &Value| {
        let (leaf, mut document) = (leaf([json!(0), json!(0)]), json!({}));
        leaf.set(&mut document, value.clone());
        let read: Result<K, _> = serde_json::from_value(document);
        read.is_ok_and(|read| leaf.get(&serde_json::to_value(read).unwrap()) == Some(value))
    };
    let found = candidates().into_iter().find(|[one, _]| fits(one));
    found.unwrap_or_else(|| panic!("nothing fits at {}", leaf([json!(0), json!(0)]).place()))
}

#[test]
fn every_source_of_a_volume_is_known_with_its_details() {
    let places: Vec<String> = OF_VOLUMES.iter().map(Leaf::place).collect();
    let sources: Vec<&str> = fields("Volume").iter().map(|(step, _)| step.field).collect();
    assert!(sources.len() > 30, "{sources:?}");
    for source in sources {
        assert!(places.iter().any(|place| place.split(['.', '[']).next() == Some(source)), "{source}");
    }
    for place in [
        "name",
        "configMap.items[].mode",
        "csi.volumeAttributes",
        "emptyDir.medium",
        "emptyDir.sizeLimit",
        "ephemeral.volumeClaimTemplate.spec.resources.requests",
        "projected.sources[].serviceAccountToken.expirationSeconds",
        "secret.defaultMode",
    ] {
        assert!(places.contains(&place.to_owned()), "{place} is not among {places:#?}");
    }
    assert!(OF_MOUNTS.iter().any(|leaf| leaf.place() == "recursiveReadOnly"));
}
