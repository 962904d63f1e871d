//! The number of proxies: the user's, or nobody's.

use std::pin::pin;

use anyhow::Result;
use futures::{Stream, StreamExt};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::Event;
use kube::api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use serde_json::{Value, json};
use thv_api::names::field_managers::HANDOFF;
use thv_testbed::{Mark, Moment, in_namespace, wait};

use super::difference::places;
use super::scene::{NAME, NEW_REVISION, Scene, deployment_apply, sent};
use crate::fixture::{json_of, managers, replicas, resource_version};

#[tokio::test]
async fn s2_01_replicas_that_nobody_set_are_nobodys() {
    in_namespace(async |space| {
        let mut scene = Scene::with(&space, json!({})).await?;
        assert_eq!(scene.sent(Mark::default()), [None]);
        assert_eq!(scene.live().await?, 1);
        let before = scene.children().await?;

        scene.scale(3).await?;
        scene.look_again().await?;
        let mark = scene.operator.recorder.mark();
        scene.operator.subject.restart().await?;
        scene.operator.recorder.seen(mark, &deployment_apply()).await?;
        scene.look_again().await?;
        assert_eq!(scene.live().await?, 3);
        scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await?;
        let sent = scene.sent(Mark::default());
        assert!(sent.len() > 1 && sent.iter().all(Option::is_none), "{sent:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_01_whoever_scales_often_is_no_enemy() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let mark = scene.operator.recorder.mark();
        for count in 2..7 {
            scene.scale(count).await?;
            scene.look_again().await?;
            assert_eq!(scene.live().await?, count);
        }
        assert!(scene.sent(mark).iter().all(Option::is_none), "{:?}", scene.sent(mark));
        let events = space.api::<Event>().list(&ListParams::default()).await?.items;
        let reasons: Vec<_> = events.into_iter().filter_map(|event| event.reason).collect();
        assert!(!reasons.contains(&"Contested".to_owned()), "{reasons:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_02_one_replica_is_one() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let (before, mark) = (scene.children().await?, scene.operator.recorder.mark());
        scene.edit(json!({"replicas": 1})).await?;
        assert_eq!(scene.sent(mark), [Some(1)]);
        scene.assert_changed(&before, []).await?;

        let mark = scene.operator.recorder.mark();
        scene.scale(2).await?;
        scene.until_live(1).await?;
        assert_eq!(scene.sent(mark), [Some(1)]);
        scene.assert_changed(&before, []).await
    })
    .await;
}

#[tokio::test]
async fn s2_03_three_replicas_are_three_where_the_transport_allows_it() {
    for transport in ["sse", "streamable-http"] {
        in_namespace(async |space| {
            let scene = Scene::with(&space, json!({"transport": transport})).await?;
            let (before, mark) = (scene.children().await?, scene.operator.recorder.mark());
            scene.edit(json!({"replicas": 3})).await?;
            assert_eq!(scene.sent(mark), [Some(3)]);
            assert_eq!(scene.live().await?, 3);
            scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await
        })
        .await;
    }
}

#[tokio::test]
async fn s2_07_the_grace_period_is_always_sent() {
    let grace = |template: &Value| template["spec"]["terminationGracePeriodSeconds"].as_i64();
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        // The API server would choose the same, so only the request shows that it is ours.
        let applies = scene.applies(Mark::default());
        let body = applies[0].body.as_ref().unwrap();
        assert_eq!((sent(&applies[0]), grace(&body["spec"]["template"])), (None, Some(30)));

        let (before, mark) = (scene.children().await?, scene.operator.recorder.mark());
        let hasty =
            Patch::Merge(json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}}));
        space.api::<Deployment>().patch(NAME, &PatchParams::default(), &hasty).await?;
        let grace_of = |deployment: &Deployment| grace(&json_of(&deployment.spec.as_ref().unwrap().template));
        scene.until("pods get their time", |deployment| grace_of(deployment) == Some(30)).await?;
        let repairs = scene.applies(mark);
        assert_eq!(repairs.len(), 1);
        assert_eq!(grace(&repairs[0].body.as_ref().unwrap()["spec"]["template"]), Some(30));
        scene.assert_changed(&before, []).await
    })
    .await;
}

#[tokio::test]
async fn s2_08_a_config_change_rolls_the_pods_and_leaves_their_number_alone() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        scene.scale(3).await?;
        scene.look_again().await?;
        let config = "ConfigMap/s-runconfig data[runconfig.json]";
        let argument = "Deployment/s spec.template.spec.containers[toolhive].args[2]".to_owned();
        let audit = vec![format!("{config}.audit_config"), format!("{config}.middleware_configs[audit]")];
        let edits = [
            (json!({"image": "localhost/server:2"}), vec![format!("{config}.image"), argument]),
            (json!({"audit": {"enabled": true}}), audit),
        ];
        for (edit, cause) in edits {
            let (before, deployment) = (scene.children().await?, scene.deployment().await?);
            let sets = replica_sets(&scene).await?;
            let (mark, seen) = (scene.operator.recorder.mark(), watch(&scene, &deployment).await?);
            scene.edit(edit).await?;
            scene.until("there are new pods", has_rolled).await?;
            let mut expected = places(NEW_REVISION);
            expected.extend(cause);
            assert_eq!(before.changes(&scene.children().await?), expected);
            assert_eq!(replica_sets(&scene).await?, sets + 1);
            assert_eq!(scene.sent(mark), [None]);

            // Someone scales on, which ends the watch; until then, it was three.
            scene.scale(4).await?;
            let counts = counts_until(seen, 4).await?;
            assert!(!counts.is_empty() && counts.iter().all(|count| *count == 3), "{counts:?}");
            scene.scale(3).await?;
            scene.look_again().await?;
        }
        Ok(())
    })
    .await;
}

fn has_rolled(deployment: &Deployment) -> bool {
    let Some(status) = &deployment.status else { return false };
    status.observed_generation == deployment.metadata.generation && status.updated_replicas > Some(0)
}

async fn replica_sets(scene: &Scene) -> Result<usize> {
    let all = scene.space.api::<ReplicaSet>().list(&ListParams::default().labels("toolhive-name=s")).await?;
    Ok(all.items.len())
}

/// Every change of the Deployment from `since` on.
async fn watch(
    scene: &Scene,
    since: &Deployment,
) -> Result<impl Stream<Item = kube::Result<WatchEvent<Deployment>>> + use<>> {
    let only = WatchParams::default().fields(&format!("metadata.name={NAME}"));
    Ok(scene.space.api::<Deployment>().watch(&only, &resource_version(since)).await?)
}

/// The replicas that a watch saw before it saw `last`.
async fn counts_until(
    watch: impl Stream<Item = kube::Result<WatchEvent<Deployment>>>,
    last: i32,
) -> Result<Vec<i32>> {
    let mut watch = pin!(watch);
    let mut counts = Vec::new();
    let reading = async {
        while let Some(event) = watch.next().await {
            match event? {
                WatchEvent::Modified(deployment) if replicas(&deployment) == last => return Ok(counts),
                WatchEvent::Modified(deployment) => counts.push(replicas(&deployment)),
                WatchEvent::Bookmark(_) => {}
                other => anyhow::bail!("the Deployment was not only modified: {other:?}"),
            }
        }
        anyhow::bail!("the watch has ended before there were {last} replicas")
    };
    tokio::time::timeout(wait::DEADLINE, reading).await?
}

#[tokio::test]
async fn s2_09_replicas_that_are_taken_back_are_handed_over_and_never_fall_to_one() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let (before, deployment) = (scene.children().await?, scene.deployment().await?);
        assert_eq!(replicas(&deployment), 2);
        let (mark, seen) = (scene.operator.recorder.mark(), watch(&scene, &deployment).await?);
        scene.edit(json!({"replicas": null})).await?;
        scene.look_again().await?;
        scene.assert_changed(&before, []).await?;

        let applies = scene.applies(mark);
        let mut steps: Vec<_> =
            applies.iter().map(|apply| (apply.field_manager().unwrap(), sent(apply))).collect();
        steps.dedup();
        assert_eq!(steps, [(HANDOFF, Some(2)), ("toolhive-operator", None)]);
        for apply in &applies {
            let metadata = &apply.body.as_ref().unwrap()["metadata"];
            assert!(metadata["uid"].is_string() && metadata["resourceVersion"].is_string(), "{metadata}");
        }
        assert!(managers(&scene.deployment().await?).contains(&HANDOFF.to_owned()));

        // Whoever scales next takes the number over, and it stays.
        let mark = scene.operator.recorder.mark();
        scene.scale(5).await?;
        let counts = counts_until(seen, 5).await?;
        assert!(counts.iter().all(|count| *count == 2), "{counts:?}");
        scene.look_again().await?;
        assert_eq!(scene.live().await?, 5);
        assert!(!managers(&scene.deployment().await?).contains(&HANDOFF.to_owned()));
        assert!(scene.sent(mark).iter().all(Option::is_none), "{:?}", scene.sent(mark));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_09_the_hand_over_survives_the_death_of_the_operator_between_its_two_writes() {
    for survived in [0, 1] {
        in_namespace(async |space| {
            let mut scene = Scene::with(&space, json!({"replicas": 2})).await?;
            let seen = watch(&scene, &scene.deployment().await?).await?;
            let recorder = &scene.operator.recorder;
            let mark = recorder.mark();
            let mut breakpoint = recorder.breakpoint(deployment_apply(), survived, Moment::AfterCommit);
            let none = Patch::Merge(json!({"spec": {"replicas": null}}));
            let edited = scene.operator.servers().patch(NAME, &PatchParams::default(), &none).await?;
            breakpoint.hit().await?;
            scene.operator.subject.kill().await?;
            drop(breakpoint);
            scene.operator.subject.restart().await?;
            wait::until(&scene.operator.servers(), NAME, "the new operator has seen the edit", |server| {
                server.status.as_ref().and_then(|status| status.observed_generation)
                    == edited.metadata.generation
            })
            .await?;
            scene.look_again().await?;
            assert_eq!(scene.sent(mark).last(), Some(&None));
            scene.scale(5).await?;
            let counts = counts_until(seen, 5).await?;
            assert!(counts.iter().all(|count| *count == 2), "{counts:?}");
            scene.look_again().await?;
            assert_eq!(scene.live().await?, 5);
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn s2_09_somebody_who_scales_between_the_two_writes_wins() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let seen = watch(&scene, &scene.deployment().await?).await?;
        let mark = scene.operator.recorder.mark();
        let pause = || scene.operator.recorder.breakpoint(deployment_apply(), 0, Moment::Before);
        let mut breakpoint = pause();
        let none = Patch::Merge(json!({"spec": {"replicas": null}}));
        scene.operator.servers().patch(NAME, &PatchParams::default(), &none).await?;
        let mut held = breakpoint.hit().await?;
        assert_eq!((held.field_manager(), sent(&held)), (Some(HANDOFF), Some(2)));
        while held.field_manager() == Some(HANDOFF) {
            std::mem::replace(&mut breakpoint, pause()).release();
            held = breakpoint.hit().await?;
        }
        assert_eq!((held.field_manager(), sent(&held)), (Some("toolhive-operator"), None));
        scene.scale(5).await?;
        breakpoint.release();
        scene.edit(json!({"replicas": null})).await?;
        scene.look_again().await?;
        assert_eq!(scene.live().await?, 5);
        // What was held was about a Deployment that had changed since, and was sent anew.
        let log = scene.operator.recorder.since(mark);
        let held = log.iter().find(|request| request.number == held.number).unwrap();
        assert_eq!(held.answered, Some(409));
        assert!(!scene.sent(mark).is_empty());
        scene.scale(6).await?;
        let counts = counts_until(seen, 6).await?;
        let turn = counts.iter().position(|count| *count == 5).unwrap();
        assert!(counts[..turn].iter().all(|count| *count == 2), "{counts:?}");
        assert!(counts[turn..].iter().all(|count| *count == 5), "{counts:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_10_replicas_that_are_set_are_authoritative() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let before = scene.children().await?;
        // Also over somebody who has scaled while it was nobody's.
        scene.scale(3).await?;
        scene.look_again().await?;
        for count in [2, 4] {
            let mark = scene.operator.recorder.mark();
            scene.edit(json!({"replicas": count})).await?;
            assert_eq!(scene.sent(mark), [Some(count)]);
            assert_eq!(i64::from(scene.live().await?), count);
            scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await?;
        }
        let mark = scene.operator.recorder.mark();
        scene.scale(7).await?;
        scene.until_live(4).await?;
        let repairs = scene.applies(mark);
        assert_eq!((repairs.len(), repairs[0].field_manager()), (1, Some("toolhive-operator")));
        assert_eq!(sent(&repairs[0]), Some(4));
        scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await
    })
    .await;
}
