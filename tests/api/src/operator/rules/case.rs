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
#[path = "../../../../../crates/thv-plan/tests/scene/reference.rs"]
pub(super) mod reference;
#[path = "../../../../../crates/thv-plan/tests/mcp_server/references.rs"]
pub(super) mod references;
#[path = "../../../../../crates/thv-plan/tests/mcp_remote_proxy/remote_edits.rs"]
pub(super) mod remote_edits;
#[path = "../../../../../crates/thv-plan/tests/mcp_remote_proxy/remote_references.rs"]
pub(super) mod remote_references;
#[path = "../../../../../crates/thv-plan/tests/virtual_mcp_server/virtual_edits.rs"]
pub(super) mod virtual_edits;
#[path = "../../../../../crates/thv-plan/tests/virtual_mcp_server/virtual_references.rs"]
pub(super) mod virtual_references;
#[path = "../../../../../crates/thv-plan/tests/workloads/edits.rs"]
pub(super) mod workload_edits;

use reference::Reference;

use super::virtual_mcp_server::{VIRTUAL_MCP_SERVER, serve_embeddings};
use crate::operator::{Operator, Program};

/// What follows from an edit of each leaf of a spec.
#[derive(Clone, Copy)]
pub(super) enum Effects {
    /// A list: a leaf, and below it what follows.
    Listed(&'static str),
    /// The same from every leaf of every object, but for those that begin like this: the name of the object, and the
    /// leaf.
    Alike { all: &'static [&'static str], but: &'static [(&'static str, &'static [&'static str])] },
}

/// A kind that is looked after.
pub(crate) struct Case {
    /// The first program that looks after the kind; those that come later do as well.
    pub(crate) program: Program,
    pub(super) kind: &'static str,
    /// An object with every field. What it refers to comes before it, and who refers to it comes after it.
    pub(super) example: &'static str,
    /// Its name.
    pub(super) name: &'static str,
    /// Objects of the kind with what the one of the example cannot have as well, in the same order.
    pub(super) more: &'static str,
    /// Manifests of other cases, of which those of the kind are objects of this one as well.
    pub(super) shared: &'static str,
    /// A spec with no more than it needs.
    pub(super) minimal: fn() -> Value,
    /// Objects that are neither children nor referred to, but looked at.
    pub(super) companions: fn(&DynamicObject) -> Vec<Value>,
    /// The kinds of its children.
    pub(super) children: fn() -> Vec<ApiResource>,
    /// How many of its children make pods.
    pub(super) workloads: usize,
    /// Kinds that the operator watches and that have nothing to do with this one, unless the example has some.
    pub(super) strangers: &'static [&'static str],
    /// Whether the operator has dealt with an object as it is.
    pub(super) is_converged: fn(&DynamicObject) -> bool,
    /// What every pass over an object of the example or of `more` asks for once, and no pass over a minimal one, if
    /// passes ask for anything.
    pub(super) pulse: Option<fn() -> Pattern>,
    /// Has an object refer to a key of a Secret, which every pass over it then asks for, if an object can.
    pub(super) refer_to_secret: Option<fn(&mut Value, name: &str, key: &str)>,

    /// What follows from an edit of each leaf of its spec.
    pub(super) near: Effects,
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
    /// All objects of the example.
    pub(super) fn objects(&self) -> Result<Vec<Value>> {
        read(self.example)
    }

    /// All objects of the example and of `more`, each after what it refers to.
    pub(super) fn all(&self) -> Result<Vec<Value>> {
        let shared = read(self.shared)?.into_iter().filter(|object| self.is_of_kind(object)).collect();
        Ok([self.objects()?, read(self.more)?, shared].concat())
    }

    /// What the object of the example refers to.
    pub(super) fn referents(&self) -> Result<Vec<Value>> {
        Ok(self.part(self.example)?.0)
    }

    /// What the objects of the example and of `more` refer to.
    pub(super) fn all_referents(&self) -> Result<Vec<Value>> {
        Ok([self.referents()?, self.part(self.more)?.0].concat())
    }

    /// Who refers to the object of the example.
    pub(super) fn referrers(&self) -> Result<Vec<Value>> {
        Ok(self.part(self.example)?.1)
    }

    /// What comes before the last object of the kind, and what comes after it.
    fn part(&self, text: &str) -> Result<(Vec<Value>, Vec<Value>)> {
        let mut before = read(text)?;
        let end =
            before.iter().rposition(|object| self.is_of_kind(object)).map_or(before.len(), |last| last + 1);
        let after = before.split_off(end);
        before.retain(|object| !self.is_of_kind(object));
        Ok((before, after))
    }

    /// The objects of the kind among those of the example and of `more`.
    pub(super) fn of_kind(&self) -> Result<Vec<Value>> {
        Ok(self.all()?.into_iter().filter(|object| self.is_of_kind(object)).collect())
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

    /// The kind, as the API server knows it.
    pub(crate) fn resource(&self) -> Result<ApiResource> {
        Ok(resource_of(&self.full()?))
    }
}

/// The program that looks after the kinds of all cases.
pub(super) fn program_of(cases: &[&Case]) -> Program {
    cases.iter().map(|case| case.program).max().unwrap_or(Program::Shipped)
}

/// Starts an operator that looks after the kinds of all cases, with these arguments.
pub(super) async fn start(space: &Space, cases: &[&Case], arguments: &[&str]) -> Result<Operator> {
    let program = program_of(cases);
    // In boxes, because what a test waits for is otherwise part of its own frame, and a thread has 2 MiB.
    Box::pin(program.prepare(space)).await?;
    if cases.iter().any(|case| case.kind == VIRTUAL_MCP_SERVER.kind) {
        serve_embeddings(space);
    }
    Box::pin(Operator::run(program, space, &BTreeMap::new(), arguments)).await
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
pub(crate) fn resource_of(object: &Value) -> ApiResource {
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
