//! What is in the way of a migration: refusals, and other writers.

use anyhow::Result;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{Exchange, Fault, Mark, Moment, Pattern, RequestLog};

use super::super::alone::on_own_cluster;
use super::stage::{Operator, RELICS, Stage, relic, rewrites, trimming};
use crate::fixture::stored_versions;

/// How often an Event was published that something failed.
fn failures_told(operator: &Operator, mark: Mark) -> usize {
    let events = operator.recorder.since(mark).only(&Pattern::write().of("events"));
    let is_failure = |reason: &Value| reason == "StorageVersionMigrationFailed";
    events.iter().filter(|it| it.body.as_ref().is_some_and(|event| is_failure(&event["reason"]))).count()
}

#[tokio::test]
async fn an_object_that_is_refused_keeps_the_former_version_listed_and_is_told_until_it_is_accepted()
-> Result<()> {
    on_own_cluster(async |bed| {
        let (stage, operator) = Stage::with_relics(bed, 3).await?;
        let mark = operator.recorder.mark();
        operator.recorder.fail(rewrites().named(&relic(1)), usize::MAX, Fault::Answer(422));
        // This one is stored anew, but the operator never hears of it.
        operator.recorder.fail(rewrites().named(&relic(2)), 1, Fault::CommitThenCut);
        // An API server that does not know of the version yet says the same as if the object were gone, but for its name.
        operator.recorder.fail(rewrites().named(&relic(0)), 1, Fault::Answer(404));
        stage.store_relics_as("v1beta1").await?;
        let told = operator.event(mark, "StorageVersionMigrationFailed").await?;
        let note = told["note"].as_str().unwrap_or_default();
        assert!(note.contains("the API server refuses Relic default/relic-001: request"), "{note}");
        assert_eq!((&told["type"], &told["action"]), (&json!("Warning"), &json!("RestoreCRs")));
        assert_eq!(
            (&told["regarding"]["name"], &told["related"]["name"]),
            (&json!(RELICS), &json!(relic(1)))
        );
        // It is tried again, and the others are not.
        let tries = |log: &RequestLog| (log.len() >= 4).then_some(());
        operator.recorder.until(mark, &rewrites().named(&relic(1)), tries).await?;
        assert_eq!(operator.rewrites(mark, &relic(0)), [Some(404), Some(200)]);
        assert_eq!(operator.rewrites(mark, &relic(2)), [None, Some(200)]);
        assert_eq!(stored_versions(&stage.definitions.get(RELICS).await?), ["v1alpha1", "v1beta1"]);
        operator.recorder.since(mark).only(&trimming(RELICS)).assert_empty("trimming");

        operator.recorder.heal();
        operator.trims(&stage, RELICS, "v1beta1").await?;
        operator.event(mark, "StorageVersionMigrationSucceeded").await?;
        assert_eq!(operator.rewrites(mark, &relic(0)), [Some(404), Some(200)]);
        assert_eq!(operator.rewrites(mark, &relic(1)).last(), Some(&Some(200)));
        stage.serve_relics_only_as("v1beta1").await?;
        assert_eq!(stage.versions().await?.len(), 3);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_others_write_during_a_pass_stays_and_a_crd_that_changes_is_not_trimmed_to_what_it_was()
-> Result<()> {
    on_own_cluster(async |bed| {
        let (stage, operator) = Stage::with_relics(bed, 4).await?;
        let mark = operator.recorder.mark();
        let mut first = operator.recorder.breakpoint(rewrites().named(&relic(0)), 0, Moment::Before);
        // Of this one, somebody is always faster.
        operator.recorder.fail(rewrites().named(&relic(2)), 3, Fault::Answer(409));
        stage.store_relics_as("v1beta1").await?;
        first.hit().await?;
        let relics = stage.relics("v1beta1");
        let theirs = Patch::Merge(json!({"metadata": {"labels": {"theirs": "yes"}}}));
        relics.patch(&relic(0), &PatchParams::default(), &theirs).await?;
        // This one was on the list.
        relics.delete(&relic(3), &DeleteParams::default()).await?;
        first.release();
        let given_up =
            |log: &RequestLog| (log.iter().filter(|it| it.told.is_some()).count() == 3).then_some(());
        operator.recorder.until(mark, &rewrites().named(&relic(2)), given_up).await?;
        assert_eq!(operator.rewrites(mark, &relic(0)), [Some(409), Some(200)]);
        assert_eq!(operator.rewrites(mark, &relic(1)), [Some(200)]);
        assert_eq!(relics.get(&relic(0)).await?.labels().get("theirs").map(String::as_str), Some("yes"));

        // Contested objects are tried again after a while, or when the CRD changes.
        let poke = Patch::Merge(json!({"metadata": {"annotations": {"poke": "1"}}}));
        stage.definitions.patch(RELICS, &PatchParams::default(), &poke).await?;
        operator.trims(&stage, RELICS, "v1beta1").await?;
        operator.rests(mark, RELICS).await?;
        assert_eq!(operator.rewrites(mark, &relic(2)), [Some(409), Some(409), Some(409), Some(200)]);
        assert_eq!(operator.rewrites(mark, &relic(0)).len(), 2, "the others are remembered");
        assert_eq!(operator.rewrites(mark, &relic(3)), [Some(404)], "it is gone");
        assert_eq!(failures_told(&operator, mark), 0, "a conflict is routine");
        a_change_of_the_crd_starts_over(&stage, &operator).await
    })
    .await
}

/// Changes the storage version back when all are stored in the new one, and the CRD is about to say so.
async fn a_change_of_the_crd_starts_over(stage: &Stage, operator: &Operator) -> Result<()> {
    let mark = operator.recorder.mark();
    let mut trim = operator.recorder.breakpoint(trimming(RELICS), 0, Moment::Before);
    stage.store_relics_as("v1alpha1").await?;
    trim.hit().await?;
    let halfway = stage.versions().await?;
    stage.store_relics_as("v1beta1").await?;
    trim.release();
    operator.trims(stage, RELICS, "v1beta1").await?;
    operator.rests(mark, RELICS).await?;
    let trims = operator.recorder.since(mark).only(&trimming(RELICS));
    let status = |it: &Exchange| it.body.as_ref().map(|body| body["status"].clone());
    let told: Vec<_> = trims.iter().map(|it| (status(it), it.told)).collect();
    let to = |version: &str| Some(json!({"storedVersions": [version]}));
    assert_eq!(told, [(to("v1alpha1"), Some(409)), (to("v1beta1"), Some(200))]);
    let after = stage.versions().await?;
    assert!(halfway.iter().zip(&after).all(|(old, new)| old != new), "what was remembered is void");
    assert_eq!(failures_told(operator, mark), 0);
    stage.serve_relics_only_as("v1beta1").await
}
