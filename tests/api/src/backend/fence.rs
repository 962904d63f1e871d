//! Proxies of several revisions at once.

use anyhow::Result;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use thv_api::names::annotations::{APPLIED_REVISION, MCP_SERVER_GENERATION};
use thv_testbed::{Pattern, Verb, in_namespace, wait};

use super::proxy::revision;
use super::stage::{NAME, Stage, image_of};
use crate::fixture::resource_version;

/// The apply of the StatefulSet.
fn apply_of_the_set() -> Pattern {
    Pattern::verb(Verb::Apply).of("statefulsets").named(NAME)
}

/// The number that the StatefulSet was applied with.
async fn number(stage: &Stage) -> Result<u64> {
    let set = stage.backend().await?;
    let mark = set.annotations()[APPLIED_REVISION].clone();
    let parts: Vec<_> = mark.split('/').collect();
    assert_eq!((parts.len(), parts[0], parts[2].len()), (3, stage.uid.as_str(), 64), "{mark}");
    Ok(parts[1].parse()?)
}

#[tokio::test]
async fn s0_04_old_then_new_ends_with_the_new() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut old = stage.bound(&revision(1)).await?;
        assert_eq!((number(&stage).await?, stage.image().await?), (1, image_of(1)));
        stage.mint(2).await?;
        let new = stage.bound(&revision(2)).await?;
        assert_eq!((number(&stage).await?, stage.image().await?), (2, image_of(2)));
        old.until("superseded").await?;
        old.recorder.log().assert_no_put();
        new.recorder.log().assert_no_put();
        for service in ["mcp-web", "mcp-web-headless"] {
            let service = stage.services().get(service).await?;
            assert!(service.annotations()[APPLIED_REVISION].contains("/2/"), "{:?}", service.annotations());
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_new_then_old_ends_with_the_new() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        let before = stage.everything().await?;
        let mut old = stage.start(&revision(1)).await?;
        old.until("superseded").await?;
        old.assert_wrote_nothing();
        assert_eq!(stage.everything().await?, before);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_at_the_same_time_ends_with_the_new() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1)).await?.backend.stop().await;
        for round in 1..=8 {
            let (older, newer) = (2 * round, 2 * round + 1);
            stage.mint(newer).await?;
            let (sketches, start) = ((revision(older), revision(newer)), &stage);
            let (old, new) = tokio::join!(start.start(&sketches.0), start.start(&sketches.1));
            let (mut old, mut new) = (old?, new?);
            new.until("bound").await?;
            old.until("superseded").await?;
            assert_eq!((number(&stage).await?, stage.image().await?), (newer, image_of(newer)));
            old.backend.stop().await;
            new.backend.stop().await;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_of_many_first_proxies_the_newest_wins() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.mint(1).await?;
        let sketches: Vec<_> = (1..=6).map(revision).collect();
        let starting = sketches.iter().map(|sketch| stage.start(sketch));
        let mut proxies = futures::future::try_join_all(starting).await?;
        proxies.last_mut().unwrap().until("bound").await?;
        for old in &mut proxies[..5] {
            old.until("superseded").await?;
        }
        assert_eq!((number(&stage).await?, stage.image().await?), (6, image_of(6)));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_a_write_that_was_overtaken_does_nothing() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1)).await?.backend.stop().await;
        stage.mint(2).await?;
        let mut old = stage.start_held(&revision(2), apply_of_the_set()).await?;
        let held = old.held.hit().await?;
        assert!(held.body.unwrap()["metadata"]["uid"].is_string());
        stage.mint(3).await?;
        let _new = stage.bound(&revision(3)).await?;
        let before = stage.everything().await?;
        let version = resource_version(&stage.backend().await?);
        old.held.release();
        old.proxy.until("superseded").await?;
        let refused = old.proxy.recorder.log().only(&apply_of_the_set());
        assert_eq!(refused.iter().map(|exchange| exchange.answered).collect::<Vec<_>>(), [Some(409)]);
        assert_eq!(stage.everything().await?, before);
        assert_eq!(resource_version(&stage.backend().await?), version);
        assert_eq!(old.proxy.backend.tally().conflicts(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_what_was_deleted_between_read_and_write_is_not_resurrected() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1)).await?.backend.stop().await;
        stage.mint(2).await?;
        let mut old = stage.start_held(&revision(2), apply_of_the_set()).await?;
        old.held.hit().await?;
        stage.sets().delete(NAME, &DeleteParams::background()).await?;
        wait::gone(&stage.sets(), NAME).await?;
        stage.mint(3).await?;
        old.held.release();
        old.proxy.until("superseded").await?;
        assert!(stage.sets().get_opt(NAME).await?.is_none());
        let refused = old.proxy.recorder.log().only(&Pattern::write());
        assert_eq!(refused.iter().map(|exchange| exchange.answered).collect::<Vec<_>>(), [Some(409)]);

        // Whoever is the newest brings it back.
        let _new = stage.bound(&revision(3)).await?;
        assert_eq!((number(&stage).await?, stage.image().await?), (3, image_of(3)));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_of_two_creations_one_is_made() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.mint(1).await?;
        let mut old = stage.start_held(&revision(1), apply_of_the_set()).await?;
        let held = old.held.hit().await?;
        assert_eq!(held.body.unwrap()["metadata"]["resourceVersion"], "1");
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        let before = stage.everything().await?;
        old.held.release();
        old.proxy.until("superseded").await?;
        assert_eq!(stage.everything().await?, before);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_05_the_same_revision_with_another_content_is_refused_loudly() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let _first = stage.bound(&revision(1)).await?;
        let before = stage.everything().await?;
        let mut other = stage.start(&revision(1).image("localhost/server:other")).await?;
        other.until("refused").await?;
        let wrote = other.recorder.log().writes();
        let resources: Vec<_> = wrote.iter().map(|exchange| exchange.resource.clone()).collect();
        assert_eq!(resources, ["events"]);
        assert_eq!(other.backend.tally().refusals(), 1);
        assert_eq!(stage.everything().await?, before);
        let events = space.api::<Event>().list(&ListParams::default()).await?.items;
        let told = events.iter().find(|event| event.reason.as_deref() == Some("BackendTie")).unwrap();
        let about = told.regarding.clone().unwrap();
        assert_eq!((about.name.as_deref(), about.uid.as_deref()), (Some(NAME), Some(stage.uid.as_str())));

        // The next revision ends it.
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2)).await?;
        other.until("superseded").await?;
        assert_eq!(stage.image().await?, image_of(2));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_06_a_new_revision_with_the_same_backend_rolls_nothing() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1)).await?.backend.stop().await;
        let before = stage.backend().await?;
        stage.mint(2).await?;
        // Another revision and another generation, for a reason that does not concern the backend.
        let same = revision(2).image(&image_of(1));
        let same = super::proxy::Sketch { config: revision(1).config, ..same }
            .with("mcpserver_generation", 7.into());
        let again = stage.bound(&same).await?;
        let after = stage.backend().await?;
        assert_eq!(number(&stage).await?, 2);
        assert_eq!(after.metadata.generation, before.metadata.generation, "no pod is replaced");
        assert_eq!(stamp(&after).as_deref(), Some("1"));
        again.backend.stop().await;

        // Nor does a proxy that is started again.
        let _started = stage.bound(&same).await?;
        assert_eq!(resource_version_of_spec(&stage.backend().await?), resource_version_of_spec(&after));

        // With the next content the stamp moves as well.
        stage.mint(3).await?;
        let _next = stage.bound(&revision(3)).await?;
        assert_eq!(stamp(&stage.backend().await?).as_deref(), Some("3"));
        Ok(())
    })
    .await;
}

fn resource_version_of_spec(set: &k8s_openapi::api::apps::v1::StatefulSet) -> (Option<i64>, Option<String>) {
    (set.metadata.generation, set.annotations().get(APPLIED_REVISION).cloned())
}

fn stamp(set: &k8s_openapi::api::apps::v1::StatefulSet) -> Option<String> {
    let template = &set.spec.as_ref()?.template;
    template.metadata.as_ref()?.annotations.as_ref()?.get(MCP_SERVER_GENERATION).cloned()
}

#[tokio::test]
async fn s0_14_an_old_proxy_changes_no_field_at_all() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.mint(2).await?;
        let _new = stage.bound(&revision(2).replicas(3)).await?;
        let before = stage.everything().await?;
        let stale = revision(1).replicas(1).with("cmd_args", serde_json::json!(["--old"]));
        let mut old = stage.start(&stale).await?;
        old.until("superseded").await?;
        old.assert_wrote_nothing();
        assert_eq!(stage.everything().await?, before);

        // Not even when it is started again, or somebody deletes what it once made.
        old.backend.stop().await;
        let mut old = stage.start(&stale).await?;
        old.until("superseded").await?;
        stage.services().delete("mcp-web", &DeleteParams::default()).await?;
        wait::until(&stage.services(), "mcp-web", "the new proxy has brought it back", |_| true).await?;
        old.assert_wrote_nothing();
        Ok(())
    })
    .await;
}
