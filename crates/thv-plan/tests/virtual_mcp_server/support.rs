//! A virtual server among the objects that it refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};
use thv_api::kinds::{
    EmbeddingServerSpec, MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec,
    MCPRemoteProxySpec, MCPServerEntrySpec, MCPServerSpec, MCPTelemetryConfigSpec, MCPToolConfigSpec,
    VirtualMCPCompositeToolDefinitionSpec, VirtualMCPServer, VirtualMCPServerSpec,
};
use thv_api::{Kind, Object};
use thv_plan::{
    AnyObject, Child, ChildKind, Children, LiveWorkload, Plan, Planned, Read, Reference, References,
    Referent, Refers, Settings, Snapshot, Target,
};

use crate::scene::{Scene, Subject, UID};

impl Subject for VirtualMCPServerSpec {
    fn minimal() -> Value {
        json!({"groupRef": {"name": "team"}, "incomingAuth": {"type": "anonymous"}})
    }

    fn workload(live: &mut LiveWorkload) -> &mut LiveWorkload {
        live
    }
}

/// A virtual server among other objects.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) owner: VirtualMCPServer,
    others: Vec<Value>,
    pub(crate) live: <VirtualMCPServerSpec as Planned>::Live,
    pub(crate) settings: Settings,
}

impl World {
    /// A virtual server `hub` of the group `team` that anybody may call, with these fields, and these objects.
    pub(crate) fn new(fields: Value, others: &[Value]) -> Self {
        let mut spec = VirtualMCPServerSpec::minimal();
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let metadata = json!({
            "name": "hub", "namespace": "prod", "uid": UID, "generation": 1, "resourceVersion": "7",
        });
        let owner = json!({
            "apiVersion": VirtualMCPServer::api_version_text(), "kind": "VirtualMCPServer", "metadata": metadata,
            "spec": spec,
        });
        let mut all = vec![json!({"kind": "MCPGroup", "metadata": {"name": "team"}, "spec": {}})];
        all.extend(others.iter().cloned());
        Self {
            owner: serde_json::from_value(owner).unwrap(),
            others: all,
            live: thv_plan::LiveWorkload::default(),
            settings: Settings::default(),
        }
    }

    /// The virtual server of this name among the objects of manifests.
    pub(crate) fn among(objects: Vec<Value>, name: &str) -> Self {
        let (servers, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_server);
        let found = servers.into_iter().find(|server| server["metadata"]["name"] == name).unwrap();
        let mut owner: VirtualMCPServer = serde_json::from_value(found).unwrap();
        owner.metadata.uid = Some(UID.to_owned());
        owner.metadata.generation = Some(1);
        owner.metadata.resource_version = Some("100".to_owned());
        Self { owner, others, live: LiveWorkload::default(), settings: Settings::default() }
    }

    /// Adds an object, or puts it in the place of the one of its kind and name.
    pub(crate) fn put(&mut self, object: Value) {
        self.remove(object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        self.others.push(object);
    }

    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        self.others.retain(|other| other["kind"] != kind || other["metadata"]["name"] != name);
    }

    /// Changes the spec as a user does.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        assert!(self.try_edit(change), "that is no spec");
    }

    /// The same, if the outcome is a spec. The generation moves if anything changed.
    pub(crate) fn try_edit(&mut self, change: impl FnOnce(&mut Value)) -> bool {
        let before = serde_json::to_value(&self.owner.spec).unwrap();
        let mut after = before.clone();
        change(&mut after);
        let Ok(spec) = serde_json::from_value(after) else { return false };
        self.owner.spec = spec;
        if serde_json::to_value(&self.owner.spec).unwrap() != before {
            *self.owner.metadata.generation.as_mut().unwrap() += 1;
        }
        true
    }

    /// What is at a pointer of the spec.
    pub(crate) fn leaf(&self, pointer: &str) -> Value {
        serde_json::to_value(&self.owner.spec).unwrap().pointer(pointer).unwrap().clone()
    }

    /// Everything that the server refers to, as the engine reads it.
    pub(crate) fn references(&self) -> References {
        let mut known = References::new();
        loop {
            let wanted = VirtualMCPServerSpec::refs(&self.owner, &known, &self.settings);
            let missing: Vec<_> = wanted.into_iter().filter(|it| !known.contains(it)).collect();
            if missing.is_empty() {
                return known;
            }
            for reference in missing {
                let read = self.read(&reference);
                known.insert(reference, read);
            }
        }
    }

    fn read(&self, reference: &Reference) -> Read<Referent> {
        let strings = |value: &Value| -> BTreeMap<String, String> {
            let all = value.as_object().into_iter().flatten();
            all.map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect()
        };
        let found = |kind: &str, name: &str| {
            self.others.iter().find(|it| it["kind"] == kind && it["metadata"]["name"] == name)
        };
        match reference {
            Reference::Object(Target { kind, name }) | Reference::Status(Target { kind, name }) => {
                found(kind, name)
                    .map_or(Read::Absent, |object| Read::Found(Referent::Object(typed(object).0)))
            }
            Reference::ConfigMap(name) => found("ConfigMap", name).map_or(Read::Absent, |object| {
                Read::Found(Referent::ConfigMap(Arc::new(strings(&object["data"]))))
            }),
            Reference::Secret(name) => found("Secret", name).map_or(Read::Absent, |object| {
                Read::Found(Referent::secret(name, strings(&object["stringData"])))
            }),
            Reference::Referrers { kind, to } => {
                let members = self.others.iter().filter(|it| {
                    it["kind"] == *kind && it["spec"]["groupRef"]["name"].as_str() == Some(&to.name)
                });
                let name = |it: &Value| it["metadata"]["name"].as_str().unwrap().to_owned();
                let mut all: Vec<_> = members.map(|it| (name(it), Read::Found(typed(it).0))).collect();
                all.sort_by(|(one, _), (other, _)| one.cmp(other));
                Read::Found(Referent::Objects(all))
            }
            Reference::ReferredBy(_) => Read::Absent,
        }
    }

    fn snapshot(&self) -> Snapshot<VirtualMCPServerSpec> {
        Snapshot {
            owner: Arc::new(self.owner.clone()),
            requested: BTreeMap::new(),
            references: self.references(),
            live: self.live.clone(),
            settings: Arc::new(self.settings.clone()),
            now: "2026-11-16T10:00:00Z".parse().unwrap(),
        }
    }

    pub(crate) fn plan(&self) -> Plan<VirtualMCPServerSpec> {
        VirtualMCPServerSpec::plan(&self.snapshot())
    }

    /// Plans and carries the plan out until nothing changes any more; the last plan.
    pub(crate) fn settle(&mut self) -> Plan<VirtualMCPServerSpec> {
        let mut scene = Scene { snapshot: self.snapshot() };
        let plan = scene.settle();
        self.owner = scene.snapshot.owner.as_ref().clone();
        self.live = scene.snapshot.live;
        plan
    }

    /// The children that a server has with which nothing is wrong.
    pub(crate) fn children(&self) -> Vec<Child> {
        let plan = self.plan();
        match plan.children {
            Children::Exactly(children) => children,
            Children::Keep => panic!("{:#?}", plan.status),
        }
    }

    pub(crate) fn child(&self, kind: ChildKind) -> Value {
        let all = self.children();
        all.into_iter().find(|child| child.kind() == kind).unwrap().body().clone()
    }

    /// The configuration as it is read.
    pub(crate) fn config(&self) -> Value {
        let map = self.child(ChildKind::ConfigMap);
        serde_saphyr::from_str(map["data"]["config.yaml"].as_str().unwrap()).unwrap()
    }

    /// The container, and the spec of the pod.
    pub(crate) fn pod(&self) -> Value {
        self.child(ChildKind::Deployment)["spec"]["template"]["spec"].clone()
    }

    /// The variable of this name, as the container has it.
    pub(crate) fn variable(&self, name: &str) -> Value {
        let pod = self.pod();
        let all = pod["containers"][0]["env"].as_array().unwrap();
        all.iter().find(|it| it["name"] == name).cloned().unwrap_or_default()
    }

    /// The condition of this type: status, reason and message.
    pub(crate) fn condition(&self, type_: &str) -> (String, String, String) {
        let conditions = self.plan().status.conditions.unwrap();
        let found = conditions.into_iter().find(|condition| condition.type_ == type_);
        let Condition { status, reason, message, .. } = found.unwrap_or_else(|| panic!("no {type_}"));
        (status, reason, message)
    }

    pub(crate) fn has_condition(&self, type_: &str) -> bool {
        self.plan().status.conditions.unwrap().iter().any(|condition| condition.type_ == type_)
    }
}

/// Whether a manifest is that of a virtual server.
pub(crate) fn is_server(object: &Value) -> bool {
    object["kind"] == VirtualMCPServerSpec::KIND
}

/// An object as plans see it, and with the defaults that the API server gives it.
pub(crate) fn typed(object: &Value) -> (Arc<dyn AnyObject>, Value) {
    fn read<S: Kind>(object: &Value) -> (Arc<dyn AnyObject>, Value) {
        let mut object = object.clone();
        object["apiVersion"] = Object::<S>::api_version_text().into();
        let object: Object<S> = serde_json::from_value(object).unwrap();
        let value = serde_json::to_value(&object).unwrap();
        (Arc::new(object), value)
    }
    match object["kind"].as_str().unwrap() {
        EmbeddingServerSpec::KIND => read::<EmbeddingServerSpec>(object),
        MCPAuthzConfigSpec::KIND => read::<MCPAuthzConfigSpec>(object),
        MCPExternalAuthConfigSpec::KIND => read::<MCPExternalAuthConfigSpec>(object),
        MCPGroupSpec::KIND => read::<MCPGroupSpec>(object),
        MCPOIDCConfigSpec::KIND => read::<MCPOIDCConfigSpec>(object),
        MCPRemoteProxySpec::KIND => read::<MCPRemoteProxySpec>(object),
        MCPServerEntrySpec::KIND => read::<MCPServerEntrySpec>(object),
        MCPServerSpec::KIND => read::<MCPServerSpec>(object),
        MCPTelemetryConfigSpec::KIND => read::<MCPTelemetryConfigSpec>(object),
        MCPToolConfigSpec::KIND => read::<MCPToolConfigSpec>(object),
        VirtualMCPCompositeToolDefinitionSpec::KIND => read::<VirtualMCPCompositeToolDefinitionSpec>(object),
        other => panic!("unknown kind {other}"),
    }
}

/// An object of this kind and name.
pub(crate) fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A member of the group.
pub(crate) fn member(kind: &str, name: &str, more: Value) -> Value {
    let mut spec = json!({"groupRef": {"name": "team"}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object(kind, name, spec)
}

pub(crate) fn server(name: &str, more: Value) -> Value {
    let mut spec = json!({"image": "i"});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    member("MCPServer", name, spec)
}

pub(crate) fn entry(name: &str, more: Value) -> Value {
    let mut spec =
        json!({"remoteUrl": format!("https://mcp.{name}.example/mcp"), "transport": "streamable-http"});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    member("MCPServerEntry", name, spec)
}

/// Settings that inject a header from the Secret `keys`.
pub(crate) fn header(name: &str) -> Value {
    object(
        "MCPExternalAuthConfig",
        name,
        json!({"type": "headerInjection", "headerInjection": {
            "headerName": "X-Api-Key", "valueSecretRef": {"name": "keys", "key": name},
        }}),
    )
}

pub(crate) fn secret(name: &str, keys: &[&str]) -> Value {
    let data: BTreeMap<_, _> = keys.iter().map(|key| (*key, "hidden")).collect();
    json!({"kind": "Secret", "metadata": {"name": name}, "stringData": data})
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({"kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}
