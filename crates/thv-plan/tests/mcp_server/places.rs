//! Places in objects, as lines that people can read. The tests against an API server read and write them as well.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What a new revision, or a new digest of what pods run, changes by itself.
const REVISION: [&str; 7] = [
    ".metadata.annotations.toolhive.stacklok.dev/revision",
    ".metadata.annotations.toolhive.stacklok.dev/content-checksum",
    ".spec.template.metadata.annotations.toolhive.stacklok.dev/runconfig-checksum",
    ".spec.template.metadata.annotations.toolhive.stacklok.dev/config-hash",
    ".spec.template.metadata.annotations.toolhive.stacklok.dev/mcpserver-generation",
    ".env[THV_MCPSERVER_REVISION].value",
    "runconfig.json.mcpserver_generation",
];

/// Makes one line of all that follows from a new revision.
pub(crate) fn fold(mut all: BTreeSet<String>) -> BTreeSet<String> {
    all.retain(|line| !line.ends_with("observedGeneration"));
    let is_revision = |line: &String| REVISION.iter().any(|noise| line.ends_with(noise));
    if all.iter().any(is_revision) {
        all.retain(|line| !is_revision(line));
        all.insert("new revision".to_owned());
    }
    all
}

/// Adds the fields in which two values differ.
pub(crate) fn compare(one: &Value, other: &Value, path: &str, all: &mut BTreeSet<String>) {
    if one == other {
        return;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let map = |fields: &serde_json::Map<String, Value>| -> BTreeMap<String, Value> {
                fields.iter().map(|(key, value)| (format!(".{key}"), value.clone())).collect()
            };
            compare_maps(&map(one), &map(other), path, all);
        }
        (Value::Array(one), Value::Array(other)) => match (keyed(one), keyed(other)) {
            (Some(one), Some(other)) => compare_maps(&one, &other, path, all),
            _ => {
                all.insert(path.to_owned());
            }
        },
        (Value::String(one), Value::String(other)) if is_document(path) => {
            // JSON is YAML.
            let parse = |text| serde_saphyr::from_str::<Value>(text).unwrap();
            compare(&parse(one), &parse(other), path, all);
        }
        _ => {
            all.insert(path.to_owned());
        }
    }
}

/// Whether the text at a path is a document with places of its own: what a proxy runs by, or a virtual server.
fn is_document(path: &str) -> bool {
    let endings =
        ["runconfig.json", "-vmcp-config.data.config.yaml", "-vmcp-config.data.authserver-config.yaml"];
    endings.iter().any(|ending| path.ends_with(ending))
}

pub(crate) fn compare_maps(
    one: &BTreeMap<String, Value>,
    other: &BTreeMap<String, Value>,
    path: &str,
    all: &mut BTreeSet<String>,
) {
    for key in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
        let path = format!("{path}{key}");
        match (one.get(key), other.get(key)) {
            (Some(one), Some(other)) => compare(one, other, &path, all),
            _ => {
                all.insert(path);
            }
        }
    }
}

/// A list of things that have names, by those.
fn keyed(items: &[Value]) -> Option<BTreeMap<String, Value>> {
    let key = |item: &Value| {
        let keys = ["mountPath", "name", "type"];
        keys.iter().find_map(|key| item.get(key)).and_then(Value::as_str).map(|key| format!("[{key}]"))
    };
    let map: BTreeMap<String, Value> =
        items.iter().map(|item| Some((key(item)?, item.clone()))).collect::<Option<_>>()?;
    (map.len() == items.len()).then_some(map)
}
