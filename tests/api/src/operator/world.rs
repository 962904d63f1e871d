//! An object with everything that it refers to, made again and again: each its own, to be changed at will.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Mark, Space, wait};

use super::Operator;
use super::single_edit::{Case, places};
use crate::fixture::{apply, apply_status, json_of};

/// How many servers were made only to outlast something.
static PROBES: AtomicUsize = AtomicUsize::new(0);

/// An object: where, and its name.
pub(super) type Place = (Api<DynamicObject>, String);

/// The objects of the kind that this one is of.
pub(super) fn api_of(space: &Space, object: &Value) -> Api<DynamicObject> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")));
    Api::namespaced_with(space.client(), space.namespace(), &resource)
}

fn objects(case: &Case) -> Result<Vec<Value>> {
    let mut all: Vec<Value> = serde_saphyr::from_multiple(case.example)?;
    for object in &mut all {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
    }
    Ok(all)
}

fn named<'a>(all: &'a [Value], kind: &str) -> Result<&'a Value> {
    all.iter().find(|object| object["kind"] == kind).with_context(|| format!("the example has no {kind}"))
}

/// Makes everything that the example refers to, with a twin of each and of every key.
pub(super) async fn make(space: &Space, case: &Case) -> Result<()> {
    for mut object in objects(case)?.into_iter().filter(|object| object["kind"] != case.kind) {
        for entries in ["data", "stringData"] {
            let twins: Vec<_> = object[entries].as_object().into_iter().flatten().map(twin).collect();
            if let Some(entries) = object.get_mut(entries).and_then(Value::as_object_mut) {
                entries.extend(twins);
            }
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        for name in [name.clone(), format!("{name}-2")] {
            put(space, &object, &name).await?;
        }
    }
    Ok(())
}

fn twin((key, value): (&String, &Value)) -> (String, Value) {
    (format!("{key}-2"), value.clone())
}

async fn put(space: &Space, object: &Value, name: &str) -> Result<Place> {
    let api = api_of(space, object);
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    apply(&api, name, "user", &object).await.with_context(|| format!("cannot make {name}"))?;
    if object.get("status").is_some() {
        apply_status(&api, name, "test", &object).await?;
    }
    Ok((api, name.to_owned()))
}

/// What is at a pointer of an object.
pub(super) fn value(object: &DynamicObject, pointer: &str) -> Option<Value> {
    json_of(object).pointer(pointer).cloned()
}

/// Changes what is at a pointer of an object, and nothing else.
pub(super) async fn set((api, name): &Place, pointer: &str, value: &Value) -> Result<()> {
    let patch = json!([{"op": "replace", "path": pointer, "value": value}]);
    api.patch(name, &PatchParams::default(), &Patch::Json::<()>(serde_json::from_value(patch)?)).await?;
    Ok(())
}

/// One object, for one edit at a time.
pub(super) struct Lane {
    space: Space,
    case: &'static Case,
    pub(super) own: Place,
    /// What it refers to alone.
    pub(super) far: Option<Place>,
}

impl Lane {
    /// Makes the object. With a kind and a place in the spec, it gets an object of that kind for its own.
    pub(super) async fn start(
        space: &Space,
        case: &'static Case,
        name: &str,
        far: Option<(&str, &str)>,
    ) -> Result<Self> {
        let all = objects(case)?;
        let mut owner = named(&all, case.kind)?.clone();
        let far = match far {
            None => None,
            Some((kind, reference)) => {
                *owner.pointer_mut(reference).context("the example does not refer to it")? = json!(name);
                Some(put(space, named(&all, kind)?, name).await?)
            }
        };
        let own = put(space, &owner, name).await?;
        Ok(Self { space: space.clone(), case, own, far })
    }

    /// The object and all its children, once the operator has dealt with the object as it is and its Deployments have
    /// been told not to roll any pods. Somebody else may do that at any time; here it saves hundreds of rollouts that
    /// nobody looks at.
    pub(super) async fn settled(&self, operator: &Operator) -> Result<State> {
        self.observed().await?;
        let pause = Patch::Merge(json!({"spec": {"paused": true}}));
        let deployments = self.space.api::<Deployment>();
        for deployment in deployments.list(&ListParams::default()).await? {
            if deployment.owner_references().iter().any(|owner| owner.name == self.own.1) {
                deployments.patch(&deployment.name_any(), &PatchParams::default(), &pause).await?;
            }
        }
        let mark = operator.recorder.mark();
        let object = self.observed().await?;
        let mut children = BTreeMap::new();
        for resource in (self.case.children)() {
            for child in self.api(&resource).list(&ListParams::default()).await? {
                let uid = object.metadata.uid.as_ref();
                if child.owner_references().iter().any(|owner| Some(&owner.uid) == uid) {
                    children.insert(self.title(&resource, &child.name_any()), self.essence(&child)?);
                }
            }
        }
        Ok(State { children, status: status(&object), mark })
    }

    /// What has become of `before`, once the operator has dealt with a change of which `expected` follows. Only what was
    /// written is read again.
    pub(super) async fn dealt_with(
        &self,
        operator: &Operator,
        before: &State,
        expected: &BTreeSet<String>,
    ) -> Result<State> {
        let (api, name) = &self.own;
        let object = if self.far.is_none() {
            self.observed().await?
        } else if expected.iter().any(|line| line.starts_with("status.")) {
            // The status is written last.
            let is_new = |object: &DynamicObject| status(object) != before.status;
            wait::until(api, name, "its status follows", is_new).await?
        } else {
            // Nothing shows that it is over, but that something later is.
            operator.outlast(&PROBES.fetch_add(1, Ordering::Relaxed).to_string()).await?;
            api.get(name).await?
        };
        let mark = operator.recorder.mark();
        let mut children = before.children.clone();
        for write in operator.recorder.since(before.mark).writes().iter() {
            let resource =
                (self.case.children)().into_iter().find(|resource| resource.plural == write.resource);
            let child = write.name.as_deref().filter(|child| child.contains(name.as_str()));
            let (Some(resource), Some(child)) = (resource, child) else { continue };
            match self.api(&resource).get_opt(child).await? {
                Some(child) => {
                    children.insert(self.title(&resource, &child.name_any()), self.essence(&child)?);
                }
                None => drop(children.remove(&self.title(&resource, child))),
            }
        }
        Ok(State { children, status: status(&object), mark })
    }

    /// Waits until the operator has dealt with the object as it is.
    async fn observed(&self) -> Result<DynamicObject> {
        let (api, name) = &self.own;
        let generation = api.get(name).await?.metadata.generation;
        wait::until(api, name, "the operator has dealt with it", |object| {
            object.data["status"]["observedGeneration"].as_i64() >= generation
        })
        .await
    }

    fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.space.client(), self.space.namespace(), resource)
    }

    /// What a child is called in the lists, where the object has the name that it has in the example.
    fn title(&self, resource: &ApiResource, name: &str) -> String {
        format!("{} {}", resource.kind, name.replace(&self.own.1, self.case.name))
    }

    /// A child without what others write as a consequence.
    fn essence(&self, child: &DynamicObject) -> Result<Value> {
        let mut child = json_of(child);
        let fields = child.as_object_mut().context("an object is no object")?;
        fields.remove("status");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in ["managedFields", "resourceVersion", "generation"] {
                metadata.remove(field);
            }
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove("deployment.kubernetes.io/revision");
            }
        }
        // A list gives its entries no kind of their own.
        fields.retain(|name, _| !["apiVersion", "kind"].contains(&name.as_str()));
        Ok(serde_json::from_str(&child.to_string().replace(&self.own.1, self.case.name))?)
    }
}

/// An object's children and status at one moment, without what others write as a consequence.
pub(super) struct State {
    children: BTreeMap<String, Value>,
    status: Value,
    /// When that was, as the request log counts.
    mark: Mark,
}

impl State {
    /// The lines in which a later state differs.
    pub(super) fn changes(&self, later: &Self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        places::compare_maps(&self.children, &later.children, "", &mut all);
        places::compare(&self.status, &later.status, "status", &mut all);
        places::fold(all)
    }
}

/// The status, without times, and without what pods do that no node runs.
fn status(object: &DynamicObject) -> Value {
    let text = object.data["status"].to_string();
    let text = text.replace("the proxy is being created", "the proxy is starting");
    let mut status: Value = serde_json::from_str(&text).unwrap_or_default();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if let Some(fields) = condition.as_object_mut() {
            fields.remove("lastTransitionTime");
        }
    }
    status
}
