//! Objects whose pods a user can give volumes to, and what is applied for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use thv_api::Object;
use thv_api::kinds::{
    EmbeddingServerSpec, MCPGroup, MCPGroupSpec, MCPRegistrySpec, MCPRemoteProxySpec, MCPServerSpec,
    VirtualMCPServerSpec,
};
use thv_plan::{
    ChildKind, Children, LiveDeployment, LivePod, LiveStatefulSet, Observe, Planned, PodSelector, Read,
    Reference, References, Referent, Scalable, Settings, Snapshot,
};

/// A kind whose objects take a pod template.
pub(crate) struct Subject {
    pub(crate) kind: &'static str,
    /// The container of ours that a template is merged into.
    pub(crate) container: &'static str,
    /// What is applied for an object with this template.
    pub(crate) applied: fn(template: &Value) -> Value,
}

/// All of them. The template of an `MCPServer` is for its backend, and what is applied holds it as an argument.
pub(crate) const SUBJECTS: [Subject; 5] = [
    Subject {
        kind: "VirtualMCPServer",
        container: "vmcp",
        applied: |template| {
            let spec = json!({
                "groupRef": {"name": "g"}, "incomingAuth": {"type": "anonymous"}, "podTemplateSpec": template,
            });
            applied::<VirtualMCPServerSpec>(spec, ChildKind::Deployment)
        },
    },
    Subject {
        kind: "EmbeddingServer",
        container: "embedding",
        applied: |template| {
            let spec = json!({"model": "m", "podTemplateSpec": template});
            applied::<EmbeddingServerSpec>(spec, ChildKind::StatefulSet)
        },
    },
    Subject {
        kind: "MCPRegistry",
        container: "registry-api",
        applied: |template| registry(json!({"podTemplateSpec": template})),
    },
    Subject {
        kind: "MCPRemoteProxy",
        container: "toolhive",
        applied: |template| {
            let spec = json!({"remoteUrl": "https://mcp.example.com", "podTemplateSpec": template});
            applied::<MCPRemoteProxySpec>(spec, ChildKind::Deployment)
        },
    },
    Subject {
        kind: "MCPServer",
        container: "mcp",
        applied: |template| {
            let spec = json!({"image": "i", "podTemplateSpec": template});
            applied::<MCPServerSpec>(spec, ChildKind::Deployment)
        },
    },
];

/// What is applied for a registry with these fields: it has lists of volumes and mounts beside its template.
pub(crate) fn registry(fields: Value) -> Value {
    let mut spec = json!({"configYAML": "sources: []"});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    applied::<MCPRegistrySpec>(spec, ChildKind::Deployment)
}

/// The child of a kind that is applied for an object with this spec, before there is anything else.
fn applied<S: Planned>(spec: Value, kind: ChildKind) -> Value {
    let owner: Object<S> = serde_json::from_value(json!({
        "apiVersion": Object::<S>::api_version_text(), "kind": S::KIND,
        "metadata": {"name": "x", "namespace": "ns", "uid": "u", "generation": 1, "resourceVersion": "7"},
        "spec": spec,
    }))
    .unwrap();
    let plan = S::plan(&Snapshot {
        live: S::live(&owner, &mut Nothing),
        references: references(&owner),
        owner: Arc::new(owner),
        requested: BTreeMap::new(),
        settings: Arc::new(Settings::default()),
        now: "2026-11-16T10:00:00Z".parse().unwrap(),
    });
    let Children::Exactly(children) = plan.children else { panic!("{}: {:#?}", S::KIND, plan.status) };
    children.iter().find(|child| child.kind() == kind).unwrap().body().clone()
}

/// There is a group with no members, and nothing else.
fn references<S: Planned>(owner: &Object<S>) -> References {
    let mut known = References::new();
    loop {
        let wanted = S::refs(owner, &known, &Settings::default());
        let missing: Vec<_> = wanted.into_iter().filter(|it| !known.contains(it)).collect();
        if missing.is_empty() {
            return known;
        }
        for reference in missing {
            let read = match &reference {
                Reference::Object(target) if target.kind == "MCPGroup" => {
                    let group = MCPGroup::new(&target.name, MCPGroupSpec::default());
                    Read::Found(Referent::Object(Arc::new(group)))
                }
                Reference::Referrers { .. } => Read::Found(Referent::Objects(Vec::new())),
                _ => Read::Absent,
            };
            known.insert(reference, read);
        }
    }
}

/// Nothing is there yet.
struct Nothing;

impl Observe for Nothing {
    fn deployment(&mut self, _: &str) -> Option<LiveDeployment> {
        None
    }

    fn stateful_set(&mut self, _: &str) -> Option<LiveStatefulSet> {
        None
    }

    fn pods(&mut self, _: PodSelector, _: &str) -> Vec<LivePod> {
        Vec::new()
    }

    fn autoscalers(&mut self, _: Scalable, _: &str) -> Vec<String> {
        Vec::new()
    }
}
