//! Taking objects over that the Go operator made.
//!
//! It wrote them with PUT, so their fields belong to its `Update` entries in `managedFields`. If we just applied, we
//! would own them too, and what we later stop applying would stay for ever, held by a program that no longer runs.
//! So its entries become ours before the first apply.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde_json::{Value, json};
use thv_api::names::field_managers;

use crate::fields::is_of;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object.
    Main,
    /// Its status.
    Status,
}

/// The JSON patch that takes the predecessor's fields over, which holds for this version of the object only;
/// nothing if there are none.
pub(crate) fn patch(metadata: &ObjectMeta, part: Part) -> Option<Value> {
    let entries = metadata.managed_fields.as_deref().unwrap_or_default();
    if !entries.iter().any(|entry| is_predecessors(entry, part)) {
        return None;
    }
    let version = metadata.resource_version.as_deref()?;
    Some(json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/metadata/managedFields", "value": taken_over(entries, part)},
    ]))
}

/// Whether the predecessor still holds fields of this part.
pub(crate) fn is_due(metadata: &ObjectMeta, part: Part) -> bool {
    metadata.managed_fields.iter().flatten().any(|entry| is_predecessors(entry, part))
}

fn taken_over(entries: &[ManagedFieldsEntry], part: Part) -> Vec<ManagedFieldsEntry> {
    let mut ours: Option<ManagedFieldsEntry> = None;
    let mut others = Vec::new();
    for entry in entries {
        if !is_predecessors(entry, part) && !is_ours(entry, part) {
            others.push(entry.clone());
            continue;
        }
        let fields = |entry: &ManagedFieldsEntry| {
            entry.fields_v1.clone().map_or(Value::Null, |FieldsV1(fields)| fields)
        };
        ours = Some(match ours {
            None => ManagedFieldsEntry {
                manager: Some(field_managers::OPERATOR.to_owned()),
                operation: Some("Apply".to_owned()),
                ..entry.clone()
            },
            Some(first) => {
                let union = union(fields(&first), fields(entry));
                ManagedFieldsEntry { fields_v1: Some(FieldsV1(union)), ..first }
            }
        });
    }
    others.extend(ours);
    others
}

fn is_predecessors(entry: &ManagedFieldsEntry, part: Part) -> bool {
    is_of(entry, field_managers::GO_OPERATOR, "Update", part.subresource())
}

fn is_ours(entry: &ManagedFieldsEntry, part: Part) -> bool {
    is_of(entry, field_managers::OPERATOR, "Apply", part.subresource())
}

impl Part {
    const fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
        }
    }
}

/// All fields of both sets.
fn union(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, below) in other {
                let merged = match one.remove(&key) {
                    Some(present) => union(present, below),
                    None => below,
                };
                one.insert(key, merged);
            }
            Value::Object(one)
        }
        (Value::Null, other) => other,
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, subresource: Option<&str>, fields: Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            operation: Some(operation.to_owned()),
            subresource: subresource.map(str::to_owned),
            fields_v1: Some(FieldsV1(fields)),
            ..ManagedFieldsEntry::default()
        }
    }

    #[test]
    fn the_predecessors_fields_become_ours_and_all_others_stay() {
        let kubectl = entry("kubectl", "Update", None, json!({"f:spec": {"f:paused": {}}}));
        let status = entry(field_managers::GO_OPERATOR, "Update", Some("status"), json!({"f:status": {}}));
        let entries = [
            entry(field_managers::GO_OPERATOR, "Update", None, json!({"f:spec": {"f:replicas": {}}})),
            kubectl.clone(),
            status.clone(),
            entry(field_managers::OPERATOR, "Apply", None, json!({"f:spec": {"f:template": {}}})),
        ];
        let ours = entry(
            field_managers::OPERATOR,
            "Apply",
            None,
            json!({"f:spec": {"f:replicas": {}, "f:template": {}}}),
        );
        assert_eq!(taken_over(&entries, Part::Main), [kubectl, status, ours]);
    }

    #[test]
    fn an_object_without_a_predecessor_is_left_alone() {
        let managed_fields = Some(vec![entry("kubectl", "Update", None, json!({}))]);
        let resource_version = Some("7".to_owned());
        let mut metadata = ObjectMeta { managed_fields, resource_version, ..ObjectMeta::default() };
        assert_eq!(patch(&metadata, Part::Main), None);
        metadata.managed_fields =
            Some(vec![entry(field_managers::GO_OPERATOR, "Update", None, json!({"f:data": {}}))]);
        let patch = patch(&metadata, Part::Main).unwrap();
        assert_eq!(patch[0], json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}));
        assert_eq!(patch[1]["value"][0]["operation"], "Apply");
    }
}
