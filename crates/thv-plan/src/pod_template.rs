//! Pod templates that users write: `spec.podTemplateSpec`.
//!
//! What the user wrote stays JSON. Reading it into a type and writing it again would lose the fields that the type
//! does not know and the directives of a merge patch.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde_json::{Map, Value, json};
use thv_api::names::annotations;
use thv_api::value::RawObject;

use crate::deployed::pod_identity;
use crate::env::Env;
use crate::invalid::Invalid;
use crate::json::object;
use crate::metadata::{Level as _, OnPods, Pairs};
use crate::overrides::{IgnoredOverrides, RESERVED};
use crate::pod_defaults::fill_in;
use crate::strategic_merge::{MergeError, Schema, merge};

/// The field with the user's template.
pub(crate) const FIELD: &str = "spec.podTemplateSpec";

/// Says in which order the containers are to be.
const ORDER: &str = "$setElementOrder/containers";

/// What keeps a template from being one.
pub(crate) fn validate(template: &RawObject) -> Result<(), Invalid> {
    let value = Value::Object(template.0.clone());
    serde_path_to_error::deserialize::<_, PodTemplateSpec>(&value).map(drop).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { FIELD.to_owned() } else { format!("{FIELD}.{path}") };
        Invalid::new(place, error.inner().to_string())
    })
}

/// A template with the user's patch merged in, the way Kubernetes merges. Containers stay in the order in which the user
/// has them, and `ours` comes last unless it is among them.
pub fn merged(template: &Value, mut patch: Map<String, Value>, ours: &str) -> Result<Value, MergeError> {
    if let Some(spec) = patch.get_mut("spec").and_then(Value::as_object_mut) {
        keep_order(spec, ours);
    }
    merge(template, &Value::Object(patch), Schema::POD_TEMPLATE_SPEC).map(cleaned)
}

/// Says in which order the containers are to be. Left alone, a merge puts those that are new first.
fn keep_order(spec: &mut Map<String, Value>, ours: &str) {
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
    if !names.contains(&ours) {
        names.push(ours);
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

/// The template of our pods with the user's merged in.
///
/// The user may change all of it but for what the system depends on: the container of ours is there, the labels by which
/// pods are found and reserved annotations stay, and so do the variables by which a pod knows what it was made for.
pub(crate) fn apply(
    template: Value,
    user: Option<&RawObject>,
    container: &str,
    labels: &Pairs,
    ignored: &mut IgnoredOverrides,
) -> Result<Value, Invalid> {
    let Some(RawObject(patch)) = user.filter(|user| !user.0.is_empty()) else { return Ok(template) };
    let merged = merged(&template, patch.clone(), container)
        .map_err(|error| Invalid::new(FIELD, format!("cannot be merged into the pods: {error}")))?;
    let Value::Object(mut merged) = merged else { return Ok(template) };
    object(&mut merged, "metadata", |metadata| {
        object(metadata, "labels", |all| {
            for (key, value) in labels {
                keep(all, key, Some(&json!(value)), "metadata.labels", ignored);
            }
        });
        object(metadata, "annotations", |all| {
            let ours = template.pointer("/metadata/annotations").and_then(Value::as_object);
            let is_ours = |key: &str| OnPods::reserves(key) || key == annotations::ROTATED_CONTENT;
            let all_keys = ours.into_iter().flat_map(Map::keys).chain(all.keys());
            let keys: BTreeSet<String> = all_keys.filter(|key| is_ours(key)).cloned().collect();
            for key in keys {
                keep(all, &key, ours.and_then(|ours| ours.get(&key)), "metadata.annotations", ignored);
            }
        });
        // A map without entries is left out, so that we do not own it.
        metadata.retain(|_, all| all.as_object().is_none_or(|all| !all.is_empty()));
    });
    let ours = template.pointer("/spec/containers").and_then(|all| named(all, container));
    let theirs = merged.get_mut("spec").and_then(|spec| spec.get_mut("containers"));
    let theirs = theirs.and_then(Value::as_array_mut).into_iter().flatten();
    let theirs = theirs.filter(|item| item["name"] == container).find_map(Value::as_object_mut);
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        let message = format!("removes the container {container}, which the pods are for: leave it in");
        return Err(Invalid::new(FIELD, message));
    };
    let mut variables = match theirs.remove("env") {
        Some(Value::Array(variables)) => variables,
        _ => Vec::new(),
    };
    for name in pod_identity::NAMES {
        keep_variable(&mut variables, name, named(&ours["env"], name), container, ignored);
    }
    // In an order that does not depend on who says them.
    if !variables.is_empty() {
        theirs.insert("env".to_owned(), Env::of(variables).render());
    }
    let mut merged = Value::Object(merged);
    fill_in(&mut merged);
    Ok(merged)
}

/// The item of a list that has this name.
fn named<'a>(items: &'a Value, name: &str) -> Option<&'a Value> {
    items.as_array()?.iter().find(|item| item["name"] == name)
}

/// Puts a value of ours back where it was, and tells if it was changed.
fn keep(
    all: &mut Map<String, Value>,
    key: &str,
    ours: Option<&Value>,
    field: &str,
    ignored: &mut IgnoredOverrides,
) {
    if all.get(key) == ours {
        return;
    }
    ignored.ignore(format!("{FIELD}.{field}[{key}]"), RESERVED);
    match ours {
        Some(value) => _ = all.insert(key.to_owned(), value.clone()),
        None => _ = all.remove(key),
    }
}

/// The same for a variable.
fn keep_variable(
    variables: &mut Vec<Value>,
    name: &str,
    ours: Option<&Value>,
    container: &str,
    ignored: &mut IgnoredOverrides,
) {
    let place = variables.iter().position(|entry| entry["name"] == name);
    if place.and_then(|place| variables.get(place)) == ours {
        return;
    }
    ignored.ignore(format!("{FIELD}.spec.containers[{container}].env[{name}]"), RESERVED);
    variables.retain(|entry| entry["name"] != name);
    variables.extend(ours.cloned());
}

#[cfg(test)]
mod tests {
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

    const CHECKSUM: &str = annotations::RUN_CONFIG_CHECKSUM;

    fn applied(patch: Value) -> (Result<Value, Invalid>, IgnoredOverrides) {
        let template = json!({
            "metadata": {"labels": {"app": "x", "team": "a"}, "annotations": {CHECKSUM: "c", "mine": "1"}},
            "spec": {
                "containers": [{"name": "toolhive", "image": "i", "env": [
                    {"name": "HOME", "value": "/tmp"}, {"name": "THV_MCPSERVER_REVISION", "value": "u/1"},
                ]}],
                "volumes": [{"name": "runconfig", "configMap": {"name": "c"}}],
            },
        });
        let mut ignored = IgnoredOverrides::default();
        let labels = Pairs::from([("app".to_owned(), "x".to_owned())]);
        let result = apply(template, Some(&raw(patch)), "toolhive", &labels, &mut ignored);
        (result, ignored)
    }

    #[test]
    fn s4_09_users_merge_containers_volumes_and_settings_into_our_pods() {
        let (result, ignored) = applied(json!({
            "metadata": {"annotations": {"mine": "2", "theirs": "3"}, "labels": {"team": "b"}},
            "spec": {
                "nodeSelector": {"disk": "ssd"},
                "volumes": [{"name": "cache", "emptyDir": {}}],
                "containers": [
                    {"name": "toolhive", "image": "j", "env": [{"name": "HOME", "value": "/home"}]},
                    {"name": "side", "image": "s", "stdin": null},
                ],
            },
        }));
        let result = result.unwrap();
        assert!(ignored.is_empty(), "{}", ignored.message());
        assert_eq!(result["metadata"]["annotations"], json!({CHECKSUM: "c", "mine": "2", "theirs": "3"}));
        assert_eq!(result["metadata"]["labels"], json!({"app": "x", "team": "b"}));
        assert_eq!(result["spec"]["nodeSelector"], json!({"disk": "ssd"}));
        let ours = named(&result["spec"]["containers"], "toolhive").unwrap();
        assert_eq!(
            (&ours["image"], &named(&ours["env"], "HOME").unwrap()["value"]),
            (&json!("j"), &json!("/home"))
        );
        let side = named(&result["spec"]["containers"], "side").unwrap();
        assert_eq!(side, &json!({"name": "side", "image": "s"}));
        assert!(named(&result["spec"]["volumes"], "runconfig").is_some());
        assert!(named(&result["spec"]["volumes"], "cache").is_some());
    }

    #[test]
    fn what_the_system_depends_on_stays_and_the_user_is_told() {
        let (result, ignored) = applied(json!({
            "metadata": {
                "labels": {"app": "y"},
                "annotations": {CHECKSUM: null, annotations::RESTARTED_AT: "2026-11-15T08:00:00Z"},
            },
            "spec": {"containers": [{"name": "toolhive", "env": [
                {"name": "THV_MCPSERVER_REVISION", "value": "u/9"}, {"name": "THV_RUNCONFIG_CHECKSUM", "value": "d"},
            ]}]},
        }));
        let result = result.unwrap();
        assert_eq!(result["metadata"]["labels"]["app"], "x");
        assert_eq!(result["metadata"]["annotations"], json!({CHECKSUM: "c", "mine": "1"}));
        let env = &named(&result["spec"]["containers"], "toolhive").unwrap()["env"];
        assert_eq!(named(env, "THV_MCPSERVER_REVISION").unwrap()["value"], "u/1");
        assert_eq!(named(env, "THV_RUNCONFIG_CHECKSUM"), None);
        for part in ["labels[app]", CHECKSUM, annotations::RESTARTED_AT, "env[THV_MCPSERVER_REVISION]"] {
            assert!(ignored.message().contains(part), "{part}: {}", ignored.message());
        }
    }

    #[test]
    fn variables_come_in_one_order_and_what_says_nothing_adds_nothing() {
        let env = |first: Value, second: Value| {
            let (result, _) =
                applied(json!({"spec": {"containers": [{"name": "toolhive", "env": [first, second]}]}}));
            named(&result.unwrap()["spec"]["containers"], "toolhive").unwrap()["env"].clone()
        };
        let (a, z) = (json!({"name": "A", "value": "$(HOME)"}), json!({"name": "Z", "value": "z"}));
        let made = env(a.clone(), z.clone());
        assert_eq!(made, env(z, a));
        let names: Vec<_> = made.as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
        assert_eq!(
            names,
            ["HOME", "A", "THV_MCPSERVER_REVISION", "Z"],
            "a variable follows those that it mentions"
        );

        let bare = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c"}]}});
        let user = raw(json!({"spec": {"hostNetwork": true}}));
        let labels = Pairs::from([("app".to_owned(), "x".to_owned())]);
        let made = apply(bare.clone(), Some(&user), "c", &labels, &mut IgnoredOverrides::default()).unwrap();
        let mut expected = bare;
        expected["spec"]["hostNetwork"] = json!(true);
        assert_eq!(made, expected);
    }

    #[test]
    fn a_template_without_our_container_is_refused() {
        let (result, _) =
            applied(json!({"spec": {"containers": [{"name": "toolhive", "$patch": "delete"}]}}));
        assert!(result.unwrap_err().message.contains("removes the container toolhive"));
    }
}
