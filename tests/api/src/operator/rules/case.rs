//! What the rules need to know of a kind.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::Api;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use thv_testbed::{Pattern, Space};

#[path = "../../../../../crates/thv-plan/tests/mcp_server/edits.rs"]
pub(super) mod edits;
#[path = "../../../../../crates/thv-plan/tests/mcp_server/places.rs"]
pub(super) mod places;
#[path = "../../../../../crates/thv-plan/tests/mcp_server/references.rs"]
pub(super) mod references;

use references::Reference;

use crate::operator::{Operator, Program};

/// A kind that has children.
pub(crate) struct Case {
    /// The first program that looks after the kind; those that come later do as well.
    pub(crate) program: Program,
    pub(super) kind: &'static str,
    /// An object with every field, and what it refers to.
    pub(super) example: &'static str,
    /// Its name.
    pub(super) name: &'static str,
    /// Objects of the kind that refer to what the one of the example cannot refer to as well, and that.
    pub(super) more: &'static str,
    /// A spec with no more than it needs.
    pub(super) minimal: fn() -> Value,
    /// Objects that are neither children nor referred to, but looked at.
    pub(super) companions: fn(&DynamicObject) -> Vec<Value>,
    /// The kinds of its children.
    pub(super) children: fn() -> Vec<ApiResource>,
    /// How many of its children make pods.
    pub(super) workloads: usize,
    /// Kinds that the operator watches and that have nothing to do with this one.
    pub(super) strangers: &'static [&'static str],
    /// Whether the operator has dealt with an object as it is.
    pub(super) is_converged: fn(&DynamicObject) -> bool,
    /// What every pass over an object of the example or of `more` asks for once, and no pass over a minimal one.
    pub(super) pulse: fn() -> Pattern,
    /// Has an object refer to a key of a Secret, which every pass over it then asks for.
    pub(super) refer_to_secret: fn(&mut Value, name: &str, key: &str),

    /// What follows from an edit of each leaf of its spec.
    pub(super) near: &'static str,
    /// What follows from an edit of each leaf of what it refers to.
    pub(super) far: &'static str,
    /// What the objects of the example and of `more` refer to.
    pub(super) references: &'static [Reference],
    pub(super) another: fn(&str, &Value) -> Value,
    pub(super) far_another: fn(&str, &Value) -> Value,
    /// Leaves that the API server does not let anybody change alone, and why.
    pub(super) refused: &'static [(&'static str, &'static str)],

    /// Fields of the spec that are left to others where others write.
    pub(super) left: &'static [&'static str],
    /// What another controller applies of the spec.
    pub(super) theirs: fn() -> Value,
    /// An edit that has workloads applied again, and leaves to others what is theirs.
    pub(super) edit: fn() -> Value,
    /// An edit of the example that takes every kind of write: children change and go, and counts are handed over.
    pub(super) change: fn() -> Value,
    /// What stays of the example when it is taken back, and why.
    pub(super) stays: &'static [(&'static str, &'static str)],
}

impl Case {
    /// Starts an operator that looks after the kind.
    pub(super) async fn start(&self, space: &Space) -> Result<Operator> {
        Operator::start_as(self.program, space, &BTreeMap::new()).await
    }

    /// All objects of the example.
    pub(super) fn objects(&self) -> Result<Vec<Value>> {
        read(self.example)
    }

    /// All objects of the example and of `more`.
    pub(super) fn all(&self) -> Result<Vec<Value>> {
        Ok([self.objects()?, read(self.more)?].concat())
    }

    /// Whether a manifest is of the kind itself, and not of something that it refers to.
    pub(super) fn is_of_kind(&self, object: &Value) -> bool {
        object["kind"] == self.kind
    }

    /// The object of the example.
    pub(super) fn full(&self) -> Result<Value> {
        named(&self.objects()?, self.kind, self.name).cloned()
    }

    /// A manifest with this name and spec.
    pub(super) fn manifest(&self, name: &str, spec: &Value) -> Result<Value> {
        let full = self.full()?;
        Ok(json!({
            "apiVersion": full["apiVersion"], "kind": full["kind"], "metadata": {"name": name}, "spec": spec,
        }))
    }

    /// The objects of the kind.
    pub(crate) fn api(&self, space: &Space) -> Result<Api<DynamicObject>> {
        Ok(api_of(space, &self.full()?))
    }
}

/// Manifests that go into whatever namespace there is.
fn read(text: &str) -> Result<Vec<Value>> {
    let mut all: Vec<Value> = serde_saphyr::from_multiple(text)?;
    for object in &mut all {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
    }
    Ok(all)
}

/// The object of a kind and a name.
pub(super) fn named<'a>(all: &'a [Value], kind: &str, name: &str) -> Result<&'a Value> {
    let found = all.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.with_context(|| format!("no example has a {kind} {name}"))
}

/// The kind of an object, as the API server knows it.
pub(super) fn resource_of(object: &Value) -> ApiResource {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")))
}

/// The objects of the kind that this one is of.
pub(crate) fn api_of(space: &Space, object: &Value) -> Api<DynamicObject> {
    Api::namespaced_with(space.client(), space.namespace(), &resource_of(object))
}

/// Whether the status is about the object as it is.
pub(super) fn is_observed(object: &DynamicObject) -> bool {
    let observed = object.data["status"]["observedGeneration"].as_i64();
    observed.is_some() && observed >= object.metadata.generation
}
