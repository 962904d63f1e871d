//! What is different between two plans, as lines that people can read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thv_api::kinds::MCPServerSpec;
use thv_plan::{Children, Plan};

/// What a new revision changes by itself.
const REVISION: [&str; 6] = [
    ".metadata.annotations.toolhive.stacklok.dev/revision",
    ".metadata.annotations.toolhive.stacklok.dev/content-checksum",
    ".spec.template.metadata.annotations.toolhive.stacklok.dev/runconfig-checksum",
    ".spec.template.metadata.annotations.toolhive.stacklok.dev/mcpserver-generation",
    ".env[THV_MCPSERVER_REVISION].value",
    "runconfig.json.mcpserver_generation",
];

/// The fields of children, and of the status, that differ. What follows from a new revision is one line.
pub(crate) fn differences(before: &Plan<MCPServerSpec>, after: &Plan<MCPServerSpec>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    match (&before.children, &after.children) {
        (Children::Exactly(one), Children::Exactly(other)) => {
            let by_name = |children: &[thv_plan::Child]| -> BTreeMap<String, Value> {
                let name = |child: &thv_plan::Child| format!("{} {}", child.kind().kind(), child.name());
                children.iter().map(|child| (name(child), child.body().clone())).collect()
            };
            compare_maps(&by_name(one), &by_name(other), "", &mut all);
        }
        (one, other) if one == other => {}
        _ => {
            all.insert("not applied".to_owned());
        }
    }
    let status = |plan: &Plan<MCPServerSpec>| serde_json::to_value(&plan.status).unwrap();
    compare(&status(before), &status(after), "status", &mut all);
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
        (Value::String(one), Value::String(other)) if path.ends_with("runconfig.json") => {
            let parse = |text| serde_json::from_str::<Value>(text).unwrap();
            compare(&parse(one), &parse(other), path, all);
        }
        _ => {
            all.insert(path.to_owned());
        }
    }
}

fn compare_maps(
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
