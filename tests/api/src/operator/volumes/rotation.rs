//! Content that changes behind a name that stays.

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::annotations::RESTART_ON_ROTATION;
use thv_testbed::{Pattern, Verb, in_namespace};

use super::super::difference::{Places, places};
use super::super::rollout::{patch, secret};
use super::super::shift::Pods;
use super::super::stage::Stage;
use super::{EMBEDDING_SERVER, REGISTRY, REMOTE_PROXY, VIRTUAL_SERVER, everything, with_fields};

/// Where pods have the digest of what they use.
fn digest(pods: &Pods) -> Places {
    let (kind, name) = pods.workload;
    places([&format!(
        "{kind}/{name} spec.template.metadata.annotations[toolhive.stacklok.dev/rotated-content]"
    )])
}

async fn wish(stage: &Stage, pods: &Pods, value: Option<&str>) -> Result<()> {
    let patch = Patch::Merge(json!({"metadata": {"annotations": {RESTART_ON_ROTATION: value}}}));
    stage.api(pods.kind).patch("s", &PatchParams::default(), &patch).await?;
    Ok(())
}

async fn rotate(stage: &Stage, name: &str, keys: Value) -> Result<()> {
    patch(&stage.space.api::<Secret>(), name, json!({ "stringData": keys })).await.map(drop)
}

/// Rotates the content of a Secret, and shows that nothing comes of it. A pass that reads it is waited for, if there is
/// one.
async fn comes_to_nothing(stage: &Stage, pods: &Pods, name: &str, is_read: bool) -> Result<()> {
    stage.calm().await?;
    let (before, rollouts) = (stage.children(pods).await?, stage.rollouts(pods).await?);
    let mark = stage.operator.recorder.mark();
    rotate(stage, name, json!({"signing": "new", "hmac": "new", "client": "new", "redis": "new"})).await?;
    if is_read {
        let read = Pattern::verb(Verb::Get).of("secrets").named(name);
        stage.operator.recorder.seen(mark, &read).await?;
    }
    stage.calm().await?;
    let after = stage.children(pods).await?;
    assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])), "{}", pods.kind);
    assert_eq!(stage.rollouts(pods).await?, rollouts, "{}", pods.kind);
    let writes = stage.operator.writes(mark);
    assert!(writes.is_empty(), "{}: {writes:?}", pods.kind);
    Ok(())
}

#[tokio::test]
async fn s4_10_new_content_rolls_no_pods_of_a_virtual_server_unless_its_user_asks_for_it() {
    in_namespace(async |space| {
        let (stage, pods) = (everything(&space).await?, &VIRTUAL_SERVER);
        comes_to_nothing(&stage, pods, "keys-v1", true).await?;
        assert_eq!(stage.shift(pods, wish(&stage, pods, Some("true"))).await?, digest(pods));
        let newer = rotate(&stage, "keys-v1", json!({"signing": "newer"}));
        assert_eq!(stage.shift(pods, newer).await?, digest(pods));
        let authorities = async {
            let new = json!({"data": {"ca.crt": "newer"}});
            patch(&space.api::<ConfigMap>(), "ca-v1", new).await.map(drop)
        };
        assert_eq!(stage.shift(pods, authorities).await?, digest(pods));
        assert_eq!(stage.shift(pods, wish(&stage, pods, None)).await?, digest(pods));
        comes_to_nothing(&stage, pods, "keys-v1", true).await
    })
    .await;
}

#[tokio::test]
async fn s4_10_s4_11_new_content_under_the_same_name_rolls_nothing_of_the_siblings() {
    let header = json!([{"headerName": "X-Key", "valueSecretRef": {"name": "keys", "key": "client"}}]);
    for (pods, fields, is_read) in [
        (&EMBEDDING_SERVER, json!({"hfTokenSecretRef": {"name": "keys", "key": "client"}}), false),
        (&REGISTRY, json!({"pgpassSecretRef": {"name": "keys", "key": "client"}}), false),
        (&REMOTE_PROXY, json!({"headerForward": {"addHeadersFromSecret": header}}), true),
    ] {
        in_namespace(async |space| {
            secret(&space, "keys", json!({"client": "1"})).await?;
            let stage = with_fields(&space, pods, &fields).await?;
            comes_to_nothing(&stage, pods, "keys", is_read).await
        })
        .await;
    }
}
