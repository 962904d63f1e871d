//! An object of a case, changed at will, and what has become of its children and its status.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::MCPGroup;
use thv_testbed::{Mark, Space, wait};

use super::case::reference::Reference;
use super::case::{Case, edits, named, places};
use super::world::{Place, World, is_owned_by, name_of, put};
use crate::fixture::json_of;
use crate::operator::Operator;

/// Makes everything that the objects of a case refer to, with a twin of each and of every key.
pub(super) async fn make_twins(space: &Space, case: &Case) -> Result<()> {
    for object in edits::with_twins(case.all_referents()?) {
        put(space, &object, &name_of(&object)).await?;
    }
    Ok(())
}

/// What is at a pointer of an object.
pub(super) fn value(object: &DynamicObject, pointer: &str) -> Option<Value> {
    json_of(object).pointer(pointer).cloned()
}

/// Changes what is at a pointer of an object, and nothing else.
pub(crate) async fn set((api, name): &Place, pointer: &str, value: &Value) -> Result<()> {
    let patch = json!([{"op": "replace", "path": pointer, "value": value}]);
    api.patch(name, &PatchParams::default(), &Patch::Json::<()>(serde_json::from_value(patch)?)).await?;
    Ok(())
}

/// One object, for one edit at a time.
pub(super) struct Lane {
    pub(super) world: World,
    pub(super) own: Place,
    /// The name that it has in the example.
    pub(super) example: String,
    /// What it refers to alone, and the name that this has in the example.
    pub(super) far: Option<(Place, String)>,
}

impl Lane {
    /// Makes an object of the example or of `more` under another name.
    pub(super) async fn near(world: &World, name: &str, object: &Value) -> Result<Self> {
        let own = put(&world.space, object, name).await?;
        Ok(Self { world: world.clone(), own, example: name_of(object), far: None })
    }

    /// Makes the object that refers to another one, under another name, with that one for its own. A member of a group
    /// names the group where its owner does, and gets one for itself.
    pub(super) async fn far(world: &World, name: &str, reference: &Reference) -> Result<Self> {
        let (case, all) = (world.case, world.case.all()?);
        let Reference { owner, place, kind, name: referent } = reference;
        // Children are named after their owners, and both may have some.
        let far_name = format!("to-{name}");
        let mut other = named(&all, kind, referent)?.clone();
        if let Some(group) = other.pointer_mut(place) {
            *group = json!(far_name);
            let group = json!({"apiVersion": MCPGroup::api_version_text(), "kind": "MCPGroup", "spec": {}});
            put(&world.space, &group, &far_name).await?;
        }
        let far = put(&world.space, &other, &far_name).await?;
        let mut manifest = named(&all, case.kind, owner)?.clone();
        *manifest.pointer_mut(place).with_context(|| format!("{owner} has no {place}"))? = json!(far_name);
        let own = put(&world.space, &manifest, name).await?;
        let far = Some((far, (*referent).to_owned()));
        Ok(Self { world: world.clone(), own, example: (*owner).to_owned(), far })
    }

    /// An object that is there, and like that of the example.
    pub(super) fn of(world: &World, name: &str) -> Self {
        let own = (world.own.clone(), name.to_owned());
        Self { world: world.clone(), own, example: world.case.name.to_owned(), far: None }
    }

    /// The object as it is.
    pub(super) async fn live(&self) -> Result<DynamicObject> {
        Ok(self.own.0.get(&self.own.1).await?)
    }

    /// The object and all its children, once the operator has dealt with the object as it is and its workloads have been
    /// told not to roll any pods. Somebody else may do that at any time; here it saves hundreds of rollouts that nobody
    /// looks at.
    pub(super) async fn settled(&self, operator: &Operator) -> Result<State> {
        self.observed().await?;
        let workloads = [
            (ApiResource::erase::<Deployment>(&()), json!({"spec": {"paused": true}})),
            (
                ApiResource::erase::<StatefulSet>(&()),
                json!({"spec": {"updateStrategy": {
                    "type": "OnDelete", "rollingUpdate": null,
                }}}),
            ),
        ];
        for (resource, pause) in workloads {
            let api = self.world.api(&resource);
            for workload in api.list(&ListParams::default()).await? {
                if workload.owner_references().iter().any(|owner| owner.name == self.own.1) {
                    api.patch(&workload.name_any(), &PatchParams::default(), &Patch::Merge(&pause)).await?;
                }
            }
        }
        self.state(operator).await
    }

    /// The object and all its children, once the operator has dealt with the object as it is.
    pub(super) async fn state(&self, operator: &Operator) -> Result<State> {
        let mark = operator.recorder.mark();
        let object = self.observed().await?;
        let mut children = BTreeMap::new();
        for (resource, child) in self.world.children(&object).await? {
            children.insert(self.title(&resource, &child.name_any()), self.essence(&child)?);
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
            self.world.outlast().await?;
            api.get(name).await?
        };
        let mark = operator.recorder.mark();
        let mut children = before.children.clone();
        for write in operator.recorder.since(before.mark).writes().iter() {
            let mut kinds = (self.world.case.children)().into_iter();
            let resource = kinds.find(|resource| resource.plural == write.resource);
            let child = write.name.as_deref().filter(|child| child.contains(name.as_str()));
            let (Some(resource), Some(child)) = (resource, child) else { continue };
            match self.world.api(&resource).get_opt(child).await? {
                // Another object of the same name may have children with similar names.
                Some(child) if !is_owned_by(&child, &object) => {}
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
        self.world.converged(&self.own.1).await
    }

    /// What a child is called in the lists, where the object has the name that it has in the example.
    fn title(&self, resource: &ApiResource, name: &str) -> String {
        format!("{} {}", resource.kind, name.replace(&self.own.1, &self.example))
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
        if let Some(spec) = fields.get_mut("spec") {
            forget_node_ports(spec);
            // The API server repeats the name of the account under the name that the field had once.
            if let Some(pod) = spec.pointer_mut("/template/spec").and_then(Value::as_object_mut) {
                pod.remove("serviceAccount");
            }
        }
        let mut text = child.to_string();
        if let Some(((_, name), example)) = &self.far {
            text = text.replace(name, example).replace(&in_variables(name), &in_variables(example));
        }
        let text = text.replace(&self.own.1, &self.example);
        Ok(serde_json::from_str(&text.replace(&in_variables(&self.own.1), &in_variables(&self.example)))?)
    }
}

/// A name as it is part of the names of variables.
fn in_variables(name: &str) -> String {
    name.to_ascii_uppercase().replace('-', "_")
}

/// Removes what the API server chooses for a Service that is reached through nodes.
fn forget_node_ports(spec: &mut Value) {
    let Some(fields) = spec.as_object_mut() else { return };
    fields.remove("externalTrafficPolicy");
    let ports = fields.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.remove("nodePort");
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

    /// The same without what is only true of this object in this namespace, to be compared with that of another.
    pub(super) fn elsewhere(&self, namespace: &str, uid: &str) -> Result<Self> {
        let impersonal = |value: &Value| {
            serde_json::from_str::<Value>(
                &value.to_string().replace(namespace, "NAMESPACE").replace(uid, "UID"),
            )
        };
        let mut children = BTreeMap::new();
        for (title, child) in &self.children {
            let mut child = impersonal(child)?;
            for (part, fields) in
                [("metadata", ["uid", "creationTimestamp"]), ("spec", ["clusterIP", "clusterIPs"])]
            {
                if let Some(part) = child.get_mut(part).and_then(Value::as_object_mut) {
                    part.retain(|field, _| !fields.contains(&field.as_str()));
                }
            }
            children.insert(title.clone(), child);
        }
        Ok(Self { children, status: impersonal(&self.status)?, mark: self.mark })
    }
}

/// The status, without times.
fn status(object: &DynamicObject) -> Value {
    let mut status = object.data["status"].clone();
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if let Some(fields) = condition.as_object_mut() {
            fields.remove("lastTransitionTime");
        }
    }
    status
}
