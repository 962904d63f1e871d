//! Conditions: written when they change, and dated when they turn.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use serde_json::json;
use thv_api::conditions::Reason;
use thv_api::conditions::mcp_server::{SessionStorageWarning, StdioReplicaCapped};
use thv_api::kinds::MCPServer;
use thv_testbed::{Fault, in_namespace};

use super::scene::{NAME, Scene, assert_says, conditions, status_apply};
use crate::fixture::apply_status;

/// A time of long ago: were a condition dated anew, one would see it at once.
const LONG_AGO: &str = "2020-02-02T02:02:02Z";

#[tokio::test]
async fn s2_13_the_same_outcome_writes_no_status_and_moves_no_time() {
    in_namespace(async |space| {
        let mut scene = Scene::with(&space, json!({})).await?;
        let then: Timestamp = LONG_AGO.parse()?;
        let mut status = scene.operator.servers().get(NAME).await?.status.unwrap();
        for condition in status.conditions.as_mut().unwrap() {
            condition.last_transition_time = Time(then);
        }
        let body = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": NAME},
            "status": status,
        });
        let mark = scene.operator.recorder.mark();
        let old = apply_status(&scene.operator.servers(), NAME, "toolhive-operator", &body).await?;
        assert!(times(&old).iter().all(|(_, time)| *time == then), "{:?}", times(&old));

        scene.look_again().await?;
        scene.operator.subject.restart().await?;
        scene.look_again().await?;
        assert!(scene.passes(mark) >= 2);
        scene.operator.recorder.since(mark).only(&status_apply()).assert_empty("write of the status");
        assert_eq!(scene.operator.servers().get(NAME).await?.status, old.status);

        // One condition turns, and only that is dated.
        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"replicas": 2})).await?;
        assert_says(&server, SessionStorageWarning::Missing);
        let turned: Vec<_> = times(&server).into_iter().filter(|(_, time)| *time != then).collect();
        assert!(turned.len() == 1 && turned[0].0 == SessionStorageWarning::TYPE, "{turned:?}");
        assert!(turned[0].1 > then, "{turned:?}");
        assert_eq!(scene.operator.recorder.since(mark).only(&status_apply()).len(), 1);

        // The reason changes and the status does not.
        let (since, mark) = (turned[0].1, scene.operator.recorder.mark());
        let server = scene.edit(json!({"replicas": 3})).await?;
        assert!(times(&server).contains(&(SessionStorageWarning::TYPE.to_owned(), since)));
        assert_eq!(scene.operator.recorder.since(mark).only(&status_apply()).len(), 1);
        Ok(())
    })
    .await;
}

fn times(server: &MCPServer) -> Vec<(String, Timestamp)> {
    let all = server.status.iter().flat_map(|status| status.conditions.iter().flatten());
    all.map(|Condition { type_, last_transition_time, .. }| (type_.clone(), last_transition_time.0)).collect()
}

#[tokio::test]
async fn s2_13_a_status_that_could_not_be_written_is_written_later() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let mark = scene.operator.recorder.mark();
        // The second is for the report of the first.
        scene.operator.recorder.fail(status_apply(), 2, Fault::Answer(500));
        let server = scene.edit(json!({"replicas": 2})).await?;
        assert_says(&server, SessionStorageWarning::Missing);
        let answers: Vec<_> = scene
            .operator
            .recorder
            .since(mark)
            .only(&status_apply())
            .iter()
            .map(|write| write.told)
            .collect();
        assert_eq!(answers, [Some(500), Some(500), Some(200)]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_17_types_and_reasons_are_constants_of_the_api_and_all_are_in_use() {
    let spelled = [
        ("StdioReplicaCapped", "True", "StdioTransportCapAt1"),
        ("StdioReplicaCapped", "False", "StdioReplicaCapNotActive"),
        ("SessionStorageWarning", "True", "SessionStorageMissingForReplicas"),
        ("SessionStorageWarning", "False", "SessionStorageConfigured"),
        ("SessionStorageWarning", "False", "SessionStorageWarningNotApplicable"),
    ];
    let spelled: BTreeSet<_> = spelled.map(|(kind, status, reason)| texts(kind, status, reason)).into();
    let declared: BTreeSet<_> =
        declared(StdioReplicaCapped::ALL).chain(declared(SessionStorageWarning::ALL)).collect();
    assert_eq!(declared, spelled);

    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"transport": "stdio"})).await?;
        let mut said = BTreeSet::new();
        let redis = json!({"sessionStorage": {"provider": "redis", "address": "redis:6379"}});
        for edit in [json!({"replicas": 3}), redis, json!({"transport": "sse"}), json!({"replicas": 1})] {
            for (kind, (status, reason)) in conditions(&scene.edit(edit).await?) {
                said.insert((kind, status, reason));
            }
        }
        said.retain(|(kind, ..)| kind == StdioReplicaCapped::TYPE || kind == SessionStorageWarning::TYPE);
        assert_eq!(said, spelled);
        Ok(())
    })
    .await;
}

fn declared<R: Reason>(all: &[R]) -> impl Iterator<Item = (String, String, String)> {
    all.iter().map(|reason| texts(R::TYPE, reason.status().as_str(), reason.as_str()))
}

fn texts(kind: &str, status: &str, reason: &str) -> (String, String, String) {
    (kind.to_owned(), status.to_owned(), reason.to_owned())
}
