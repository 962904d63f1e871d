//! Pod templates that users write: `spec.podTemplateSpec`.
//!
//! What the user wrote stays JSON. Reading it into a type and writing it again would lose the fields that the type
//! does not know and the directives of a merge patch.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde_json::{Map, Value, json};
use thv_api::names::annotations;
use thv_api::value::RawObject;

use crate::env::Env;
use crate::invalid::Invalid;
use crate::json::{list, object};
use crate::metadata::Pairs;
use crate::overrides::{IgnoredOverrides, RESERVED};
use crate::strategic_merge::{MergeError, Schema, merge};

/// Says in which order the containers are to be.
const ORDER: &str = "$setElementOrder/containers";

/// Annotations that are not the user's: of the operator, and of `kubectl rollout restart`, which would be undone.
const RESERVED_ANNOTATIONS: [&str; 2] = [annotations::CONFIG_HASH, annotations::KUBECTL_RESTARTED_AT];

/// The field with the user's template.
pub(crate) const FIELD: &str = "spec.podTemplateSpec";

/// What keeps a template from being one.
pub(crate) fn validate(template: &RawObject) -> Result<(), Invalid> {
    let value = Value::Object(template.0.clone());
    serde_path_to_error::deserialize::<_, PodTemplateSpec>(&value).map(drop).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { FIELD.to_owned() } else { format!("{FIELD}.{path}") };
        Invalid::new(place, error.inner().to_string())
    })
}

/// A user's template merged over one of ours, the way Kubernetes merges. `container` is the one that is ours.
pub fn overlay(ours: &Value, mut patch: Map<String, Value>, container: &str) -> Result<Value, MergeError> {
    if patch.is_empty() {
        return Ok(ours.clone());
    }
    if let Some(spec) = patch.get_mut("spec").and_then(Value::as_object_mut) {
        keep_order(spec, container);
    }
    merge(ours, &Value::Object(patch), Schema::POD_TEMPLATE_SPEC).map(cleaned)
}

/// Containers stay in the order in which the user has them, and ours comes last unless it is among them. Left alone, a
/// merge puts those that are new first.
fn keep_order(spec: &mut Map<String, Value>, container: &str) {
    let Some(items) = spec.get("containers").and_then(Value::as_array).filter(|_| !spec.contains_key(ORDER))
    else {
        return;
    };
    let mut names = Vec::new();
    for item in items {
        match item.get("name").and_then(Value::as_str) {
            // Whoever uses directives knows what they do.
            Some(name) if item.get("$patch").is_none() => names.push(name),
            _ => return,
        }
    }
    if !names.contains(&container) {
        names.push(container);
    }
    let order = names.into_iter().map(|name| json!({ "name": name })).collect();
    spec.insert(ORDER.to_owned(), order);
}

/// Removes what a merge leaves in items that are new: fields that say nothing, and directives.
fn cleaned(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, value)| !value.is_null() && !key.starts_with('$'));
            Value::Object(kept.map(|(key, value)| (key, cleaned(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(cleaned).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The template of a workload: ours with the user's over it. The labels by which the pods are found stay as they are, and
/// so do annotations that are not the user's; variables come in an order that does not depend on who says them.
pub(crate) fn merged(
    ours: &Value,
    user: Option<&RawObject>,
    container: &str,
    labels: &Pairs,
    ignored: &mut IgnoredOverrides,
) -> Result<Value, Invalid> {
    let Some(RawObject(patch)) = user else { return Ok(ours.clone()) };
    let merged = overlay(ours, patch.clone(), container);
    let mut merged = merged.map_err(|error| Invalid::new(place_of(error.path()), error.to_string()))?;
    let has_it = has_container(&merged, container);
    if let Some(template) = merged.as_object_mut().filter(|_| has_it) {
        object(template, "metadata", |metadata| keep_metadata(metadata, ours, labels, ignored));
        object(template, "spec", |spec| sort_variables(spec, container));
        return Ok(merged);
    }
    let message = format!("the container {container} is gone, which is what runs: leave it there");
    Err(Invalid::new(place_of("spec.containers"), message))
}

fn place_of(path: &str) -> String {
    if path.is_empty() { FIELD.to_owned() } else { format!("{FIELD}.{path}") }
}

fn is_named(container: &Value, name: &str) -> bool {
    container.get("name").is_some_and(|its| its == name)
}

fn has_container(template: &Value, name: &str) -> bool {
    let all = template.pointer("/spec/containers").and_then(Value::as_array);
    all.into_iter().flatten().any(|container| is_named(container, name))
}

fn keep_metadata(
    metadata: &mut Map<String, Value>,
    ours: &Value,
    labels: &Pairs,
    ignored: &mut IgnoredOverrides,
) {
    object(metadata, "labels", |all| {
        for (key, value) in labels {
            let before = all.insert(key.clone(), value.as_str().into());
            if before.is_none_or(|before| before != value.as_str()) {
                ignored.ignore(format!("{FIELD}.metadata.labels[{key}]"), RESERVED);
            }
        }
    });
    let ours = ours.pointer("/metadata/annotations");
    for key in RESERVED_ANNOTATIONS {
        let Some(all) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
        let kept = ours.and_then(|ours| ours.get(key));
        if all.get(key) == kept {
            continue;
        }
        ignored.ignore(format!("{FIELD}.metadata.annotations[{key}]"), RESERVED);
        match kept {
            Some(kept) => drop(all.insert(key.to_owned(), kept.clone())),
            None => drop(all.remove(key)),
        }
        if all.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn sort_variables(spec: &mut Map<String, Value>, name: &str) {
    list(spec, "containers", |all| {
        let ours = all.iter_mut().filter(|container| is_named(container, name));
        for container in ours.filter_map(Value::as_object_mut) {
            if let Some(Value::Array(entries)) = container.remove("env") {
                container.insert("env".to_owned(), Env::of(entries).render());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: Value) -> RawObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn unknown_fields_and_directives_of_a_merge_patch_are_fine() {
        let template = json!({
            "spec": {
                "futureField": {"x": [1, null]},
                "containers": [{"name": "mcp", "env": [{"$patch": "replace"}]}, {"name": "old", "$patch": "delete"}],
                "$setElementOrder/containers": [{"name": "mcp"}],
            },
        });
        assert_eq!(validate(&raw(template)), Ok(()));
    }

    fn ours() -> Value {
        json!({
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "main", "image": "i", "env": [{"name": "B", "value": "1"}]}]},
        })
    }

    fn merged_with(patch: Value, ignored: &mut IgnoredOverrides) -> Result<Value, Invalid> {
        let labels = Pairs::from([("app".to_owned(), "a".to_owned())]);
        merged(&ours(), Some(&raw(patch)), "main", &labels, ignored)
    }

    #[test]
    fn users_add_and_change_and_the_labels_that_find_the_pods_stay() {
        let mut ignored = IgnoredOverrides::default();
        let patch = json!({
            "metadata": {
                "labels": {"app": "other", "team": "t"},
                "annotations": {"kubectl.kubernetes.io/restartedAt": "now"},
            },
            "spec": {"containers": [
                {"name": "sidecar", "image": "s", "command": null},
                {"name": "main", "env": [{"name": "A", "value": "$(B)"}, {"name": "C", "value": "2"}]},
            ]},
        });
        let expected = json!({
            "metadata": {"labels": {"app": "a", "team": "t"}},
            "spec": {"containers": [
                {"name": "sidecar", "image": "s"},
                {"name": "main", "image": "i", "env": [
                    {"name": "B", "value": "1"}, {"name": "A", "value": "$(B)"}, {"name": "C", "value": "2"},
                ]},
            ]},
        });
        assert_eq!(merged_with(patch, &mut ignored), Ok(expected));
        let told = ignored.message();
        assert!(told.contains("spec.podTemplateSpec.metadata.labels[app]: set by the operator"), "{told}");
        assert!(told.contains("annotations[kubectl.kubernetes.io/restartedAt]"), "{told}");
    }

    #[test]
    fn a_template_that_says_nothing_changes_nothing() {
        let mut ignored = IgnoredOverrides::default();
        assert_eq!(merged_with(json!({}), &mut ignored), Ok(ours()));
        assert!(ignored.is_empty());
    }

    #[test]
    fn what_cannot_be_merged_is_told_with_its_place() {
        let mut ignored = IgnoredOverrides::default();
        let gone = json!({"spec": {"containers": [{"name": "main", "$patch": "delete"}]}});
        let error = merged_with(gone, &mut ignored).unwrap_err();
        assert_eq!(error.path, "spec.podTemplateSpec.spec.containers");
        let nonsense = json!({"spec": {"containers": [{"name": "main", "$patch": "merge"}]}});
        let error = merged_with(nonsense, &mut ignored).unwrap_err();
        assert!(error.path.starts_with("spec.podTemplateSpec.spec.containers"), "{error}");
    }

    #[test]
    fn a_wrong_type_is_told_with_its_place() {
        for (template, place) in [
            (json!({"spec": {"containers": {}}}), "spec.podTemplateSpec.spec.containers"),
            (json!({"spec": {"containers": [{"name": 7}]}}), "spec.podTemplateSpec.spec.containers[0].name"),
            (json!({"spec": {"nodeSelector": {"a": 1}}}), "spec.podTemplateSpec.spec.nodeSelector.a"),
            (json!({"metadata": "x"}), "spec.podTemplateSpec.metadata"),
        ] {
            let error = validate(&raw(template)).unwrap_err();
            assert_eq!(error.path, place, "{error}");
        }
        let quantity =
            json!({"spec": {"containers": [{"name": "mcp", "resources": {"limits": {"cpu": 1}}}]}});
        assert_eq!(validate(&raw(quantity)), Ok(()), "a number is a quantity too");
    }
}
