//! Every pair of a kind that refers and a kind that is referred to.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::super::difference::{Children, Places};
use super::super::shift::is_mark;
use super::Stage;
use super::table::{Edit, PAIRS, Pair, REFERENTS, Referent};
use crate::corpus::schema::{places, stored_schema, visit};
use crate::crds;

/// A pair with the name that both of its objects have.
fn named() -> impl Iterator<Item = (String, &'static Pair)> {
    PAIRS.iter().enumerate().map(|(number, pair)| (format!("pair-{number:02}"), pair))
}

#[tokio::test]
async fn for_every_pair_the_referrer_is_named_keeps_the_other_and_lets_it_go_with_the_event() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("MCPGroup", "elsewhere", json!({})).await?;
        refer(&stage).await?;
        edit_the_far_end(&stage).await?;
        let kept: Vec<_> = named().filter(|(_, pair)| pair.referent.is_kept()).collect();
        keep(&stage, &kept).await?;

        // Nobody looks at any of them as long as nothing happens.
        let mark = stage.operator.recorder.mark();
        let mut counts = Vec::new();
        for Referent { kind, .. } in REFERENTS {
            counts.push(stage.passes.over(kind).await?);
        }
        stage.calm().await?;
        for (Referent { kind, .. }, count) in REFERENTS.into_iter().zip(counts) {
            stage.passes.assert_none(kind, count, &stage.operator.recorder, mark).await?;
        }
        for (name, pair) in &kept {
            stage.requests(mark, pair.referent.kind, name).assert_empty("request about what is kept");
        }

        let_go(&stage, &kept).await
    })
    .await;
}

/// Makes both objects of every pair, the one that is referred to first, and waits until it names the other.
async fn refer(stage: &Stage) -> Result<()> {
    for (name, pair) in named() {
        stage.settle(pair.referent.kind, &name, (pair.referent.spec)()).await?;
        stage.make(pair.referrer, &name, pair.referrer_spec(&name)).await?;
    }
    for (name, pair) in named() {
        let (referrer, referent) = (pair.referrer, pair.referent.kind);
        let members = match (pair.referent.is_group(), referrer) {
            (true, "MCPServer") => "servers",
            (true, "MCPRemoteProxy") => "remoteProxies",
            (true, "MCPServerEntry") => "entries",
            _ => {
                stage.referred_by(referent, &name, &format!("{referrer} {name}")).await?;
                continue;
            }
        };
        let is_member = |group: &kube::api::DynamicObject| group.data["status"][members] == json!([name]);
        stage.until(referent, &name, "it has one member", is_member).await?;
        stage.referred_by(referent, &name, "").await?;
    }
    Ok(())
}

/// Edits what is referred to and nothing else, and shows which fields of the children of those who refer to it follow.
async fn edit_the_far_end(stage: &Stage) -> Result<()> {
    for (name, pair) in named() {
        let Some(Edit { spec, places }) = pair.edit else { continue };
        let owner = stage.until(pair.referrer, &name, "its children are there", is_applied).await?;
        let before = Children::of(&stage.space, &owner).await?;
        let old = stage.operator.deployment(&name).await?;
        stage.edit(pair.referent.kind, &name, spec()).await?;
        stage.operator.rolled(&old).await?;
        let after = Children::of(&stage.space, &owner).await?;
        let changed: Places = before.changes(&after).into_iter().filter(|place| !is_mark(place)).collect();
        let (map, file) = pair.config(&name);
        let expected: Places =
            places.iter().map(|place| format!("ConfigMap/{map} data[{file}].{place}")).collect();
        assert_eq!(changed, expected, "{} {}", pair.referrer, pair.referent.kind);
    }
    Ok(())
}

/// Whether the operator has made everything for an object, whose pods never run here.
fn is_applied(object: &kube::api::DynamicObject) -> bool {
    let status = &object.data["status"];
    let is_observed = status["observedGeneration"].as_i64() == object.metadata.generation;
    is_observed && status["message"].as_str().is_some_and(|message| message.ends_with(" is starting"))
}

/// Deletes what is referred to: it stays, and says who keeps it. Groups and composite tools go.
async fn keep(stage: &Stage, kept: &[(String, &Pair)]) -> Result<()> {
    for (name, pair) in named() {
        stage.delete(pair.referent.kind, &name).await?;
    }
    for (name, pair) in kept {
        let who = format!(": {} {name};", pair.referrer);
        let object = stage.says(pair.referent.kind, name, ("DeletionBlocked", "True"), &who).await?;
        assert_eq!(super::condition(&object, "DeletionBlocked")["reason"], "ReferencedByWorkloads");
    }
    for (name, pair) in named().filter(|(_, pair)| !pair.referent.is_kept()) {
        stage.gone(pair.referent.kind, &name).await?;
    }
    Ok(())
}

/// Takes every reference back: what was kept goes at once, by one write.
async fn let_go(stage: &Stage, kept: &[(String, &Pair)]) -> Result<()> {
    let mark = stage.operator.recorder.mark();
    for (name, pair) in kept {
        stage.edit(pair.referrer, name, pair.forget()).await?;
    }
    for (name, pair) in kept {
        stage.gone(pair.referent.kind, name).await?;
        assert_eq!(
            stage.writes(mark, pair.referent.kind, name),
            ["JsonPatch"],
            "{} {name}",
            pair.referent.kind
        );
        stage.assert_no_timed_requeue(pair.referent.kind, name);
    }
    Ok(())
}

/// The places of a schema that name an object of a kind that holds configuration, a group, or a composite tool.
fn references(schema: &Value) -> BTreeSet<String> {
    let is_reference = |place: &str| {
        let field = place.strip_suffix(".name").and_then(|holder| holder.rsplit('.').next());
        field.is_some_and(|field| {
            field.ends_with("ConfigRef")
                || ["authServerRef", "compositeToolRefs[]", "groupRef"].contains(&field)
        })
    };
    let all = places(schema).into_iter().map(|(place, _)| place);
    all.filter(|place| place.starts_with("spec.") && is_reference(place)).collect()
}

#[test]
fn every_field_that_can_refer_to_configuration_a_group_or_a_composite_tool_is_in_a_pair() -> Result<()> {
    for kind in ["MCPServer", "MCPRemoteProxy", "MCPServerEntry", "VirtualMCPServer"] {
        let schema = stored_schema(&crds::definition(kind)?)?;
        let (expected, mut found) = (references(&schema), BTreeSet::new());
        for (name, pair) in named().filter(|(_, pair)| pair.referrer == kind) {
            let object = json!({"spec": pair.referrer_spec(&name)});
            visit(&schema, &object, "", &mut |place, value| {
                if value.as_str() == Some(&name) {
                    found.insert(place.to_owned());
                }
            });
        }
        assert!(!expected.is_empty(), "{kind} refers to nothing");
        assert_eq!(found, expected, "{kind}");
    }
    Ok(())
}
