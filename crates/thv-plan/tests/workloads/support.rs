//! Snapshots to plan from, and what becomes of them when a plan is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};
use thv_api::kinds::{EmbeddingServerSpec, MCPRegistrySpec};
use thv_api::names::annotations;
use thv_api::{Kind, Object};
use thv_plan::{
    Child, ChildKind, Children, ContainerFailure, Controller, Fixed, Identity, LiveDeployment, LivePod,
    LiveStatefulSet, Plan, Planned, PodHealth, PodMaker, References, Rollout, Settings, Snapshot,
};

use crate::on_file::folder;
use crate::places::{compare, compare_maps, fold};

/// The uid of objects in tests.
pub(crate) const UID: &str = "6f3f2c9e-0001-4000-8000-000000000001";

/// A kind with pods.
pub(crate) trait Subject: Planned<Live: Default> {
    /// The file with its example, and the name of the object in it.
    const EXAMPLE: (&'static str, &'static str);

    /// The workload of a plan becomes what is there.
    fn apply(live: &mut Self::Live, body: &Value);

    /// The pods that are there.
    fn pods(live: &mut Self::Live) -> &mut Vec<LivePod>;

    /// How far they are, if there is a workload.
    fn rollout(live: &mut Self::Live) -> Option<&mut Rollout>;
}

/// An object and all that bears on it.
#[derive(Clone)]
pub(crate) struct Scene<S: Subject> {
    pub(crate) snapshot: Snapshot<S>,
}

impl<S: Subject> Scene<S> {
    /// An object with these fields.
    pub(crate) fn of(name: &str, spec: &Value) -> Self {
        let object = json!({"metadata": {"name": name, "namespace": "fleet"}, "spec": spec});
        let mut owner: Object<S> = serde_json::from_value(object).unwrap();
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
        Self { snapshot }
    }

    /// The example, with every field.
    pub(crate) fn full() -> Self {
        let (file, name) = S::EXAMPLE;
        let text = std::fs::read_to_string(folder("examples").join(file)).unwrap();
        Self::among(serde_saphyr::from_multiple(&text).unwrap(), name)
    }

    /// One of these manifests.
    pub(crate) fn among(all: Vec<Value>, name: &str) -> Self {
        let is_meant = |object: &Value| object["kind"] == S::KIND && object["metadata"]["name"] == name;
        Self::of(name, &all.into_iter().find(is_meant).unwrap()["spec"])
    }

    pub(crate) fn settings(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.snapshot.settings)
    }

    /// Changes the spec as a user does: the generation moves if anything changed.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        let before = serde_json::to_value(&self.snapshot.owner.spec).unwrap();
        let mut after = before.clone();
        change(&mut after);
        let owner = Arc::make_mut(&mut self.snapshot.owner);
        owner.spec = serde_json::from_value(after).unwrap();
        if serde_json::to_value(&owner.spec).unwrap() != before {
            *owner.metadata.generation.as_mut().unwrap() += 1;
        }
    }

    pub(crate) fn plan(&self) -> Plan<S> {
        S::plan(&self.snapshot)
    }

    /// Plans and carries the plan out until nothing changes any more; the last plan.
    pub(crate) fn settle(&mut self) -> Plan<S> {
        for _ in 0..5 {
            let plan = self.plan();
            if let Children::Exactly(children) = &plan.children {
                S::apply(&mut self.snapshot.live, workload(children));
            }
            Arc::make_mut(&mut self.snapshot.owner).status = Some(plan.status.clone());
            if plan == self.plan() {
                return plan;
            }
        }
        panic!("this does not settle: {:#?}", self.plan());
    }

    /// Pods of the newest revision, as their controller sees them.
    pub(crate) fn with_pods(&mut self, revision: &str, health: &[PodHealth]) {
        let maker = match S::KIND {
            EmbeddingServerSpec::KIND => PodMaker::StatefulSet,
            _ => PodMaker::Deployment,
        };
        let pod = |(index, health): (usize, &PodHealth)| LivePod {
            name: format!("pod-{index}"),
            uid: format!("pod-{index}"),
            created: "2026-11-15T08:00:00Z".parse().unwrap(),
            maker,
            revision: Some(revision.to_owned()),
            health: health.clone(),
        };
        *S::pods(&mut self.snapshot.live) = health.iter().enumerate().map(pod).collect();
        let count = |is: fn(&PodHealth) -> bool| {
            i32::try_from(health.iter().filter(|health| is(health)).count()).unwrap()
        };
        let (replicas, available) = (count(|_| true), count(|health| *health == PodHealth::Ready));
        if let Some(rollout) = S::rollout(&mut self.snapshot.live) {
            *rollout = Rollout { observed: true, replicas, updated: replicas, available, gave_up: None };
        }
    }
}

impl Subject for EmbeddingServerSpec {
    const EXAMPLE: (&'static str, &'static str) = ("embedding-server.yaml", "embed");

    fn apply(live: &mut Self::Live, body: &Value) {
        let spec = &body["spec"];
        let claims = spec["volumeClaimTemplates"].as_array().cloned().unwrap_or_default();
        let defaulted = |mut claim: Value| {
            claim["status"] = json!({"phase": "Pending"});
            claim
        };
        let fixed = Fixed {
            service_name: spec["serviceName"].as_str().unwrap().to_owned(),
            selector: spec["selector"].clone(),
            volume_claim_templates: claims.into_iter().map(defaulted).collect(),
        };
        let before = live.stateful_set.take();
        if let Some(before) = before.as_ref().and_then(|before| before.fixed.as_deref()) {
            assert_eq!(before, &fixed, "the API server refuses that");
        }
        live.stateful_set = Some(LiveStatefulSet {
            identity: identity(),
            applied: None,
            controller: Some(controller("EmbeddingServer", UID)),
            replicas: i32::try_from(spec["replicas"].as_i64().unwrap()).unwrap(),
            replicas_before_stop: None,
            newest: Some("new".to_owned()),
            fixed: Some(Box::new(fixed)),
            rollout: before.map(|before| before.rollout).unwrap_or_default(),
        });
    }

    fn pods(live: &mut Self::Live) -> &mut Vec<LivePod> {
        &mut live.pods
    }

    fn rollout(live: &mut Self::Live) -> Option<&mut Rollout> {
        live.stateful_set.as_mut().map(|set| &mut set.rollout)
    }
}

impl Subject for MCPRegistrySpec {
    const EXAMPLE: (&'static str, &'static str) = ("registry.yaml", "shelf");

    fn apply(live: &mut Self::Live, body: &Value) {
        assert!(body["spec"].get("replicas").is_none(), "the number of pods is not ours");
        let hash = &body["spec"]["template"]["metadata"]["annotations"][annotations::CONFIG_HASH];
        let before = live.deployment.take();
        live.deployment = Some(LiveDeployment {
            identity: identity(),
            controller: Some(controller("MCPRegistry", UID)),
            replicas: before.as_ref().map_or(1, |before| before.replicas),
            replicas_are_ours: false,
            revision: None,
            stamp: None,
            restarted_at: None,
            config_hash: hash.as_str().map(str::to_owned),
            rollout: before.map(|before| before.rollout).unwrap_or_default(),
        });
    }

    fn pods(live: &mut Self::Live) -> &mut Vec<LivePod> {
        &mut live.pods
    }

    fn rollout(live: &mut Self::Live) -> Option<&mut Rollout> {
        live.deployment.as_mut().map(|deployment| &mut deployment.rollout)
    }
}

/// An object with this uid, as what controls another.
pub(crate) fn controller(kind: &str, uid: &str) -> Controller {
    Controller { kind: kind.to_owned(), name: "x".to_owned(), uid: uid.to_owned() }
}

fn identity() -> Identity {
    Identity { uid: "workload".to_owned(), resource_version: "7".to_owned() }
}

/// A container `c` that does not run.
pub(crate) fn failing(reason: &str, needs_help: bool) -> PodHealth {
    let (container, reason) = ("c".to_owned(), reason.to_owned());
    PodHealth::Failing(ContainerFailure { container, reason, exit_code: None, needs_help })
}

/// The children of a plan.
pub(crate) fn children<S: Kind>(plan: &Plan<S>) -> &[Child] {
    match &plan.children {
        Children::Exactly(children) => children,
        Children::Keep => panic!("the children cannot be told"),
    }
}

/// The child of a kind, of which there is one.
pub(crate) fn child<S: Kind>(plan: &Plan<S>, kind: ChildKind) -> &Value {
    children(plan).iter().find(|child| child.kind() == kind).unwrap().body()
}

/// The workload among children.
pub(crate) fn workload(children: &[Child]) -> &Value {
    let is_workload = |child: &&Child| child.kind().has_generation();
    children.iter().find(is_workload).unwrap().body()
}

/// The container that is ours, in the workload of a plan.
pub(crate) fn container<'a, S: Kind>(plan: &'a Plan<S>, name: &str) -> &'a Value {
    let all = workload(children(plan))["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    all.iter().find(|container| container["name"] == name).unwrap()
}

/// A condition of a plan: status and reason.
pub(crate) fn condition<'a, S: Planned>(plan: &'a Plan<S>, type_: &str) -> Option<(&'a str, &'a str)> {
    whole_condition(plan, type_).map(|found| (found.status.as_str(), found.reason.as_str()))
}

pub(crate) fn whole_condition<'a, S: Planned>(plan: &'a Plan<S>, type_: &str) -> Option<&'a Condition> {
    S::conditions(&plan.status).iter().find(|condition| condition.type_ == type_)
}

/// The fields of children, and of the status, that differ. What follows from a new digest is one line.
pub(crate) fn differences<S: Kind>(before: &Plan<S>, after: &Plan<S>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    match (&before.children, &after.children) {
        (Children::Exactly(one), Children::Exactly(other)) => {
            let by_name = |children: &[Child]| -> BTreeMap<String, Value> {
                let name = |child: &Child| format!("{} {}", child.kind().kind(), child.name());
                children.iter().map(|child| (name(child), child.body().clone())).collect()
            };
            compare_maps(&by_name(one), &by_name(other), "", &mut all);
        }
        (one, other) if one == other => {}
        _ => {
            all.insert("not applied".to_owned());
        }
    }
    let status = |plan: &Plan<S>| serde_json::to_value(&plan.status).unwrap();
    compare(&status(before), &status(after), "status", &mut all);
    fold(all)
}
