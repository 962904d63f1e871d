//! Snapshots to plan from, and what becomes of them when a plan is carried out, for any kind with a Deployment.

mod on_file;

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::names::annotations;
use thv_api::{Kind, Object};
use thv_plan::{
    Child, ChildKind, Children, ContainerFailure, Controller, Decision, Identity, LiveDeployment, LivePod,
    LiveWorkload, Plan, Planned, PodHealth, PodMaker, Read, Reference, References, Referent, Revision,
    Rollout, Scalable, Scaling, Settings, Snapshot, Token,
};

pub(crate) use on_file::{assert_children_on_file, assert_on_file, folder};

/// The uid of objects in tests.
pub(crate) const UID: &str = "6f3f2c9e-0001-4000-8000-000000000001";

/// A kind that scenes are about.
pub(crate) trait Subject: Planned<Live: Default> {
    /// The least spec that there can be.
    fn minimal() -> Value;

    /// What is there of the Deployment.
    fn workload(live: &mut Self::Live) -> &mut LiveWorkload;

    /// What else follows when pods of this revision are there.
    fn follow(_: &mut Self::Live, _: &Token) {}

    /// What becomes of a count of something else.
    fn scale(_: &mut Self::Live, scaling: &Scaling) {
        panic!("nobody knows what to do with {scaling:?}");
    }
}

/// An object and all that bears on it.
#[derive(Clone)]
pub(crate) struct Scene<S: Subject> {
    pub(crate) snapshot: Snapshot<S>,
}

impl<S: Subject> Scene<S> {
    /// An object `web` with these fields.
    pub(crate) fn of(fields: Value) -> Self {
        let mut spec = S::minimal();
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let object =
            json!({"kind": S::KIND, "metadata": {"name": "web", "namespace": "fleet"}, "spec": spec});
        Self::from_objects(vec![object], "web")
    }

    /// An object that one of the examples describes.
    pub(crate) fn example(file: &str, name: &str) -> Self {
        Self::from_objects(example(file), name)
    }

    /// An object among those that it refers to.
    pub(crate) fn from_objects(objects: Vec<Value>, name: &str) -> Self {
        let (subjects, others): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|object| object["kind"] == S::KIND);
        let owner = subjects.into_iter().find(|object| object["metadata"]["name"] == name);
        let mut owner: Object<S> = serde_json::from_value(owner.unwrap()).unwrap();
        owner.metadata.uid = Some(UID.to_owned());
        owner.metadata.generation = Some(1);
        owner.metadata.resource_version = Some("100".to_owned());
        let snapshot = Snapshot {
            owner: Arc::new(owner),
            references: References::new(),
            live: S::Live::default(),
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

    /// Adds or replaces an object that others can refer to.
    pub(crate) fn refer(&mut self, object: Value) {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        if let Some((reference, referent)) = referent(object, &name) {
            self.snapshot.references.insert(reference, Read::Found(referent));
        }
    }

    pub(crate) fn owner(&mut self) -> &mut Object<S> {
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

    /// Annotates the object as a user does.
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

    pub(crate) fn plan(&self) -> Plan<S> {
        S::plan(&self.snapshot)
    }

    pub(crate) fn status(&self) -> S::Status {
        self.plan().status
    }

    /// Plans and carries the plan out until nothing changes any more; the last plan.
    pub(crate) fn settle(&mut self) -> Plan<S> {
        for _ in 0..5 {
            let plan = self.plan();
            self.carry_out(&plan);
            if plan == self.plan() {
                return plan;
            }
        }
        panic!("this does not settle: {:#?}", self.plan());
    }

    /// What is there of the Deployment.
    pub(crate) fn workload(&mut self) -> &mut LiveWorkload {
        S::workload(&mut self.snapshot.live)
    }

    /// What an engine does with a plan, as far as the next plan depends on it.
    pub(crate) fn carry_out(&mut self, plan: &Plan<S>) {
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

    fn scale(&mut self, scaling: &Scaling) {
        match scaling.kind {
            Scalable::Deployment => {
                let live = self.workload().deployment.as_mut().unwrap();
                assert_eq!(live.identity, scaling.identity);
                live.replicas = scaling.replicas;
            }
            Scalable::StatefulSet => S::scale(&mut self.snapshot.live, scaling),
        }
    }

    fn apply_deployment(&mut self, body: &Value) {
        let before = self.workload().deployment.take();
        let applied =
            body["spec"].get("replicas").map(|count| i32::try_from(count.as_i64().unwrap()).unwrap());
        // The trap: what we applied and do not apply any more falls to one, unless it was parked; here a parked
        // count has been written already.
        let live = before.as_ref().map_or(1, |live| live.replicas);
        let on_pods = &body["spec"]["template"]["metadata"]["annotations"];
        let revision: Revision =
            body["metadata"]["annotations"][annotations::REVISION].as_str().unwrap().parse().unwrap();
        self.workload().deployment = Some(LiveDeployment {
            identity: before.map_or_else(|| identity("deployment"), |live| live.identity),
            controller: Some(controller(S::KIND, UID)),
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

    /// What Kubernetes makes of it: pods, and what follows from them, are there at once.
    fn roll_out(&mut self, number: u64) {
        let token = Token { uid: UID.to_owned(), number };
        S::follow(&mut self.snapshot.live, &token);
        let live = self.workload();
        for pod in &mut live.pods {
            pod.revision = Some(token.to_string());
        }
        let count = |wanted: fn(&PodHealth) -> bool| {
            i32::try_from(live.pods.iter().filter(|pod| wanted(&pod.health)).count()).unwrap()
        };
        let there = count(|health| !matches!(health, PodHealth::Terminating | PodHealth::Ended));
        let available = count(|health| *health == PodHealth::Ready);
        if let Some(deployment) = &mut live.deployment {
            deployment.rollout =
                Rollout { observed: true, replicas: there, updated: there, available, gave_up: None };
        }
    }

    /// Pods of the Deployment.
    pub(crate) fn with_pods(&mut self, health: &[PodHealth]) {
        self.workload().pods = pods("web", PodMaker::Deployment, health);
        let revision = self.workload().deployment.as_ref().and_then(|live| live.revision.clone());
        self.roll_out(revision.map_or(0, |revision| revision.number));
    }
}

pub(crate) fn pods(name: &str, maker: PodMaker, health: &[PodHealth]) -> Vec<LivePod> {
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

/// An object `x` with this uid, as what controls another.
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

/// The children of a plan.
pub(crate) fn children<S: Kind>(plan: &Plan<S>) -> &[Child] {
    match &plan.children {
        Children::Exactly(children) => children,
        Children::Keep => panic!("nothing is applied: {:?}", plan.status),
    }
}

/// The body of one child.
pub(crate) fn child<'a, S: Kind>(plan: &'a Plan<S>, kind: ChildKind, name: &str) -> &'a Value {
    let found = children(plan).iter().find(|child| child.kind() == kind && child.name() == name);
    found.unwrap_or_else(|| panic!("no {} {name}", kind.kind())).body()
}

/// The Deployment of a plan.
pub(crate) fn deployment<S: Kind>(plan: &Plan<S>) -> &Value {
    children(plan).iter().find(|child| child.kind() == ChildKind::Deployment).unwrap().body()
}

/// The pod template of a plan.
pub(crate) fn template<S: Kind>(plan: &Plan<S>) -> &Value {
    &deployment(plan)["spec"]["template"]
}

/// A variable of the first container.
pub(crate) fn variable<'a, S: Kind>(plan: &'a Plan<S>, name: &str) -> Option<&'a Value> {
    let env = template(plan)["spec"]["containers"][0]["env"].as_array().unwrap();
    env.iter().find(|entry| entry["name"] == name)
}
