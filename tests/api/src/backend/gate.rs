//! Proxies of the Go operator's making, which know a generation and no revision.

use anyhow::Result;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use thv_api::names::annotations::{APPLIED_REVISION, MCP_SERVER_GENERATION};
use thv_testbed::{Pattern, in_namespace};

use super::proxy::{of_go, revision};
use super::stage::{NAME, Stage};

/// What the StatefulSet says about the generation that it was made for.
async fn stamp(stage: &Stage) -> Result<Option<String>> {
    let set = crate::fixture::json_of(&stage.backend().await?);
    let annotations = &set["spec"]["template"]["metadata"]["annotations"];
    Ok(annotations[MCP_SERVER_GENERATION].as_str().map(str::to_owned))
}

async fn set_stamp(stage: &Stage, stamp: Option<&str>) -> Result<()> {
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {MCP_SERVER_GENERATION: stamp}}}}});
    stage.sets().patch(NAME, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    Ok(())
}

#[tokio::test]
async fn s0_08_an_absent_backend_is_made_without_marks_of_ours() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let proxy = stage.bound(&of_go(5)).await?;
        let set = stage.backend().await?;
        assert_eq!(stamp(&stage).await?.as_deref(), Some("5"));
        assert!(!set.annotations().contains_key(APPLIED_REVISION));
        assert!(set.owner_references().is_empty(), "it does not know the server");
        let service = stage.services().get("mcp-web").await?;
        assert_eq!(service.owner_references()[0].uid, set.uid().unwrap());
        assert!(!service.annotations().contains_key(APPLIED_REVISION));
        let servers = proxy.recorder.log().only(&Pattern::any().of("mcpservers"));
        servers.assert_empty("request about the server");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_08_only_a_greater_generation_holds_a_proxy_up() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&of_go(5)).await?.backend.stop().await;
        for (theirs, ours, applies) in [
            (Some("6"), 5, false),
            (Some("5"), 5, true),
            (Some("4"), 5, true),
            (None, 5, true),
            (Some("soon"), 5, true),
            (Some(""), 5, true),
            (Some("6"), 0, true),
            (Some("6"), -1, true),
        ] {
            set_stamp(&stage, theirs).await?;
            let before = stage.everything().await?;
            let image = format!("localhost/server:{}-{ours}", theirs.unwrap_or("none").len());
            let mut proxy = stage.start(&of_go(ours).image(&image)).await?;
            proxy.until(if applies { "bound" } else { "superseded" }).await?;
            if applies {
                assert_eq!(stage.image().await?, image, "{theirs:?} {ours}");
                let expected = (ours > 0).then(|| ours.to_string());
                assert_eq!(stamp(&stage).await?.filter(|_| ours > 0), expected, "{theirs:?} {ours}");
            } else {
                proxy.assert_wrote_nothing();
                assert_eq!(stage.everything().await?, before);
            }
            proxy.backend.stop().await;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_08_a_proxy_of_ours_goes_first() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut go = stage.bound(&of_go(1)).await?;
        let _ours = stage.bound(&revision(1)).await?;
        go.until("superseded").await?;
        let before = stage.everything().await?;
        for generation in [0, 1, 99] {
            let mut go = stage.start(&of_go(generation)).await?;
            go.until("superseded").await?;
            go.assert_wrote_nothing();
        }
        assert_eq!(stage.everything().await?, before);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_08_what_the_go_proxy_made_for_a_newer_generation_is_left_alone() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&of_go(7)).await?.backend.stop().await;
        let before = stage.everything().await?;
        let mut older = stage.start(&revision(6)).await?;
        older.until("superseded").await?;
        older.assert_wrote_nothing();
        assert_eq!(stage.everything().await?, before);
        let _newer = stage.bound(&revision(7)).await?;
        Ok(())
    })
    .await;
}
