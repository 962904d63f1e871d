//! The volume claims of an embedding server, for downloaded models.
//!
//! Nobody can change the claims of a StatefulSet that is there: the API server refuses the whole of an apply that does. So
//! what is there is applied again, and what was asked for is told.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thv_api::kinds::ModelCache;
use thv_api::names::volumes;

use super::overrides::CLAIMS;
use crate::json::object;
use crate::live::Fixed;
use crate::metadata::{Metadata, OnClaims};
use crate::quantity;

/// The claims that are applied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claims {
    /// The templates.
    pub(super) templates: Vec<Value>,
    /// What was asked for and cannot be had, a sentence each.
    pub(super) kept: Vec<String>,
}

impl Claims {
    /// Whether there is a volume for models.
    pub(super) fn has_cache(&self) -> bool {
        find(&self.templates).is_some()
    }
}

/// The template that a cache asks for.
pub(super) fn template(cache: &ModelCache, metadata: &Metadata<OnClaims>) -> Value {
    let ModelCache { enabled: _, storage_class_name, size, access_mode } = cache;
    let mut metadata = metadata.render();
    metadata.insert("name".to_owned(), volumes::MODEL_CACHE.into());
    let mut spec = Map::new();
    spec.insert("accessModes".to_owned(), json!([access_mode]));
    spec.insert("resources".to_owned(), json!({ "requests": { "storage": size } }));
    // What the API server would choose.
    spec.insert("volumeMode".to_owned(), "Filesystem".into());
    if let Some(class) = storage_class_name {
        spec.insert("storageClassName".to_owned(), class.as_str().into());
    }
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec })
}

/// The claims to apply: those that are wanted, unless there are others already.
pub(super) fn claims(wanted: Option<Value>, live: Option<&Fixed>) -> Claims {
    let wanted: Vec<Value> = wanted.into_iter().collect();
    let Some(Fixed { volume_claim_templates: live, service_name: _, selector: _ }) = live else {
        return Claims { templates: wanted, kept: Vec::new() };
    };
    let kept = differences(&wanted, live);
    let templates = if kept.is_empty() { wanted } else { live.iter().map(as_applied).collect() };
    Claims { templates, kept }
}

/// A template that is there, without what only the API server writes: of one that we have made, that is what we applied.
fn as_applied(live: &Value) -> Value {
    let mut template = live.clone();
    if let Some(template) = template.as_object_mut() {
        template.remove("status");
        object(template, "metadata", |metadata| drop(metadata.remove("creationTimestamp")));
    }
    template
}

/// What is asked for and is not there, a sentence each.
fn differences(wanted: &[Value], live: &[Value]) -> Vec<String> {
    let mut all = match (find(wanted), find(live)) {
        (None, None) => Vec::new(),
        (Some(_), None) => vec!["spec.modelCache: there is no volume for models".to_owned()],
        (None, Some(_)) => {
            vec!["spec.modelCache: the volume for models stays, and nobody uses it".to_owned()]
        }
        (Some(wanted), Some(live)) => Terms::of(wanted).differences(&Terms::of(live)),
    };
    if live.iter().any(|template| name_of(template) != Some(volumes::MODEL_CACHE)) {
        all.push("further volume claims of the StatefulSet stay".to_owned());
    }
    all
}

fn find(templates: &[Value]) -> Option<&Value> {
    templates.iter().find(|template| name_of(template) == Some(volumes::MODEL_CACHE))
}

fn name_of(template: &Value) -> Option<&str> {
    template.pointer("/metadata/name").and_then(Value::as_str)
}

/// What a user can ask for of a claim. The API server adds more to it.
#[derive(Debug, PartialEq)]
struct Terms<'a> {
    size: Option<&'a str>,
    storage_class: Option<&'a str>,
    access_modes: Vec<&'a str>,
    metadata: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
}

impl<'a> Terms<'a> {
    fn of(template: &'a Value) -> Self {
        let text = |pointer: &str| template.pointer(pointer).and_then(Value::as_str);
        let modes = template.pointer("/spec/accessModes").and_then(Value::as_array);
        let pairs = |field: &'static str| {
            let fields = template.pointer("/metadata").and_then(|metadata| metadata.get(field)?.as_object());
            let pairs = fields.into_iter().flatten();
            (field, pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect())
        };
        Self {
            size: text("/spec/resources/requests/storage"),
            storage_class: text("/spec/storageClassName"),
            access_modes: modes.into_iter().flatten().filter_map(Value::as_str).collect(),
            metadata: ["labels", "annotations"].map(pairs).into(),
        }
    }

    fn differences(&self, live: &Terms<'_>) -> Vec<String> {
        let Self { size, storage_class, access_modes, metadata } = self;
        let mut all = Vec::new();
        let (wanted, there) = (size.unwrap_or_default(), live.size.unwrap_or_default());
        if !quantity::is_same(wanted, there) {
            all.push(format!("spec.modelCache.size stays {there}"));
        }
        if *storage_class != live.storage_class {
            let there = live.storage_class.unwrap_or("the default of the cluster");
            all.push(format!("spec.modelCache.storageClassName stays {there}"));
        }
        if *access_modes != live.access_modes {
            all.push(format!("spec.modelCache.accessMode stays {}", live.access_modes.join(", ")));
        }
        for (field, pairs) in metadata {
            if live.metadata.get(field) != Some(pairs) {
                all.push(format!("{CLAIMS}.{field} stay as they are"));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Pairs;

    fn cache(fields: Value) -> Value {
        let labels = Pairs::from([("app".to_owned(), "e".to_owned())]);
        let metadata = Metadata::<OnClaims>::new(labels, Pairs::new());
        template(&serde_json::from_value(fields).unwrap(), &metadata)
    }

    /// As the API server keeps it.
    fn live(templates: &[Value]) -> Fixed {
        let defaulted = |template: &Value| {
            let mut template = template.clone();
            template["metadata"]["creationTimestamp"] = Value::Null;
            template["status"] = json!({"phase": "Pending"});
            template
        };
        Fixed { volume_claim_templates: templates.iter().map(defaulted).collect(), ..Fixed::default() }
    }

    #[test]
    fn what_the_api_server_adds_is_no_difference() {
        let wanted = cache(json!({"size": "1024Mi"}));
        let made = claims(Some(wanted.clone()), Some(&live(&[cache(json!({"size": "1Gi"}))])));
        assert_eq!(made, Claims { templates: vec![wanted], kept: Vec::new() });
        assert_eq!(claims(None, Some(&live(&[]))), Claims { templates: Vec::new(), kept: Vec::new() });
    }

    #[test]
    fn what_cannot_be_changed_is_applied_as_it_is_and_named() {
        let there = live(&[cache(json!({"size": "5Gi"}))]);
        let mut labelled = cache(json!({"size": "5Gi"}));
        labelled["metadata"]["labels"]["team"] = json!("a");
        for (wanted, told) in [
            (Some(cache(json!({"size": "20Gi"}))), "spec.modelCache.size stays 5Gi"),
            (
                Some(cache(json!({"size": "5Gi", "storageClassName": "fast"}))),
                "spec.modelCache.storageClassName stays the default of the cluster",
            ),
            (
                Some(cache(json!({"size": "5Gi", "accessMode": "ReadWriteMany"}))),
                "spec.modelCache.accessMode stays ReadWriteOnce",
            ),
            (Some(labelled), "spec.resourceOverrides.persistentVolumeClaim.labels stay as they are"),
            (None, "spec.modelCache: the volume for models stays, and nobody uses it"),
        ] {
            let made = claims(wanted, Some(&there));
            assert_eq!(made.templates, [cache(json!({"size": "5Gi"}))], "{told}");
            assert_eq!(made.kept, [told]);
        }
        let made = claims(Some(cache(json!({}))), Some(&live(&[])));
        assert!(!made.has_cache());
        assert_eq!(made.kept, ["spec.modelCache: there is no volume for models"]);
    }
}
