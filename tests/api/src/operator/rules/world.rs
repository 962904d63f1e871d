//! The objects of a case in a namespace, and what the operator has sent about them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Exchange, Mark, Space, Verb, wait};

use super::CASES;
use super::case::{Case, api_of};
use crate::fixture::{apply, apply_status};
use crate::operator::Operator;

/// How many objects were made only to outlast something.
static PROBES: AtomicUsize = AtomicUsize::new(0);
/// How their names begin.
const PROBE: &str = "probe-";

/// An object: where, and its name.
pub(crate) type Place = (Api<DynamicObject>, String);

/// The plural name of a kind, and the name of an object of it.
pub(super) type Title = (String, String);

/// A namespace for the objects of a case.
#[derive(Clone)]
pub(super) struct World {
    pub(super) space: Space,
    pub(super) case: &'static Case,
    /// The objects of the kind.
    pub(super) own: Api<DynamicObject>,
}

impl World {
    pub(super) fn new(space: &Space, case: &'static Case) -> Result<Self> {
        Ok(Self { space: space.clone(), case, own: case.api(space)? })
    }

    /// The objects of a kind.
    pub(super) fn api(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.space.client(), self.space.namespace(), resource)
    }

    /// Makes what the example refers to, and waits until what is looked after of it is dealt with.
    pub(super) async fn refer(&self) -> Result<()> {
        self.put_all(&self.case.referents()?).await
    }

    /// The same for those who refer to the object of the example.
    pub(super) async fn be_referred_to(&self) -> Result<()> {
        self.put_all(&self.case.referrers()?).await
    }

    async fn put_all(&self, objects: &[Value]) -> Result<()> {
        for object in objects {
            put(&self.space, object, &name_of(object)).await?;
            self.observed(object).await?;
        }
        // What that leads to is over as well.
        let is_there = |kind: &World| objects.iter().any(|object| kind.case.is_of_kind(object));
        for kind in self.looked_after()?.iter().filter(|kind| is_there(kind)) {
            kind.outlast().await?;
        }
        Ok(())
    }

    /// Deletes those who refer to the object of the example, which may keep it from going.
    pub(super) async fn be_forgotten(&self) -> Result<()> {
        for object in self.case.referrers()? {
            api_of(&self.space, &object).delete(&name_of(&object), &DeleteParams::default()).await?;
        }
        Ok(())
    }

    /// Waits until the operator has dealt with an object, if it is one that is looked after.
    pub(super) async fn observed(&self, object: &Value) -> Result<()> {
        for world in self.looked_after()?.iter().filter(|world| world.case.is_of_kind(object)) {
            world.converged(&name_of(object)).await?;
        }
        Ok(())
    }

    /// The objects of the case, and those among what they live with that are looked after as well.
    pub(super) fn looked_after(&self) -> Result<Vec<Self>> {
        let all = self.case.all()?;
        let is_there = |case: &&&'static Case| all.iter().any(|object| case.is_of_kind(object));
        CASES.iter().filter(is_there).map(|case| Self::new(&self.space, case)).collect()
    }

    /// Makes an object of the kind, or changes its spec to this one, and waits until that is dealt with.
    pub(super) async fn make(&self, name: &str, spec: &Value) -> Result<DynamicObject> {
        put(&self.space, &self.case.manifest(name, spec)?, name).await?;
        self.converged(name).await
    }

    /// Waits until the operator has dealt with an object as it is.
    pub(super) async fn converged(&self, name: &str) -> Result<DynamicObject> {
        let generation = self.own.get(name).await?.metadata.generation;
        wait::until(&self.own, name, "the operator has dealt with it", |object| {
            object.metadata.generation >= generation && (self.case.is_converged)(object)
        })
        .await
    }

    /// Gives the operator time to do what it should not: what came before a new object has been seen before it.
    pub(super) async fn outlast(&self) -> Result<()> {
        let name = format!("{PROBE}{}", PROBES.fetch_add(1, Ordering::Relaxed));
        self.make(&name, &(self.case.minimal)()).await.map(drop)
    }

    /// The children of an object.
    pub(super) async fn children(&self, owner: &DynamicObject) -> Result<Vec<(ApiResource, DynamicObject)>> {
        let mut found = Vec::new();
        for resource in (self.case.children)() {
            for child in self.api(&resource).list(&ListParams::default()).await? {
                if is_owned_by(&child, owner) {
                    found.push((resource.clone(), child));
                }
            }
        }
        Ok(found)
    }
}

/// The objects of several cases in one namespace.
pub(super) fn worlds(space: &Space, cases: &[&'static Case]) -> Result<Vec<World>> {
    cases.iter().map(|case| World::new(space, case)).collect()
}

/// What is looked after among the objects of these worlds, each kind once.
pub(super) fn looked_after(worlds: &[World]) -> Result<Vec<World>> {
    let mut all = BTreeMap::new();
    for world in worlds {
        all.extend(world.looked_after()?.into_iter().map(|world| (world.case.kind, world)));
    }
    Ok(all.into_values().collect())
}

/// Gives the operator time to do what it should not, about objects of every kind.
pub(super) async fn outlast_all(worlds: &[World]) -> Result<()> {
    for kind in looked_after(worlds)? {
        kind.outlast().await?;
    }
    Ok(())
}

/// Waits until the operator has looked at what has changed in every world since `mark`, and has had time to do what it
/// should not. Where no request shows a pass, passes over later objects do.
pub(super) async fn looked_at(worlds: &[World], operator: &Operator, mark: Mark) -> Result<()> {
    for pulse in worlds.iter().filter_map(|world| world.case.pulse) {
        operator.recorder.seen(mark, &pulse()).await?;
    }
    outlast_all(worlds).await
}

/// Makes an object under this name, with its status if it has one.
pub(super) async fn put(space: &Space, object: &Value, name: &str) -> Result<Place> {
    let api = api_of(space, object);
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    apply(&api, name, "user", &object).await.with_context(|| format!("cannot make {name}"))?;
    if object.get("status").is_some() {
        apply_status(&api, name, "test", &object).await?;
    }
    Ok((api, name.to_owned()))
}

/// Whether an object is a child of another one.
pub(super) fn is_owned_by(child: &DynamicObject, owner: &DynamicObject) -> bool {
    child.owner_references().iter().any(|reference| Some(&reference.uid) == owner.metadata.uid.as_ref())
}

pub(super) fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Whether this is the name of an object that was made to outlast something, or of what belongs to one.
pub(super) fn is_probe(name: &str) -> bool {
    name.contains(PROBE)
}

/// The operator's writes since `mark`, events included, but for those about probes and leadership.
pub(super) fn writes(operator: &Operator, mark: Mark) -> Vec<Exchange> {
    let is_meant = |write: &&Exchange| {
        let named = |pointer: &str| write.body.as_ref().and_then(|body| body.pointer(pointer)?.as_str());
        // A creation has the name in its body, and an Event is about another object.
        let about = [write.name.as_deref(), named("/metadata/name"), named("/regarding/name")];
        write.resource != "leases" && !about.into_iter().flatten().any(is_probe)
    };
    operator.recorder.since(mark).writes().iter().filter(is_meant).cloned().collect()
}

/// How often the operator has applied each object since `mark`. Fails the test if it has written anything else.
///
/// An apply that was refused because a controller of Kubernetes was faster is sent again, and does not count.
#[track_caller]
pub(super) fn applies(operator: &Operator, mark: Mark) -> BTreeMap<Title, usize> {
    let mut counts = BTreeMap::new();
    for write in writes(operator, mark) {
        assert!(write.verb == Verb::Apply && write.subresource.is_none(), "{write}: {:?}", write.body);
        if write.told != Some(409) {
            let title = (write.resource.clone(), write.name.clone().unwrap_or_default());
            *counts.entry(title).or_default() += 1;
        }
    }
    counts
}

/// The last lines that the operator wrote.
pub(super) fn tail(operator: &Operator) -> String {
    let output = operator.subject.output();
    let lines: Vec<_> = output.lines().collect();
    format!("the operator wrote:\n{}", lines[lines.len().saturating_sub(40)..].join("\n"))
}
