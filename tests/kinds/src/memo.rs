//! `Memo`: a text about a server, in a ConfigMap.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube_core::Resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thv_api::conditions::{Observation, Polarity, set};
use thv_api::kinds::MCPServerSpec;
use thv_api::{Column, Conditions, Kind, Object};
use thv_plan::{
    Child, ChildKind, Children, Deletion, Failure, Observe, Plan, Planned, Read, Reference, References,
    Refers, Settings, Snapshot,
};

use crate::condition::{self, Ready, TextTooLong};
use crate::depot::DepotSpec;

/// The longest text that anybody reads, in bytes.
const READABLE: usize = 40;

/// A text about a server.
pub type Memo = Object<MemoSpec>;

impl Kind for MemoSpec {
    type Status = MemoStatus;

    const KIND: &'static str = "Memo";
    const PLURAL: &'static str = "memos";
    const SINGULAR: &'static str = "memo";
    const SHORT_NAMES: &'static [&'static str] = &[];
    const COLUMNS: &'static [Column] = &[];
    const DESCRIPTION: &'static str = "A text about a server.";
}

/// What a memo says, and about what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoSpec {
    /// The text.
    pub text: String,
    /// The `MCPServer` that it is about.
    pub server_ref: Name,
    /// The Depot that it is kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depot_ref: Option<Name>,
    /// A Secret whose keys it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<Name>,
}

/// The name of another object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Name {
    /// It.
    pub name: String,
}

/// What has become of a memo.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoStatus {
    /// What is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,
    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The image of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Refers for MemoSpec {
    const REFERS_TO: &'static [&'static str] = &[DepotSpec::KIND, MCPServerSpec::KIND];

    fn refs(memo: &Memo, _: &References, _: &Settings) -> BTreeSet<Reference> {
        let MemoSpec { text: _, server_ref, depot_ref, secret_ref } = &memo.spec;
        let depot = depot_ref.iter().map(|depot| Reference::object::<DepotSpec>(&depot.name));
        let secret = secret_ref.iter().map(|secret| Reference::secret(&secret.name));
        [Reference::object::<MCPServerSpec>(&server_ref.name)]
            .into_iter()
            .chain(depot)
            .chain(secret)
            .collect()
    }
}

impl Planned for MemoSpec {
    type Live = ();

    const FINALIZER: Option<&'static str> = None;
    const DELETION: Deletion<Self> = Deletion::Nothing;

    fn live(_: &Memo, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let MemoSpec { text, server_ref, depot_ref, secret_ref } = &snapshot.owner.spec;
        let server = snapshot.references.object::<MCPServerSpec>(&server_ref.name).found();
        let mut data =
            json!({"text": text, "server": server_ref.name, "exists": server.is_some().to_string()});
        let mut say = |key: &str, value: Option<Value>| {
            if let (Some(fields), Some(value)) = (data.as_object_mut(), value) {
                fields.insert(key.to_owned(), value);
            }
        };
        let image = server.map(|server| server.spec.image.clone());
        say("image", image.as_ref().map(|image| json!(image)));
        say("depot", depot_ref.as_ref().map(|depot| json!(depot.name)));
        say("secret", secret_ref.as_ref().map(|secret| json!(keys(&snapshot.references, &secret.name))));

        let labels = [("memo".to_owned(), snapshot.name().to_owned())].into();
        let body = json!({
            "metadata": {"labels": labels, "ownerReferences": [snapshot.owner.controller_owner_ref(&())]},
            "data": data,
        });
        let child = Child::new(ChildKind::ConfigMap, &format!("{}-memo", snapshot.name()), body);
        Plan::new(Children::Exactly(vec![child.identified_by(labels)]), status(snapshot, image))
    }

    fn failing_status(
        before: Option<&MemoStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MemoStatus {
        let mut status = before.cloned().unwrap_or_default();
        set(status.conditions.get_or_insert_default(), condition::failed(observation, failure));
        MemoStatus { observed_generation: Some(observation.generation()), ..status }
    }

    fn conditions(status: &MemoStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MemoStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        condition::polarity(type_)
    }
}

/// The name of a Secret and its keys.
fn keys(references: &References, name: &str) -> String {
    match references.secret(name) {
        Read::Found(keys) => {
            format!("{name}: {}", keys.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
        }
        Read::Absent | Read::Malformed(_) => format!("{name} is not there"),
    }
}

fn status(snapshot: &Snapshot<MemoSpec>, image: Option<String>) -> MemoStatus {
    let MemoSpec { text, server_ref, .. } = &snapshot.owner.spec;
    let live = snapshot.owner.status.as_ref().map(MemoSpec::conditions).unwrap_or_default();
    let observation = Observation::new(snapshot.generation(), snapshot.now, live);
    let ready = if image.is_some() {
        observation.condition(Ready::AsWanted, "the server is there")
    } else {
        let message = format!("there is no MCPServer {}: make it, or name another one", server_ref.name);
        observation.condition(Ready::ServerNotFound, message)
    };
    let length = if text.len() > READABLE {
        observation.condition(TextTooLong::TooLong, "nobody reads that much: shorten the text")
    } else {
        observation.condition(TextTooLong::Fits, "the text is short")
    };
    MemoStatus {
        conditions: Some(vec![ready, length]),
        observed_generation: Some(snapshot.generation()),
        image,
    }
}
