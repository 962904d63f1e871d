//! The official conformance suite comes to the same verdict through the proxy as without it, check by check.

mod verdicts;

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Value, json};
use tests_fixture::{Operator, PROTOCOLS, Peers, Site};
use thv_testbed::on_cluster;

use self::verdicts::Verdicts;
use crate::place::{direct, server};

/// Scenarios that our server does not pass by itself. It leaves names to the network, and has no tasks, which are an
/// extension. Through the proxy, their checks must fail in the same way.
const BEYOND: [&str; 2] = ["dns-rebinding-protection", "tasks-"];

/// Without this, two runs that both fail would pass for the same.
fn assert_sound(verdicts: &Verdicts) {
    let failing: BTreeSet<_> = verdicts.failing().into_iter().collect();
    let unexpected: Vec<_> =
        failing.iter().filter(|name| !BEYOND.iter().any(|beyond| name.starts_with(beyond))).collect();
    assert!(unexpected.is_empty(), "the server fails by itself in {unexpected:?}:\n{}", verdicts.failures());
}

/// Runs what these versions of the protocol require against both addresses, and compares.
async fn compare(peers: &Peers, versions: &[&str], through: &str, directly: &str) -> Result<()> {
    let mut differences = Vec::new();
    for version in versions {
        let expected = Verdicts::of(peers, directly, version).await?;
        assert_sound(&expected);
        let seen = Verdicts::of(peers, through, version).await?;
        differences.extend(expected.differences(&seen).into_iter().map(|line| format!("{version} {line}")));
    }
    assert!(differences.is_empty(), "{} checks differ:\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

async fn through_the_proxy(versions: &[&str], spec: Value) {
    on_cluster(async |space| {
        let peers = Peers::find()?;
        let operator = Operator::start(&Site::of(&space).await?).await?;
        let image = operator.site().image("peer-server").await?;
        let rust = server(&operator, "rust", &image, spec).await?;
        let directly = direct(operator.site(), "rust", "/mcp").await?;
        operator.explain(compare(&peers, versions, &rust.url, &directly).await).await
    })
    .await;
}

#[tokio::test]
async fn the_conformance_suite_sees_no_proxy_before_a_server_with_sessions() {
    through_the_proxy(&PROTOCOLS, json!({})).await;
}

#[tokio::test]
async fn the_conformance_suite_sees_no_proxy_before_a_server_that_answers_without_streams() {
    // In the older era, such a server cannot ask its client anything, and half of the suite would wait for that.
    let [_, newer] = PROTOCOLS;
    through_the_proxy(&[newer], json!({"args": ["--stateless"]})).await;
}
