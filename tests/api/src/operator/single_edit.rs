//! Every leaf of a full spec and of what it refers to, changed alone on the API server: exactly which fields follow.
//!
//! Examples, edits and expectations are those of the tests of plans. What is tried here is all that lies between an edit
//! and the objects: schemas, watches, the order of writes, defaults and ownership.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;
use thv_testbed::{Space, in_namespace};

use super::Operator;
use super::world::{self, Lane};

#[path = "../../../../crates/thv-plan/tests/mcp_server/edits.rs"]
mod edits;
#[path = "../../../../crates/thv-plan/tests/mcp_server/places.rs"]
pub(super) mod places;

/// A kind that has children, and everything that its test needs to know of it.
pub(super) struct Case {
    pub(super) kind: &'static str,
    /// An object with every field, and what it refers to.
    pub(super) example: &'static str,
    /// Its name.
    pub(super) name: &'static str,
    /// What follows from an edit of each leaf of its spec.
    near: &'static str,
    /// What follows from an edit of each leaf of what it refers to.
    far: &'static str,
    /// Where its spec names what it refers to.
    references: &'static [(&'static str, &'static str)],
    another: fn(&str, &Value) -> Value,
    far_another: fn(&str, &Value) -> Value,
    /// The kinds of its children.
    pub(super) children: fn() -> Vec<ApiResource>,
    /// Leaves that the API server does not let anybody change alone, and why.
    refused: &'static [(&'static str, &'static str)],
}

const MCP_SERVER: Case = Case {
    kind: "MCPServer",
    example: include_str!("../../../../crates/thv-plan/tests/examples/full.yaml"),
    name: "web",
    near: include_str!("../../../../crates/thv-plan/tests/golden/single-edit.txt"),
    far: include_str!("../../../../crates/thv-plan/tests/golden/far-edit.txt"),
    references: &[
        ("MCPOIDCConfig", "/spec/oidcConfigRef/name"),
        ("MCPTelemetryConfig", "/spec/telemetryConfigRef/name"),
        ("MCPToolConfig", "/spec/toolConfigRef/name"),
        ("MCPExternalAuthConfig", "/spec/externalAuthConfigRef/name"),
        ("MCPWebhookConfig", "/spec/webhookConfigRef/name"),
    ],
    another: edits::another,
    far_another: edits::far_another,
    children: || {
        vec![
            ApiResource::erase::<ConfigMap>(&()),
            ApiResource::erase::<Deployment>(&()),
            ApiResource::erase::<Role>(&()),
            ApiResource::erase::<RoleBinding>(&()),
            ApiResource::erase::<Service>(&()),
            ApiResource::erase::<ServiceAccount>(&()),
        ]
    },
    refused: &[
        ("/authzConfig/type", "the schema wants the field that belongs to the type"),
        ("/sessionStorage/provider", "the schema wants Redis where there are rate limits"),
        ("MCPOIDCConfig /spec/type", "the schema wants the field that belongs to the type"),
    ],
};

/// How many objects the leaves of the spec are shared out to.
const LANES: usize = 4;

/// What follows from each edit, by the leaf.
type Expectations = BTreeMap<String, BTreeSet<String>>;

/// Reads a list: a leaf, and below it what follows.
fn expectations(text: &str) -> Expectations {
    let mut all = Expectations::new();
    let mut leaf = String::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            None => {
                line.clone_into(&mut leaf);
                all.insert(leaf.clone(), BTreeSet::new());
            }
            // Children that are not applied stay as they are.
            Some(effect) if effect.starts_with("nothing: ") || effect == "not applied" => {}
            Some(effect) => drop(all.get_mut(&leaf).unwrap().insert(effect.to_owned())),
        }
    }
    all
}

#[tokio::test]
async fn g2_g4_every_leaf_changed_alone_on_the_api_server_has_exactly_its_effects() {
    in_namespace(async |space| every_leaf(&space, &MCP_SERVER).await).await;
}

async fn every_leaf(space: &Space, case: &'static Case) -> Result<()> {
    let operator = Operator::start(space).await?;
    world::make(space, case).await?;
    let (near, far) = (expectations(case.near), expectations(case.far));
    let mut lanes = Vec::new();
    for number in 0..LANES {
        let lane = Lane::start(space, case, &format!("near-{number}"), None).await?;
        let own: Vec<_> = near.iter().skip(number).step_by(LANES).collect();
        lanes.push(Track::Near(lane, own));
    }
    for (number, (kind, reference)) in case.references.iter().enumerate() {
        let lane = Lane::start(space, case, &format!("far-{number}"), Some((kind, reference))).await?;
        let own = far.iter().filter(|(leaf, _)| leaf.starts_with(&format!("{kind} "))).collect();
        lanes.push(Track::Far(lane, own));
    }
    let run = try_join_all(lanes.iter().map(|track| run(&operator, case, track))).await;
    let surprises = run.with_context(|| format!("the operator wrote:\n{}", tail(&operator)))?.concat();
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
    Ok(())
}

fn tail(operator: &Operator) -> String {
    let output = operator.subject.output();
    let lines: Vec<_> = output.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

/// An object, and the leaves that are tried on it.
enum Track<'a> {
    Near(Lane, Vec<(&'a String, &'a BTreeSet<String>)>),
    Far(Lane, Vec<(&'a String, &'a BTreeSet<String>)>),
}

async fn run(operator: &Operator, case: &'static Case, track: &Track<'_>) -> Result<Vec<String>> {
    let (lane, leaves, object, another) = match track {
        Track::Near(lane, leaves) => (lane, leaves, &lane.own, case.another),
        Track::Far(lane, leaves) => {
            (lane, leaves, lane.far.as_ref().context("nothing is far")?, case.far_another)
        }
    };
    let mut surprises = missing(case, track, &object.0.get(&object.1).await?)?;
    let mut before = lane.settled(operator).await?;
    for (leaf, expected) in leaves {
        // The leaves of the object itself are named from its spec on.
        let pointer = match leaf.split_once(' ') {
            Some((_, pointer)) => pointer.to_owned(),
            None => format!("/spec{leaf}"),
        };
        let short = leaf.split_once(' ').map_or(leaf.as_str(), |(_, pointer)| pointer);
        let live = world::value(&object.0.get(&object.1).await?, &pointer);
        let Some(live) = live else {
            surprises.push(format!("{leaf} is not there"));
            continue;
        };
        let is_refused = case.refused.iter().any(|(refused, _)| refused == leaf);
        match world::set(object, &pointer, &another(short, &live)).await {
            Err(error) => {
                if !is_refused {
                    surprises.push(format!("{leaf} is refused: {error:#}"));
                }
                continue;
            }
            Ok(()) if is_refused => surprises.push(format!("{leaf} is not refused")),
            Ok(()) => {}
        }
        let after = lane.dealt_with(operator, &before, expected).await;
        let after = after.with_context(|| format!("{leaf} was changed"))?;
        let found = before.changes(&after);
        if found != **expected {
            surprises.push(format!("{leaf}{}", told(expected, &found)));
        }

        // And back again: nothing of it is left.
        world::set(object, &pointer, &live).await?;
        let again = lane.dealt_with(operator, &after, expected).await;
        let again = again.with_context(|| format!("{leaf} was changed back"))?;
        let left: Vec<_> = before.changes(&again).into_iter().filter(|line| line != "new revision").collect();
        if !left.is_empty() {
            surprises.push(format!("{leaf}, changed back, leaves {left:?}"));
        }
        before = again;
    }
    let unseen = before.changes(&lane.settled(operator).await?);
    if !unseen.is_empty() {
        surprises.push(format!("{} was changed by somebody else: {unseen:?}", lane.own.1));
    }
    Ok(surprises)
}

fn told(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> String {
    let missing = expected.difference(found).map(|line| format!("\n  - {line}"));
    let more = found.difference(expected).map(|line| format!("\n  + {line}"));
    missing.chain(more).collect()
}

/// Leaves that are there and on no list.
fn missing(case: &Case, track: &Track<'_>, live: &DynamicObject) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let (text, prefix) = match track {
        Track::Near(..) => (case.near, String::new()),
        Track::Far(lane, _) => {
            let kind = &live.types.as_ref().context("an object has no kind")?.kind;
            assert!(lane.far.is_some());
            (case.far, format!("{kind} /spec"))
        }
    };
    edits::leaves(&live.data["spec"], "", &mut all);
    let known = expectations(text);
    let unknown = all.iter().map(|leaf| format!("{prefix}{leaf}")).filter(|leaf| {
        // Which type of settings there are cannot be changed alone.
        !known.contains_key(leaf) && leaf != "MCPExternalAuthConfig /spec/type"
    });
    Ok(unknown.map(|leaf| format!("{leaf} is on no list")).collect())
}
