//! What an edit changes: the places at which two versions of objects differ.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use anyhow::Result;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::ListParams;
use kube::core::NamespaceResourceScope;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thv_api::names::field_managers;
use thv_testbed::Space;

use crate::fixture::{json_of, managers};

/// Places in objects. Entries of lists go by what they are keyed by, so that their order is not part of the place:
/// `spec.template.spec.containers[toolhive].env[HOME].value`.
pub(crate) type Places = BTreeSet<String>;

/// A set of places.
pub(crate) fn places<const N: usize>(all: [&str; N]) -> Places {
    all.map(str::to_owned).into()
}

/// The places at which two versions of an object differ.
///
/// What is written by others as a consequence is left out: the counters and records of the API server, the status, and
/// the number that the controller of Deployments gives to a rollout. JSON within a text, such as a configuration, is
/// looked into, and so is YAML in a file of that name. What is there in one version only is one place, however much is below it.
pub(crate) fn changes<K: Serialize>(before: &K, after: &K) -> Places {
    let mut found = Places::new();
    compare("", &essence(json_of(before)), &essence(json_of(after)), &mut found);
    found
}

/// The children of one object, as they are at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Children(BTreeMap<String, Value>);

impl Children {
    /// All objects that this one controls, but for the backend, which is not the operator's.
    pub(crate) async fn of<K: Resource>(space: &Space, owner: &K) -> Result<Self> {
        let uid = owner.meta().uid.as_deref().unwrap_or_default();
        let mut all = BTreeMap::new();
        collect::<Deployment>(space, uid, &mut all).await?;
        collect::<StatefulSet>(space, uid, &mut all).await?;
        collect::<Service>(space, uid, &mut all).await?;
        collect::<ConfigMap>(space, uid, &mut all).await?;
        collect::<Secret>(space, uid, &mut all).await?;
        collect::<ServiceAccount>(space, uid, &mut all).await?;
        collect::<Role>(space, uid, &mut all).await?;
        collect::<RoleBinding>(space, uid, &mut all).await?;
        Ok(Self(all))
    }

    /// What has changed since: `<kind>/<name> <place>`, or `<kind>/<name>` if it came or went.
    pub(crate) fn changes(&self, later: &Self) -> Places {
        let mut found = Places::new();
        for child in self.0.keys().chain(later.0.keys()) {
            match (self.0.get(child), later.0.get(child)) {
                (Some(before), Some(after)) => {
                    found.extend(changes(before, after).iter().map(|place| format!("{child} {place}")));
                }
                _ => drop(found.insert(child.clone())),
            }
        }
        found
    }

    /// Who has written each child, by the names that they go by.
    pub(crate) fn managers(&self) -> BTreeMap<&str, Vec<String>> {
        let of = |object: &Value| {
            let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            entries.iter().filter_map(|entry| entry["manager"].as_str().map(str::to_owned)).collect()
        };
        self.0.iter().map(|(name, object)| (name.as_str(), of(object))).collect()
    }

    /// The resourceVersions of those whose status nobody writes, and the generations of the others: what must stay as
    /// it is when nothing is written.
    pub(crate) fn versions(&self) -> BTreeMap<&str, &Value> {
        let version = |object: &Value| object["metadata"].get("generation").is_some();
        let field = |object| if version(object) { "generation" } else { "resourceVersion" };
        self.0.iter().map(|(name, object)| (name.as_str(), &object["metadata"][field(object)])).collect()
    }
}

async fn collect<K>(space: &Space, uid: &str, all: &mut BTreeMap<String, Value>) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned,
{
    for object in space.api::<K>().list(&ListParams::default()).await? {
        let is_controlled = object.owner_references().iter().any(|owner| owner.uid == uid);
        if is_controlled && !is_proxys(&object) {
            all.insert(format!("{}/{}", K::kind(&()), object.name_any()), json_of(&object));
        }
    }
    Ok(())
}

/// Whether a proxy has made it, ours or Go's.
fn is_proxys<K: Resource<DynamicType = ()>>(object: &K) -> bool {
    let is_proxy = |name: &String| {
        [field_managers::PROXY_RUNNER, field_managers::GO_PROXY_RUNNER].contains(&name.as_str())
    };
    K::kind(&()) == "StatefulSet" && managers(object).iter().any(is_proxy)
}

/// An object without what is written by others as a consequence.
fn essence(mut object: Value) -> Value {
    if let Some(object) = object.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("deployment.kubernetes.io/revision");
        }
    }
    object
}

fn compare(place: &str, before: &Value, after: &Value, found: &mut Places) {
    if before == after {
        return;
    }
    let (Some(before), Some(after)) = (parts(before), parts(after)) else {
        found.insert(place.to_owned());
        return;
    };
    for (step, earlier) in &before {
        match after.iter().find(|(other, _)| other == step) {
            Some((_, later)) => compare(&join(place, step), earlier, later, found),
            None => drop(found.insert(join(place, step))),
        }
    }
    for (step, _) in &after {
        if !before.iter().any(|(other, _)| other == step) {
            found.insert(join(place, step));
        }
    }
}

/// What a value consists of, each with the step that leads there.
fn parts(value: &Value) -> Option<Vec<(String, Cow<'_, Value>)>> {
    match value {
        Value::Object(map) => Some(map.iter().map(|(key, value)| (step(key), content(key, value))).collect()),
        Value::Array(list) => Some(
            list.iter()
                .enumerate()
                .map(|(index, value)| (format!("[{}]", entry_key(value, index)), Cow::Borrowed(value)))
                .collect(),
        ),
        Value::String(text) if text.starts_with('{') => {
            let inner: Value = serde_json::from_str(text).ok()?;
            let parts = parts(&inner)?.into_iter();
            Some(parts.map(|(step, value)| (step, Cow::Owned(value.into_owned()))).collect())
        }
        _ => None,
    }
}

/// What a field has in it: that of a file with YAML is what the file says.
fn content<'a>(key: &str, value: &'a Value) -> Cow<'a, Value> {
    let text = value.as_str().filter(|_| key.rsplit('.').next() == Some("yaml"));
    let inner = text.and_then(|text| serde_saphyr::from_str::<Value>(text).ok());
    inner.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// What tells an entry of a list from the others.
fn entry_key(value: &Value, index: usize) -> String {
    let keys = ["mountPath", "name", "containerPort", "type", "uid", "key"];
    let key = keys.iter().find_map(|key| value.get(key)?.as_str());
    key.map_or_else(|| index.to_string(), str::to_owned)
}

fn step(key: &str) -> String {
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_plain { key.to_owned() } else { format!("[{key}]") }
}

fn join(place: &str, step: &str) -> String {
    let dot = if place.is_empty() || step.starts_with('[') { "" } else { "." };
    format!("{place}{dot}{step}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_as_deep_as_the_difference() {
        let before = json!({
            "metadata": {"resourceVersion": "1", "annotations": {"a/b": "1", "c": "1"}},
            "spec": {"containers": [{"name": "x", "args": ["1", "2"]}, {"name": "y"}]},
            "data": {"file.json": "{\"one\": 1, \"two\": {\"three\": 3}}"},
            "status": 1,
        });
        let after = json!({
            "metadata": {"resourceVersion": "2", "annotations": {"a/b": "2"}},
            "spec": {"containers": [{"name": "z", "tty": true}, {"name": "x", "args": ["1", "3"]}]},
            "data": {"file.json": "{\"one\": 1, \"two\": {\"three\": 4}}"},
            "status": 2,
        });
        let expected = places([
            "metadata.annotations[a/b]",
            "metadata.annotations.c",
            "spec.containers[x].args[1]",
            "spec.containers[y]",
            "spec.containers[z]",
            "data[file.json].two.three",
        ]);
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(changes(&before, &before), places([]));
    }
}
