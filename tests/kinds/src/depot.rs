//! `Depot`: a workload with volumes and a key, which stays for as long as a Memo refers to it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube_core::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::{Column, Conditions, Kind, Object};
use thv_plan::{
    Child, ChildKind, Children, Deletion, Failure, Observe, Plan, Planned, Random, Reference, References,
    Refers, Settings, Snapshot, Target,
};

use crate::condition::{self, DeletionBlocked, Ready};
use crate::memo::MemoSpec;

/// What keeps a Depot from going before the Memos that refer to it.
pub const FINALIZER: &str = "depot.toolhive.stacklok.dev/finalizer";

/// Something to keep memos in.
pub type Depot = Object<DepotSpec>;

impl Kind for DepotSpec {
    type Status = DepotStatus;

    const KIND: &'static str = "Depot";
    const PLURAL: &'static str = "depots";
    const SINGULAR: &'static str = "depot";
    const SHORT_NAMES: &'static [&'static str] = &[];
    const COLUMNS: &'static [Column] = &[];
    const DESCRIPTION: &'static str = "Something to keep memos in.";
}

/// What a depot is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepotSpec {
    /// What its pods run.
    pub image: String,
    /// How much fits in. Nobody can change that later.
    pub size: String,
}

/// What has become of a depot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DepotStatus {
    /// What is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,
    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The Memos that refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memos: Option<Vec<String>>,
}

impl Refers for DepotSpec {
    const REFERS_TO: &'static [&'static str] = &[];

    fn refs(depot: &Depot, _: &References, _: &Settings) -> BTreeSet<Reference> {
        [Reference::referrers::<MemoSpec, Self>(name_of(depot))].into()
    }
}

impl Planned for DepotSpec {
    type Live = ();

    const FINALIZER: Option<&'static str> = Some(FINALIZER);
    const DELETION: Deletion<Self> = Deletion::BlockedWhileReferenced { status: blocked_status };

    fn live(_: &Depot, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let depot = &*snapshot.owner;
        let observation = Observation::new(snapshot.generation(), snapshot.now, conditions(depot));
        let memos = snapshot.references.referrers::<MemoSpec, Self>(snapshot.name()).into_iter();
        let status = DepotStatus {
            conditions: Some(vec![observation.condition(Ready::AsWanted, "everything is applied")]),
            observed_generation: Some(snapshot.generation()),
            memos: Some(memos.map(|(name, _)| name.to_owned()).collect()),
        };
        Plan::new(Children::Exactly(vec![key(depot), shelves(depot)]), status)
    }

    fn failing_status(
        before: Option<&DepotStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> DepotStatus {
        let mut status = before.cloned().unwrap_or_default();
        set(status.conditions.get_or_insert_default(), condition::failed(observation, failure));
        DepotStatus { observed_generation: Some(observation.generation()), ..status }
    }

    fn conditions(status: &DepotStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut DepotStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        condition::polarity(type_)
    }
}

fn name_of(depot: &Depot) -> &str {
    depot.metadata.name.as_deref().unwrap_or_default()
}

fn conditions(depot: &Depot) -> &[Condition] {
    depot.status.as_ref().map(DepotSpec::conditions).unwrap_or_default()
}

fn labels(depot: &Depot) -> BTreeMap<String, String> {
    [("depot".to_owned(), name_of(depot).to_owned())].into()
}

fn metadata(depot: &Depot) -> Value {
    json!({"labels": labels(depot), "ownerReferences": [depot.controller_owner_ref(&())]})
}

/// The key to it, which is made up once.
fn key(depot: &Depot) -> Child {
    let random = Random { key: "key".to_owned(), bytes: 16 };
    let body = json!({"metadata": metadata(depot), "type": "Opaque"});
    Child::random_secret(&format!("{}-key", name_of(depot)), body, random).identified_by(labels(depot))
}

fn shelves(depot: &Depot) -> Child {
    let labels = labels(depot);
    let container = json!({
        "name": "depot", "image": depot.spec.image, "volumeMounts": [{"name": "shelf", "mountPath": "/shelf"}],
    });
    let claim = json!({
        "metadata": {"name": "shelf"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": depot.spec.size}}},
    });
    let body = json!({
        "metadata": metadata(depot),
        "spec": {
            "serviceName": name_of(depot),
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            "volumeClaimTemplates": [claim],
        },
    });
    Child::new(ChildKind::StatefulSet, name_of(depot), body).identified_by(labels)
}

fn blocked_status(depot: &Depot, observation: &Observation<'_>, referrers: &[Target]) -> DepotStatus {
    let names: Vec<String> = referrers.iter().map(|Target { kind, name }| format!("{kind} {name}")).collect();
    let message =
        format!("it is being deleted, and goes when nobody refers to it any more: {}", names.join(", "));
    DepotStatus {
        conditions: Some(vec![
            observation.condition(Ready::Deleting, "it is being deleted"),
            observation.condition(DeletionBlocked::Referenced, message),
        ]),
        observed_generation: Some(observation.generation()),
        memos: depot.status.as_ref().and_then(|status| status.memos.clone()),
    }
}
