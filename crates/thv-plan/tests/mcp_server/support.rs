//! Snapshots to plan from, and what becomes of them when a plan is carried out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use thv_api::Kind;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServer, MCPServerSpec,
    MCPServerStatus, MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::names::annotations;
use thv_plan::{
    Child, ChildKind, Children, ContainerFailure, Controller, Decision, Identity, LiveDeployment, LivePod,
    LiveStatefulSet, Plan, PodHealth, PodMaker, Read, Reference, References, Referent, Revision, Rollout,
    Scalable, Settings, Snapshot, Token, mcp_server,
};

/// The uid of servers in tests.
pub(crate) const UID: &str = "6f3f2c9e-0001-4000-8000-000000000001";

/// A server and all that bears on it.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) snapshot: Snapshot<MCPServerSpec>,
}

/// A folder of this crate's tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

impl Scene {
    /// A server `web` with an image and these fields.
    pub(crate) fn of(fields: Value) -> Self {
        let mut spec = json!({"image": "ghcr.io/example/web:1"});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let server = json!({"metadata": {"name": "web", "namespace": "fleet"}, "spec": spec});
        Self::from_objects(vec![server], "web")
    }

    /// A server that one of the examples describes.
    pub(crate) fn example(file: &str, name: &str) -> Self {
        Self::from_objects(example(file), name)
    }

    /// A server among the objects that it refers to.
    pub(crate) fn from_objects(objects: Vec<Value>, name: &str) -> Self {
        let (servers, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_server);
        let owner = servers.into_iter().find(|server| server["metadata"]["name"] == name);
        let mut owner: MCPServer = serde_json::from_value(owner.unwrap()).unwrap();
        owner.metadata.uid = Some(UID.to_owned());
        owner.metadata.generation = Some(1);
        owner.metadata.resource_version = Some("100".to_owned());
        let snapshot = Snapshot {
            owner: Arc::new(owner),
            references: References::new(),
            live: mcp_server::Live::default(),
            requested: BTreeMap::new(),
            settings: Arc::new(Settings::default()),
            now: "2026-11-15T10:00:00Z".parse().unwrap(),
        };
        let mut scene = Self { snapshot };
        for object in others {
            scene.refer(object);
        }
        scene
    }

    /// Adds or replaces an object that servers can refer to.
    pub(crate) fn refer(&mut self, object: Value) {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if let Some((reference, referent)) = referent(object, &name) {
            self.snapshot.references.insert(reference, Read::Found(referent));
        }
    }

    pub(crate) fn owner(&mut self) -> &mut MCPServer {
        Arc::make_mut(&mut self.snapshot.owner)
    }

    pub(crate) fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.snapshot.settings)
    }

    /// Changes the spec as a user does: the generation moves if anything changed.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        let before = serde_json::to_value(&self.snapshot.owner.spec).unwrap();
        let mut after = before.clone();
        change(&mut after);
        let owner = self.owner();
        owner.spec = serde_json::from_value(after).unwrap();
        if serde_json::to_value(&owner.spec).unwrap() != before {
            *owner.metadata.generation.as_mut().unwrap() += 1;
        }
        self.touch();
    }

    /// Sets one field of the spec.
    pub(crate) fn set(&mut self, field: &str, value: Value) {
        self.edit(|spec| spec[field] = value);
    }

    /// Annotates the server as a user does.
    pub(crate) fn annotate(&mut self, key: &str, value: &str) {
        self.owner().metadata.annotations.get_or_insert_default().insert(key.to_owned(), value.to_owned());
        self.touch();
    }

    fn touch(&mut self) {
        let version = self.snapshot.resource_version() + 1;
        self.owner().metadata.resource_version = Some(version.to_string());
    }

    /// Lets time pass.
    pub(crate) fn later(&mut self, at: &str) {
        self.snapshot.now = at.parse::<Timestamp>().unwrap();
    }

    pub(crate) fn plan(&self) -> Plan<MCPServerSpec> {
        mcp_server::plan(&self.snapshot)
    }

    pub(crate) fn status(&self) -> MCPServerStatus {
        self.plan().status
    }

    /// Plans and carries the plan out until nothing changes any more; the last plan.
    pub(crate) fn settle(&mut self) -> Plan<MCPServerSpec> {
        for _ in 0..5 {
            let plan = self.plan();
            self.carry_out(&plan);
            if plan == self.plan() {
                return plan;
            }
        }
        panic!("this does not settle: {:#?}", self.plan());
    }

    /// What an engine does with a plan, as far as the next plan depends on it.
    pub(crate) fn carry_out(&mut self, plan: &Plan<MCPServerSpec>) {
        if let Some(Decision::Mint(revision)) = &plan.revision {
            self.annotate(annotations::REVISION, &revision.to_string());
        }
        for scaling in plan.scalings.iter().filter(|scaling| scaling.before_children) {
            self.scale(scaling);
        }
        if let Children::Exactly(children) = &plan.children {
            let deployment = children.iter().find(|child| child.kind() == ChildKind::Deployment).unwrap();
            self.apply_deployment(deployment.body());
        }
        for scaling in plan.scalings.iter().filter(|scaling| !scaling.before_children) {
            self.scale(scaling);
        }
        for (key, value) in &plan.annotations {
            self.annotate(key, value);
        }
        self.owner().status = Some(plan.status.clone());
    }

    fn scale(&mut self, scaling: &thv_plan::Scaling) {
        match scaling.kind {
            Scalable::Deployment => {
                let live = self.snapshot.live.proxy.deployment.as_mut().unwrap();
                assert_eq!(live.identity, scaling.identity);
                live.replicas = scaling.replicas;
            }
            Scalable::StatefulSet => {
                let live = self.snapshot.live.backend.as_mut().unwrap();
                assert_eq!(live.identity, scaling.identity);
                live.replicas = scaling.replicas;
                let remembered = scaling.annotations.get(annotations::REPLICAS_BEFORE_STOP);
                live.replicas_before_stop = remembered.map(|count| count.parse().unwrap());
            }
        }
    }

    fn apply_deployment(&mut self, body: &Value) {
        let before = self.snapshot.live.proxy.deployment.take();
        let applied =
            body["spec"].get("replicas").map(|count| i32::try_from(count.as_i64().unwrap()).unwrap());
        // The trap: what we applied and do not apply any more falls to one, unless it was parked; here a parked
        // count has been written already.
        let live = before.as_ref().map_or(1, |live| live.replicas);
        let on_pods = &body["spec"]["template"]["metadata"]["annotations"];
        let revision: Revision =
            body["metadata"]["annotations"][annotations::REVISION].as_str().unwrap().parse().unwrap();
        self.snapshot.live.proxy.deployment = Some(LiveDeployment {
            identity: before.map_or_else(|| identity("deployment"), |live| live.identity),
            controller: Some(controller("MCPServer", UID)),
            replicas: applied.unwrap_or(live),
            replicas_are_ours: applied.is_some(),
            revision: Some(revision.clone()),
            stamp: on_pods[annotations::MCP_SERVER_GENERATION].as_str().map(|text| text.parse().unwrap()),
            restarted_at: on_pods[annotations::RESTARTED_AT].as_str().map(str::to_owned),
            config_hash: None,
            rollout: Rollout::default(),
        });
        self.roll_out(revision.number);
    }

    /// What Kubernetes makes of it: pods and the backend follow at once.
    fn roll_out(&mut self, number: u64) {
        let token = Token { uid: UID.to_owned(), number };
        let live = &mut self.snapshot.live;
        for pod in &mut live.proxy.pods {
            pod.revision = Some(token.to_string());
        }
        if let Some(backend) = &mut live.backend {
            backend.applied = Some(token);
        }
        let count = |wanted: fn(&PodHealth) -> bool| {
            i32::try_from(live.proxy.pods.iter().filter(|pod| wanted(&pod.health)).count()).unwrap()
        };
        let there = count(|health| !matches!(health, PodHealth::Terminating | PodHealth::Ended));
        let available = count(|health| *health == PodHealth::Ready);
        if let Some(deployment) = &mut live.proxy.deployment {
            deployment.rollout =
                Rollout { observed: true, replicas: there, updated: there, available, gave_up: None };
        }
    }

    /// Pods of the proxy.
    pub(crate) fn with_pods(&mut self, health: &[PodHealth]) {
        self.snapshot.live.proxy.pods = pods("web", PodMaker::Deployment, health);
        let revision = self.snapshot.live.proxy.deployment.as_ref().and_then(|live| live.revision.clone());
        self.roll_out(revision.map_or(0, |revision| revision.number));
    }

    /// A backend that the proxy brought up, with so many replicas of which so many are ready.
    pub(crate) fn with_backend(&mut self, replicas: i32, ready: i32) {
        let revision = self.snapshot.live.proxy.deployment.as_ref().and_then(|live| live.revision.as_ref());
        let number = revision.map_or(0, |revision| revision.number);
        self.snapshot.live.backend = Some(LiveStatefulSet {
            identity: identity("backend"),
            applied: Some(Token { uid: UID.to_owned(), number }),
            controller: Some(controller("MCPServer", UID)),
            replicas,
            replicas_before_stop: None,
            newest: Some("new".to_owned()),
            fixed: None,
            rollout: Rollout { observed: true, replicas, updated: replicas, available: ready, gave_up: None },
        });
    }

    /// Pods of the backend, of its newest revision.
    pub(crate) fn with_backend_pods(&mut self, health: &[PodHealth]) {
        let mut pods = pods("web-backend", PodMaker::StatefulSet, health);
        for pod in &mut pods {
            pod.revision = Some("new".to_owned());
        }
        self.snapshot.live.backend_pods = pods;
    }
}

fn pods(name: &str, maker: PodMaker, health: &[PodHealth]) -> Vec<LivePod> {
    let pod = |(index, health): (usize, &PodHealth)| LivePod {
        name: format!("{name}-{index}"),
        uid: format!("pod-{index}"),
        created: "2026-11-15T08:00:00Z".parse().unwrap(),
        maker,
        revision: None,
        health: health.clone(),
    };
    health.iter().enumerate().map(pod).collect()
}

/// A container `c` that does not run.
pub(crate) fn failing(reason: &str, exit_code: Option<i32>, needs_help: bool) -> PodHealth {
    let (container, reason) = ("c".to_owned(), reason.to_owned());
    PodHealth::Failing(ContainerFailure { container, reason, exit_code, needs_help })
}

/// The manifests of an example.
pub(crate) fn example(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder("examples").join(file)).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

/// Whether a manifest is that of a server, as it is when it does not say.
pub(crate) fn is_server(object: &Value) -> bool {
    object["kind"].as_str().is_none_or(|kind| kind == "MCPServer")
}

/// An object with this uid, as what controls another.
pub(crate) fn controller(kind: &str, uid: &str) -> Controller {
    Controller { kind: kind.to_owned(), name: "x".to_owned(), uid: uid.to_owned() }
}

pub(crate) fn identity(uid: &str) -> Identity {
    Identity { uid: uid.to_owned(), resource_version: "7".to_owned() }
}

fn referent(object: Value, name: &str) -> Option<(Reference, Referent)> {
    fn read<S: Kind>(object: Value, name: &str) -> (Reference, Referent) {
        let object: thv_api::Object<S> = serde_json::from_value(object).unwrap();
        (Reference::object::<S>(name), Referent::object(object))
    }
    let strings = |value: &Value| -> BTreeMap<String, String> {
        value.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect()
    };
    Some(match object["kind"].as_str().unwrap() {
        "Secret" => (Reference::secret(name), Referent::secret(name, strings(&object["stringData"]))),
        "ConfigMap" => (Reference::config_map(name), Referent::ConfigMap(Arc::new(strings(&object["data"])))),
        MCPGroupSpec::KIND => read::<MCPGroupSpec>(object, name),
        MCPOIDCConfigSpec::KIND => read::<MCPOIDCConfigSpec>(object, name),
        MCPTelemetryConfigSpec::KIND => read::<MCPTelemetryConfigSpec>(object, name),
        MCPToolConfigSpec::KIND => read::<MCPToolConfigSpec>(object, name),
        MCPExternalAuthConfigSpec::KIND => read::<MCPExternalAuthConfigSpec>(object, name),
        MCPWebhookConfigSpec::KIND => read::<MCPWebhookConfigSpec>(object, name),
        MCPAuthzConfigSpec::KIND => read::<MCPAuthzConfigSpec>(object, name),
        _ => return None,
    })
}

/// Compares a text with the one on file, or puts it there if `THV_BLESS` is set. What differs is shown, not all of it.
pub(crate) fn assert_on_file(file: &std::path::Path, text: &str) {
    if std::env::var_os("THV_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let recorded = std::fs::read_to_string(file).unwrap_or_default();
    if text != recorded {
        let missing = recorded.lines().filter(|line| !text.lines().any(|other| other == *line));
        let new = text.lines().filter(|line| !recorded.lines().any(|other| other == *line));
        let lines: Vec<String> =
            missing.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
        panic!(
            "{} is different; THV_BLESS=1 writes it anew if this is intended:\n{}",
            file.display(),
            lines.join("\n")
        );
    }
}

/// The children of a plan.
pub(crate) fn children(plan: &Plan<MCPServerSpec>) -> &[Child] {
    match &plan.children {
        Children::Exactly(children) => children,
        Children::Keep => panic!("nothing is applied: {:?}", plan.status.message),
    }
}

/// The body of one child.
pub(crate) fn child<'a>(plan: &'a Plan<MCPServerSpec>, kind: ChildKind, name: &str) -> &'a Value {
    let found = children(plan).iter().find(|child| child.kind() == kind && child.name() == name);
    found.unwrap_or_else(|| panic!("no {} {name}", kind.kind())).body()
}

/// The Deployment of a plan.
pub(crate) fn deployment(plan: &Plan<MCPServerSpec>) -> &Value {
    children(plan).iter().find(|child| child.kind() == ChildKind::Deployment).unwrap().body()
}

/// The pod template of a plan.
pub(crate) fn template(plan: &Plan<MCPServerSpec>) -> &Value {
    &deployment(plan)["spec"]["template"]
}

/// A variable of the proxy.
pub(crate) fn variable<'a>(plan: &'a Plan<MCPServerSpec>, name: &str) -> Option<&'a Value> {
    let env = template(plan)["spec"]["containers"][0]["env"].as_array().unwrap();
    env.iter().find(|entry| entry["name"] == name)
}

/// A condition of a status: status and reason.
pub(crate) fn condition<'a>(status: &'a MCPServerStatus, type_: &str) -> Option<(&'a str, &'a str)> {
    whole_condition(status, type_).map(|found| (found.status.as_str(), found.reason.as_str()))
}

pub(crate) fn whole_condition<'a>(status: &'a MCPServerStatus, type_: &str) -> Option<&'a Condition> {
    status.conditions.as_ref().unwrap().iter().find(|condition| condition.type_ == type_)
}
