//! Who owns which fields of an object, as its `managedFields` tell, and how ownership changes hands.
//!
//! A program that takes over from another has to take the other's fields over as well. If it just applied, both
//! would own them, and what the new one later stops applying would stay for ever, held by a program that no longer
//! runs. So the entries of the old one become those of the new one before it applies for the first time.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde_json::{Map, Value, json};

/// Whether an entry is about what `manager` has written by `operation`, to a subresource or, with none, the object.
pub fn is_of(entry: &ManagedFieldsEntry, manager: &str, operation: &str, subresource: &str) -> bool {
    entry.manager.as_deref() == Some(manager)
        && entry.operation.as_deref() == Some(operation)
        && entry.subresource.as_deref().unwrap_or_default() == subresource
}

/// One program takes over what another owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Succession<'a> {
    /// The manager that was there before, and its operation, `Update` or `Apply`.
    pub predecessor: (&'a str, &'a str),
    /// The manager that applies from now on.
    pub successor: &'a str,
    /// The subresource that this is about; empty for the object itself.
    pub subresource: &'a str,
    /// A field that the successor gives up: from now on nobody owns it, and it keeps its value. Without this, an
    /// apply that leaves the field out would reset it. In the form of `FieldsV1`: `["f:spec", "f:replicas"]`.
    pub given_up: Option<&'a [&'a str]>,
}

impl Succession<'_> {
    /// Whether there is anything to take over or to give up.
    pub fn is_due(&self, metadata: &ObjectMeta) -> bool {
        metadata.managed_fields.iter().flatten().any(|entry| {
            let gives_up = || self.given_up.is_some_and(|path| has(&fields(entry), path));
            self.is_predecessors(entry) || (self.is_successors(entry) && gives_up())
        })
    }

    /// The JSON patch that does it, which holds for this version of the object only; nothing if it is not due.
    pub fn patch(&self, metadata: &ObjectMeta) -> Option<Value> {
        if !self.is_due(metadata) {
            return None;
        }
        let version = metadata.resource_version.as_deref()?;
        let entries = metadata.managed_fields.as_deref().unwrap_or_default();
        Some(json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "replace", "path": "/metadata/managedFields", "value": self.carried_out(entries)},
        ]))
    }

    fn carried_out(&self, entries: &[ManagedFieldsEntry]) -> Vec<ManagedFieldsEntry> {
        let mut ours: Option<ManagedFieldsEntry> = None;
        let mut others = Vec::new();
        for entry in entries {
            if !self.is_predecessors(entry) && !self.is_successors(entry) {
                others.push(entry.clone());
                continue;
            }
            ours = Some(match ours {
                None => ManagedFieldsEntry {
                    manager: Some(self.successor.to_owned()),
                    operation: Some("Apply".to_owned()),
                    ..entry.clone()
                },
                Some(first) => {
                    let union = union(fields(&first), fields(entry));
                    ManagedFieldsEntry { fields_v1: Some(FieldsV1(union)), ..first }
                }
            });
        }
        if let (Some(entry), Some(path)) = (&mut ours, self.given_up) {
            let mut all = fields(entry);
            if let Some(all) = all.as_object_mut() {
                remove(all, path);
            }
            entry.fields_v1 = Some(FieldsV1(all));
        }
        others.extend(ours);
        others
    }

    fn is_predecessors(&self, entry: &ManagedFieldsEntry) -> bool {
        let (manager, operation) = self.predecessor;
        is_of(entry, manager, operation, self.subresource)
    }

    fn is_successors(&self, entry: &ManagedFieldsEntry) -> bool {
        is_of(entry, self.successor, "Apply", self.subresource)
    }
}

fn fields(entry: &ManagedFieldsEntry) -> Value {
    entry.fields_v1.clone().map_or(Value::Null, |FieldsV1(fields)| fields)
}

fn has(fields: &Value, path: &[&str]) -> bool {
    path.iter().try_fold(fields, |place, key| place.get(*key)).is_some()
}

/// Removes a field from a set, and whatever would be left empty above it: an empty set means the whole field.
fn remove(fields: &mut Map<String, Value>, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let is_empty = match fields.get_mut(*first) {
        Some(Value::Object(below)) if !rest.is_empty() => {
            remove(below, rest);
            below.is_empty()
        }
        _ => rest.is_empty(),
    };
    if is_empty {
        fields.remove(*first);
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

    const PLAIN: Succession<'_> =
        Succession { predecessor: ("old", "Update"), successor: "new", subresource: "", given_up: None };

    fn entry(manager: &str, operation: &str, subresource: Option<&str>, fields: Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            operation: Some(operation.to_owned()),
            subresource: subresource.map(str::to_owned),
            fields_v1: Some(FieldsV1(fields)),
            ..ManagedFieldsEntry::default()
        }
    }

    fn metadata(entries: Vec<ManagedFieldsEntry>) -> ObjectMeta {
        ObjectMeta {
            managed_fields: Some(entries),
            resource_version: Some("7".to_owned()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn the_predecessors_fields_become_the_successors_and_all_others_stay() {
        let kubectl = entry("kubectl", "Update", None, json!({"f:spec": {"f:paused": {}}}));
        let status = entry("old", "Update", Some("status"), json!({"f:status": {}}));
        let entries = [
            entry("old", "Update", None, json!({"f:spec": {"f:replicas": {}}})),
            kubectl.clone(),
            status.clone(),
            entry("new", "Apply", None, json!({"f:spec": {"f:template": {}}})),
        ];
        let ours = entry("new", "Apply", None, json!({"f:spec": {"f:replicas": {}, "f:template": {}}}));
        assert_eq!(PLAIN.carried_out(&entries), [kubectl, status, ours]);
    }

    #[test]
    fn an_object_without_a_predecessor_is_left_alone() {
        assert_eq!(PLAIN.patch(&metadata(vec![entry("kubectl", "Update", None, json!({}))])), None);
        assert_eq!(PLAIN.patch(&metadata(vec![entry("old", "Apply", None, json!({}))])), None);
        let patch =
            PLAIN.patch(&metadata(vec![entry("old", "Update", None, json!({"f:data": {}}))])).unwrap();
        assert_eq!(patch[0], json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}));
        assert_eq!(patch[1]["value"][0]["operation"], "Apply");
    }

    #[test]
    fn a_field_that_is_given_up_belongs_to_nobody() {
        let path = ["f:spec", "f:replicas"];
        let giving = Succession { predecessor: ("old", "Apply"), given_up: Some(&path), ..PLAIN };
        let both = json!({"f:spec": {"f:replicas": {}, "f:template": {}}});
        for manager in ["old", "new"] {
            let patch = giving.patch(&metadata(vec![entry(manager, "Apply", None, both.clone())])).unwrap();
            let left = entry("new", "Apply", None, json!({"f:spec": {"f:template": {}}}));
            assert_eq!(patch[1]["value"], json!([left]));
        }
        let alone =
            vec![entry("new", "Apply", None, json!({"f:metadata": {}, "f:spec": {"f:replicas": {}}}))];
        let patch = giving.patch(&metadata(alone)).unwrap();
        assert_eq!(patch[1]["value"][0]["fieldsV1"], json!({"f:metadata": {}}));
        let without = vec![entry("new", "Apply", None, json!({"f:spec": {"f:template": {}}}))];
        assert_eq!(giving.patch(&metadata(without)), None);
    }
}
