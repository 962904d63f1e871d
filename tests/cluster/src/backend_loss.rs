//! Backends that go away while sessions are in use.

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use http::StatusCode;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tests_fixture::{Operator, Site, mcp_server};
use thv_testbed::{on_cluster, wait};

use crate::client::{Answer, Client};

const SESSIONS: usize = 10;

/// What may be told about a backend that is not there.
const CAUSES: [&str; 3] = ["backend_unreachable", "backend_lost", "overloaded"];

/// An answer of the new backend, or an error that names its cause.
fn is_honest(answer: &Answer) -> bool {
    let cause = answer.message.pointer("/error/data/cause").and_then(Value::as_str).unwrap_or_default();
    match answer.status {
        StatusCode::OK => answer.message.get("result").is_some(),
        StatusCode::NOT_FOUND => answer.message.pointer("/error/code") == Some(&json!(-32001)),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE => CAUSES.contains(&cause),
        _ => false,
    }
}

#[tokio::test]
async fn sessions_outlive_the_backend_pod_that_they_began_with() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let spec = mcp_server(&image, &json!({}));
        let server = operator.server("s", spec).await?;
        let clients = try_join_all((0..SESSIONS).map(|_| Client::connect(&server.url))).await?;

        let pods = site.api::<Pod>();
        let lost = pods.get("s-0").await?;
        let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
        pods.delete("s-0", &at_once).await?;
        let answers =
            try_join_all(clients.iter().map(|client| client.try_call("echo", json!({"text": "x"})))).await?;
        for answer in &answers {
            ensure!(is_honest(answer), "{answer:?}");
        }

        let back = |pod: &Pod| pod.uid() != lost.uid() && wait::has_condition(pod, "Ready", "True");
        wait::until(&pods, "s-0", "it is back", back).await?;
        for (client, answer) in clients.iter().zip(&answers) {
            // Who was told that the session is gone begins a new one; everybody else goes on.
            if answer.status == StatusCode::NOT_FOUND {
                continue;
            }
            ensure!(client.call("echo", json!({"text": "again"})).await? == "again");
        }
        ensure!(
            answers.iter().any(|answer| answer.status != StatusCode::NOT_FOUND),
            "every session was lost"
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn sessions_are_spread_over_the_pods_of_a_backend_and_stay_where_they_are() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let redis = space.redis().await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let more = json!({
            "replicas": 2, "backendReplicas": 3, "sessionAffinity": "None",
            "sessionStorage": {"provider": "redis", "address": redis},
        });
        let spec = mcp_server(&image, &more);
        let server = operator.server("s", spec).await?;
        let ready = |pod: &Pod| wait::has_condition(pod, "Ready", "True");
        for pod in ["s-0", "s-1", "s-2"] {
            wait::until(&site.api::<Pod>(), pod, "it is ready", ready).await?;
        }
        let clients = try_join_all((0..12).map(|_| Client::connect(&server.url))).await?;
        let mut homes = std::collections::BTreeSet::new();
        for client in &clients {
            let home = hostname(client).await?;
            for _ in 0..4 {
                // A new connection goes to either proxy, and both know where the session lives.
                ensure!(hostname(&client.again()).await? == home, "a session moved away from {home}");
            }
            homes.insert(home);
        }
        ensure!(homes.len() == 3, "all sessions are at {homes:?}");
        Ok(())
    })
    .await;
}

async fn hostname(client: &Client) -> Result<String> {
    let known: Value = serde_json::from_str(&client.call("whoami", json!({})).await?)?;
    Ok(known["hostname"].as_str().unwrap_or_default().to_owned())
}
