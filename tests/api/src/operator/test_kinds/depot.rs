//! A depot: a Secret that is made once, a workload with volumes, and memos that keep it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use kube::ResourceExt as _;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tests_kinds::{Depot, FINALIZER};
use thv_api::conditions::find;
use thv_testbed::{Mark, Pattern, Verb, in_namespace, wait};
use tokio::time::timeout;

use super::{Stage, kept_in, patch};
use crate::fixture::json_of;

const NOTHING: [&str; 0] = [];

/// The image of a workload.
fn image(set: &StatefulSet) -> Value {
    json_of(set)["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

/// What a condition of a depot says: its status, its reason, its message.
fn says(depot: &Depot, type_: &str) -> (String, String, String) {
    let conditions =
        depot.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let condition = find(conditions, type_).unwrap_or_else(|| panic!("no {type_} in {conditions:?}"));
    (condition.status.clone(), condition.reason.clone(), condition.message.clone())
}

/// The memos that a depot knows of.
fn memos(depot: &Depot) -> Vec<String> {
    depot.status.as_ref().and_then(|status| status.memos.clone()).unwrap_or_default()
}

/// Waits for the event that somebody has labelled the Secret.
async fn until_touched(events: &Mutex<Vec<Value>>) -> Result<Value> {
    let is_touched = |event: &&Value| event["object"]["metadata"]["labels"]["theirs"] == "1";
    let looking = async {
        loop {
            let found =
                events.lock().unwrap_or_else(PoisonError::into_inner).iter().find(is_touched).cloned();
            match found {
                Some(event) => return event,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    timeout(wait::DEADLINE, looking).await.context("the watch has delivered nothing of it")
}

#[tokio::test]
async fn a_secret_with_random_content_is_created_once_and_never_written_or_read_again() {
    in_namespace(async |space| {
        let mut stage = Stage::start(&space).await?;
        let secrets = space.api::<Secret>();
        stage.depot("d", "localhost/depot:1", "1Gi").await?;
        let first = secrets.get("d-key").await?;
        assert_eq!(first.data.as_ref().map(|data| data["key"].0.len()), Some(24));
        let about_secrets = |stage: &Stage| -> Vec<String> {
            let all = stage.writes(Mark::default()).into_iter();
            all.filter(|write| write.contains("secrets")).collect()
        };
        assert_eq!(about_secrets(&stage), ["Create secrets d-key"]);

        // From now on we see what the watch of Secrets delivers.
        let events = Arc::new(Mutex::new(Vec::<Value>::new()));
        let gate = stage.operator.recorder.gate(Pattern::verb(Verb::Watch).of("secrets"));
        let seen = events.clone();
        gate.lose(move |event| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
            false
        });
        stage.depot("d", "localhost/depot:2", "1Gi").await?;
        let mark = stage.operator.recorder.mark();
        stage.operator.subject.restart().await?;
        stage.operator.recorder.seen(mark, &Pattern::verb(Verb::Apply).of("statefulsets").named("d")).await?;
        stage.calm().await?;
        let passes = stage.passes("Depot").await?;
        patch(&secrets, "d-key", json!({"metadata": {"labels": {"theirs": "1"}}})).await?;
        let delivered = until_touched(&events).await?;
        assert_eq!(delivered["object"].get("data"), None);
        stage.passes_above("Depot", passes).await?;
        stage.calm().await?;
        assert_eq!(about_secrets(&stage), ["Create secrets d-key"]);
        let second = secrets.get("d-key").await?;
        assert_eq!((second.uid(), &second.data), (first.uid(), &first.data));
        let read = stage.operator.recorder.log().only(&Pattern::verb(Verb::Get).of("secrets"));
        read.assert_empty("read of a Secret");

        // Without it there is nothing to keep: another one is made.
        secrets.delete("d-key", &DeleteParams::default()).await?;
        let third =
            wait::until(&secrets, "d-key", "it is made anew", |secret| secret.uid() != first.uid()).await?;
        assert_ne!(third.data, first.data);
        stage.calm().await?;
        assert_eq!(about_secrets(&stage), ["Create secrets d-key", "Create secrets d-key"]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_workload_with_volumes_is_applied_and_what_others_change_of_it_is_repaired() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let (sets, claims) = (space.api::<StatefulSet>(), space.api::<PersistentVolumeClaim>());
        stage.depot("d", "localhost/depot:1", "1Gi").await?;
        let claim = wait::until(&claims, "shelf-d-0", "its volume is claimed", |_| true).await?;
        let apply = "Apply statefulsets d";

        let mark = stage.operator.recorder.mark();
        patch(
            &sets,
            "d",
            json!({"spec": {"template": {"spec": {"containers": [
                {"name": "depot", "image": "localhost/other:1"},
            ]}}}}),
        )
        .await?;
        wait::until(&sets, "d", "the image is ours again", |set| image(set) == "localhost/depot:1").await?;
        stage.calm().await?;
        assert_eq!(stage.writes(mark), [apply]);

        let mark = stage.operator.recorder.mark();
        let old = sets.get("d").await?.uid();
        sets.delete("d", &DeleteParams::default()).await?;
        wait::until(&sets, "d", "it is made again", |set| set.uid() != old).await?;
        stage.calm().await?;
        assert_eq!(stage.writes(mark), [apply]);
        assert_eq!(claims.get("shelf-d-0").await?.uid(), claim.uid());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_change_of_volume_claims_is_refused_and_told_and_nothing_is_deleted() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let (sets, claims) = (space.api::<StatefulSet>(), space.api::<PersistentVolumeClaim>());
        stage.depot("d", "localhost/depot:1", "1Gi").await?;
        let claim = wait::until(&claims, "shelf-d-0", "its volume is claimed", |_| true).await?;
        let (set, secret) = (sets.get("d").await?, space.api::<Secret>().get("d-key").await?);
        let mark = stage.operator.recorder.mark();
        let depot = stage.depot("d", "localhost/depot:2", "2Gi").await?;

        let (status, reason, message) = says(&depot, "Ready");
        assert_eq!((status.as_str(), reason.as_str()), ("False", "Failed"));
        assert!(message.starts_with("the API server refuses StatefulSet d"), "{message}");
        assert!(message.contains("updates to statefulset spec"), "{message}");
        // It is tried again, with a backoff, and said once.
        let again = stage.operator.recorder.mark();
        stage
            .operator
            .recorder
            .seen(again, &Pattern::verb(Verb::Apply).of("statefulsets").named("d"))
            .await?;
        stage.calm().await?;
        assert_eq!(stage.writes(mark), ["Apply depots d/status"]);
        let live = sets.get("d").await?;
        assert_eq!((live.uid(), image(&live)), (set.uid(), image(&set)));
        assert_eq!(claims.get("shelf-d-0").await?.uid(), claim.uid());
        assert_eq!(space.api::<Secret>().get("d-key").await?.resource_version(), secret.resource_version());

        // An edit that does not help is seen.
        let depot = stage.depot("d", "localhost/depot:2", "3Gi").await?;
        assert_eq!(says(&depot, "Ready").1, "Failed");

        // With its old size the rest of the change is made.
        let depot = stage.depot("d", "localhost/depot:2", "1Gi").await?;
        assert_eq!(says(&depot, "Ready").0, "True");
        stage.calm().await?;
        assert_eq!(
            stage.writes(mark),
            [
                "Apply depots d/status",
                "Apply depots d/status",
                "Apply statefulsets d",
                "Apply depots d/status",
            ]
        );
        assert_eq!(image(&sets.get("d").await?), "localhost/depot:2");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_query_for_referrers_follows_them_as_they_come_change_and_go() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        assert_eq!(memos(&stage.depot("d", "localhost/depot:1", "1Gi").await?), NOTHING);
        let mark = stage.operator.recorder.mark();
        let knows = async |names: &[&str]| {
            let what = format!("it knows of {names:?}");
            wait::until(&stage.depots(), "d", &what, |depot| memos(depot) == names).await.map(drop)
        };
        stage.memo("one", kept_in("d")).await?;
        knows(&["one"]).await?;
        stage.memo("two", kept_in("elsewhere")).await?;
        stage.memo("two", kept_in("d")).await?;
        knows(&["one", "two"]).await?;
        stage.memo("one", kept_in("elsewhere")).await?;
        knows(&["two"]).await?;
        stage.memos().delete("two", &DeleteParams::default()).await?;
        knows(&[]).await?;
        stage.calm().await?;
        let of_depot = |write: &String| !write.contains("memo");
        let written: Vec<_> = stage.writes(mark).into_iter().filter(of_depot).collect();
        assert_eq!(written, ["Apply depots d/status"; 4]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_object_that_is_deleted_stays_while_others_refer_to_it_and_goes_with_the_last_reference() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let sets = space.api::<StatefulSet>();
        stage.memo("one", kept_in("d")).await?;
        stage.memo("two", kept_in("d")).await?;
        let depot = stage.depot("d", "localhost/depot:1", "1Gi").await?;
        assert_eq!(
            (memos(&depot), depot.finalizers()),
            (vec!["one".to_owned(), "two".to_owned()], &[FINALIZER.to_owned()][..])
        );
        let set = sets.get("d").await?;

        // It stays, with all that it has, and says who keeps it.
        let mark = stage.operator.recorder.mark();
        stage.depots().delete("d", &DeleteParams::default()).await?;
        let kept_by = async |names: &str| {
            let what = format!("{names} keep it");
            wait::until(&stage.depots(), "d", &what, |depot| {
                wait::has_condition(depot, "DeletionBlocked", "True")
                    && says(depot, "DeletionBlocked").2.ends_with(&format!(": {names}"))
            })
            .await
        };
        kept_by("Memo one, Memo two").await?;
        stage.calm().await?;
        assert_eq!(stage.writes(mark), ["Apply depots d/status"]);
        let warning = ["Depot", "d", "Warning", "Referenced"].map(str::to_owned);
        let told = stage.told(mark);
        assert!(told.contains(&<(String, String, String, String)>::from(warning)), "{told:?}");
        assert_eq!(sets.get("d").await?.uid(), set.uid());

        // One of two goes.
        stage.memos().delete("one", &DeleteParams::default()).await?;
        kept_by("Memo two").await?;
        stage.calm().await?;

        // Nobody looks at it as long as nothing happens, and at once when something does.
        let (passes, mark) = (stage.passes("Depot").await?, stage.operator.recorder.mark());
        stage.calm().await?;
        stage.assert_not_looked_at("Depot", passes, mark).await?;
        let mark = stage.operator.recorder.mark();
        stage.memo("two", kept_in("elsewhere")).await?;
        wait::gone(&stage.depots(), "d").await?;
        stage.calm().await?;
        let of_depot = |write: &String| !write.contains("memo");
        let written: Vec<_> = stage.writes(mark).into_iter().filter(of_depot).collect();
        assert_eq!(written, ["JsonPatch depots d"]);
        stage.operator.recorder.since(mark).only(&Pattern::verb(Verb::Get)).assert_empty("read");
        // What belongs to it is collected.
        wait::gone(&sets, "d").await?;
        wait::gone(&space.api::<Secret>(), "d-key").await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_has_lost_its_owner_gets_it_back_and_keeps_its_content() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let secrets = space.api::<Secret>();
        stage.depot("d", "localhost/depot:1", "1Gi").await?;
        let before = secrets.get("d-key").await?;
        patch(&secrets, "d-key", json!({"metadata": {"ownerReferences": null}})).await?;
        let has_owner = |secret: &Secret| !secret.owner_references().is_empty();
        let after = wait::until(&secrets, "d-key", "it has its owner again", has_owner).await?;
        assert_eq!((&after.data, after.uid()), (&before.data, before.uid()));
        assert_eq!(after.owner_references(), before.owner_references());
        Ok(())
    })
    .await;
}
