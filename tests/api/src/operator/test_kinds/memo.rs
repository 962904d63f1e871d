//! A memo and the server that it is about, which has the same name.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use kube::api::DeleteParams;
use serde_json::json;
use tests_kinds::Memo;
use thv_testbed::{Pattern, Verb, in_namespace, wait};

use super::super::difference::{Children, places};
use super::super::minimal;
use super::{Stage, about, patch};

/// Makes the server, and waits until nobody has anything left to say about it.
async fn server_at_rest(stage: &Stage) -> Result<()> {
    stage.operator.server("s", minimal()).await?;
    // Its pods are there and never become ready: nobody runs them.
    wait::until(&stage.space.api::<Deployment>(), "s", "its pods are waited for", |deployment| {
        let unavailable = deployment.status.as_ref().and_then(|status| status.unavailable_replicas);
        unavailable == Some(1) && wait::has_condition(deployment, "Available", "False")
    })
    .await?;
    stage.calm().await
}

#[tokio::test]
async fn an_object_does_not_disturb_one_of_another_kind_that_has_its_name() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        server_at_rest(&stage).await?;
        let server = stage.operator.servers().get("s").await?;
        let children = Children::of(&space, &server).await?;
        let (servers, memos) = (stage.passes("MCPServer").await?, stage.passes("Memo").await?);
        let mark = stage.operator.recorder.mark();

        // A memo of the same name comes, changes and goes.
        stage.memo("s", about("s", "one")).await?;
        stage.memo("s", about("s", "two")).await?;
        stage.memos().delete("s", &DeleteParams::default()).await?;
        wait::gone(&stage.memos(), "s").await?;
        wait::gone(&space.api::<ConfigMap>(), "s-memo").await?;
        stage.calm().await?;

        // Whatever was written and looked at was the memo's, and each kind has its own count.
        assert_eq!(stage.writes(mark), ["Apply configmaps s-memo", "Apply memos s/status"].repeat(2));
        assert_eq!(stage.told(mark), []);
        stage.assert_not_looked_at("MCPServer", servers, mark).await?;
        assert!(stage.passes("Memo").await? >= memos + 3);
        let after = stage.operator.servers().get("s").await?;
        assert_eq!(after.resource_version(), server.resource_version());
        assert_eq!(children.changes(&Children::of(&space, &after).await?), places([]));

        // The operator still knows what it has applied for the server: the next pass has nothing to write.
        let mark = stage.operator.recorder.mark();
        patch(
            &stage.operator.servers(),
            "s",
            json!({"metadata": {"annotations": {"example.com/look": "1"}}}),
        )
        .await?;
        stage.passes_above("MCPServer", servers).await?;
        stage.calm().await?;
        assert_eq!(stage.writes(mark), Vec::<String>::new());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_change_of_what_an_object_refers_to_reaches_its_children_through_the_watch() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        server_at_rest(&stage).await?;
        stage.memo("s", about("s", "text")).await?;
        let before = stage.note("s", "the server is known", |data| data["exists"] == "true").await?;
        assert_eq!(before["image"], "localhost/server:1");

        // The server is edited.
        let mark = stage.operator.recorder.mark();
        stage.operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        let after =
            stage.note("s", "the image follows", |data| data["image"] == "localhost/server:2").await?;
        let mut expected = before.clone();
        expected.insert("image".to_owned(), "localhost/server:2".to_owned());
        assert_eq!(after, expected);

        // It goes.
        stage.operator.servers().delete("s", &DeleteParams::default()).await?;
        let gone = stage.note("s", "that it is gone follows", |data| data["exists"] == "false").await?;
        expected.remove("image");
        expected.insert("exists".to_owned(), "false".to_owned());
        assert_eq!(gone, expected);
        let says_so = |memo: &Memo| wait::has_condition(memo, "Ready", "False");
        let memo = wait::until(&stage.memos(), "s", "it says so", says_so).await?;
        assert_eq!(memo.status.unwrap_or_default().image, None);

        // It comes back.
        stage.operator.server("s", minimal()).await?;
        assert_eq!(
            stage.note("s", "that it is back follows", |data| data["exists"] == "true").await?,
            before
        );
        stage.calm().await?;
        let of_memo = |write: &String| write.contains("memo");
        let written: Vec<_> = stage.writes(mark).into_iter().filter(of_memo).collect();
        assert_eq!(written, ["Apply configmaps s-memo", "Apply memos s/status"].repeat(3));
        // Nobody asked for the server, or for the memo.
        for resource in ["mcpservers", "memos"] {
            let read = stage.operator.recorder.since(mark).only(&Pattern::verb(Verb::Get).of(resource));
            read.assert_empty("read");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_event_is_a_warning_or_not_by_what_the_condition_is_declared_to_mean() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let (short, long) = ("short", "a text that is so long that nobody ever reads it to its end");
        stage.memo("m", about("s", short)).await?;
        let mark = stage.operator.recorder.mark();

        // One condition is bad when it holds, the other when it does not.
        stage.memo("m", about("s", long)).await?;
        stage.memo("m", about("s", short)).await?;
        stage.operator.server("s", minimal()).await?;
        let is_ready = async |status: &'static str| {
            let is_so = |memo: &Memo| wait::has_condition(memo, "Ready", status);
            wait::until(&stage.memos(), "m", "it follows", is_so).await
        };
        is_ready("True").await?;
        stage.operator.servers().delete("s", &DeleteParams::default()).await?;
        is_ready("False").await?;
        // An event comes after the status that it is about.
        stage.memo("m", about("s", "another")).await?;

        let told: Vec<_> = stage.told(mark).into_iter().filter(|(kind, ..)| kind == "Memo").collect();
        let expected = [
            ("Warning", "TooLong"),
            ("Normal", "Fits"),
            ("Normal", "AsWanted"),
            ("Warning", "ServerNotFound"),
        ];
        let expected = expected
            .map(|(type_, reason)| ("Memo".to_owned(), "m".to_owned(), type_.to_owned(), reason.to_owned()));
        assert_eq!(told, expected);
        Ok(())
    })
    .await;
}
