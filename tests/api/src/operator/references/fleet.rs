//! Many servers that share one object: an edit of it is one rollout for each of them, and nothing more.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::json;
use thv_testbed::{Exchange, Mark, Pattern, Space, Verb, in_namespace, wait};

use super::super::rollout::REVISION;
use super::{Stage, server};

/// How many are made at a time.
const AT_ONCE: usize = 20;

/// The revision of a Deployment.
fn revision(deployment: &Deployment) -> Option<String> {
    deployment.annotations().get(REVISION).cloned()
}

async fn share(space: &Space, count: usize) -> Result<()> {
    let stage = Stage::start(space).await?;
    let inline = json!({"issuer": "https://login.example.com"});
    stage.settle("MCPOIDCConfig", "shared", json!({"type": "inline", "inline": inline})).await?;
    let names: Vec<String> = (0..count).map(|number| format!("s-{number:03}")).collect();
    let spec = server(json!({"oidcConfigRef": {"name": "shared", "audience": "s"}}));
    for some in names.chunks(AT_ONCE) {
        try_join_all(some.iter().map(|name| stage.settle("MCPServer", name, spec.clone()))).await?;
    }
    let deployments = space.api::<Deployment>();
    let first = names.iter().map(|name| wait::until(&deployments, name, "it is there", |_| true));
    let first: Vec<_> = try_join_all(first).await?.iter().map(revision).collect();
    let more = format!("; and {} more", count - 10);
    let is_told = |config: &DynamicObject| {
        let message = super::condition(config, "Referenced")["message"].clone();
        message.as_str().is_some_and(|message| message.ends_with(&more))
    };
    stage.until("MCPOIDCConfig", "shared", "it knows everybody", is_told).await?;
    stage.calm().await?;

    let mark = stage.operator.recorder.mark();
    stage.edit("MCPOIDCConfig", "shared", json!({"inline": {"clientId": "other"}})).await?;
    let rolled = names.iter().zip(&first).map(|(name, first)| {
        wait::until(&deployments, name, "it has a new revision", move |deployment| {
            revision(deployment) != *first
        })
    });
    try_join_all(rolled).await.with_context(|| stage.tail())?;
    let hash = stage.api("MCPOIDCConfig").get("shared").await?.data["status"]["configHash"].clone();
    let follows = |server: &DynamicObject| server.data["status"]["oidcConfigHash"] == hash;
    try_join_all(names.iter().map(|name| stage.until("MCPServer", name, "its status follows", follows)))
        .await?;
    stage.calm().await?;
    assert_once_each(&stage, mark, &names)
}

/// Fails the test unless what has changed of each server was written once, and nothing else was written or listed.
fn assert_once_each(stage: &Stage, mark: Mark, names: &[String]) -> Result<()> {
    let log = stage.operator.recorder.since(mark);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let is_meant = |write: &&Exchange| !write.name.as_deref().is_some_and(|name| name.contains("probe"));
    // Who was overtaken by a controller of Kubernetes tries again.
    for write in log.writes().iter().filter(is_meant).filter(|write| write.told != Some(409)) {
        let part = write.subresource.as_deref().unwrap_or_default();
        let what = format!("{:?} {} {part}", write.verb, write.resource);
        *counts.entry((what, write.name.clone().unwrap_or_default())).or_default() += 1;
    }
    let mut expected = BTreeMap::from([(("Apply mcpoidcconfigs status".to_owned(), "shared".to_owned()), 1)]);
    for name in names {
        let all = [
            ("MergePatch mcpservers ", name.clone()),
            ("Apply mcpservers status", name.clone()),
            ("Apply configmaps ", format!("{name}-runconfig")),
            ("Apply deployments ", name.clone()),
        ];
        expected.extend(all.map(|(what, name)| ((what.to_owned(), name), 1)));
    }
    assert_eq!(counts, expected);
    // Other tests change definitions, which may make a watch start anew: with a list, and a watch after it.
    for list in log.only(&Pattern::verb(Verb::List)).iter() {
        let watch = Pattern::verb(Verb::Watch).of(&list.resource);
        let is_of_watch = log.only(&watch).iter().any(|watch| watch.number > list.number);
        ensure!(is_of_watch, "{list} is not of a watch that starts anew");
    }
    Ok(())
}

#[tokio::test]
async fn an_edit_of_what_many_servers_share_rolls_each_of_them_once_and_writes_nothing_else() {
    in_namespace(async |space| share(&space, 20).await).await;
}

#[tokio::test]
#[ignore = "soak: it takes a minute"]
async fn soak_an_edit_of_what_two_hundred_servers_share_rolls_each_of_them_once_and_writes_nothing_else() {
    in_namespace(async |space| share(&space, 200).await).await;
}
