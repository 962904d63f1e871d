//! An operator that is there before its kinds are, on an API server of its own: all others share theirs.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::FutureExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::{Kind, names};
use thv_testbed::{
    Bed, Cluster, Owner, Pattern, Recorder, Subject, SubjectBuilder, Tier, Verb, built_program, free_port,
    wait,
};
use tokio::time::timeout;

use super::minimal;
use crate::fixture::{apply, ask};

const NAMESPACE: &str = "default";

#[tokio::test]
async fn an_operator_waits_for_kinds_that_are_missing_or_not_served_and_says_which() -> Result<()> {
    let assets = Bed::open(Tier::Api).await?.description().assets.clone();
    let cluster = Cluster::start(Tier::Api, assets, Owner::TestRun, &|_| {}).await?;
    let bed = Bed::at(&cluster.description().file()).await?;
    let outcome = AssertUnwindSafe(waits(&bed)).catch_unwind().await;
    cluster.stop().await?;
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

async fn waits(bed: &Bed) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(bed.client());
    let servers = format!("{}.{}", MCPServerSpec::PLURAL, names::GROUP);
    let all: BTreeSet<String> = thv_api::crds().iter().map(ResourceExt::name_any).collect();
    let (recorder, port) = (Recorder::start(bed).await?, free_port()?);
    let mut operator = start(&recorder, port)?;

    // It lives, is not ready, and says why.
    until_missing(port, &operator, &all).await?;
    assert_eq!(ask(port, "/healthz").await?.0, 200);
    assert_told(&operator, &all);

    // Somebody else has taken the name of a kind, so that the API server has ours and does not serve it.
    definitions.create(&PostParams::default(), &impostor()?).await?;
    wait::until(&definitions, &impostor()?.name_any(), "it has the name", |definition| {
        wait::has_condition(definition, "NamesAccepted", "True")
    })
    .await?;
    for definition in thv_api::crds() {
        definitions.create(&PostParams::default(), &definition).await?;
    }
    until_missing(port, &operator, &BTreeSet::from([servers.clone()])).await?;
    let refused = definitions.get(&servers).await?;
    assert!(wait::has_condition(&refused, "NamesAccepted", "False"), "{:?}", refused.status);
    assert!(!wait::has_condition(&refused, "Established", "True"), "{:?}", refused.status);
    assert!(operator.output().contains(&format!("[\\\"{servers}\\\"]")), "{}", operator.output());
    // What is not served cannot be watched, so nothing is.
    recorder.log().only(&Pattern::verb(Verb::Watch)).assert_empty("watch");

    // It goes on by itself as soon as it can.
    definitions.delete(&impostor()?.name_any(), &DeleteParams::default()).await?;
    until(port, &operator, "it is ready", |status, _| status == 200).await?;
    assert!(operator.is_running()?);
    let api: Api<MCPServer> = Api::namespaced(bed.client(), NAMESPACE);
    let body = json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": "s"},
        "spec": minimal(),
    });
    apply(&api, "s", "user", &body).await?;
    wait::until(&api, "s", "the operator has dealt with it", |server| {
        server.status.as_ref().is_some_and(|status| status.observed_generation.is_some())
    })
    .await?;
    Ok(())
}

fn start(recorder: &Recorder, port: u16) -> Result<Subject> {
    SubjectBuilder::new(built_program("thv-operator")?)
        .args(["--metrics-bind-address", "0", "--health-probe-bind-address"])
        .args([format!("127.0.0.1:{port}")])
        .args(["--kubeconfig".into(), recorder.admin_kubeconfig()?.into_os_string()])
        .env("WATCH_NAMESPACE", NAMESPACE)
        .env("POD_NAMESPACE", NAMESPACE)
        .env("OPERATOR_OPENSHIFT", "false")
        .start()
}

/// Something of another kind that calls itself what one of ours is called.
fn impostor() -> Result<CustomResourceDefinition> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("impostors.{}", names::GROUP)},
        "spec": {
            "group": names::GROUP, "scope": "Namespaced",
            "names": {"kind": MCPServerSpec::KIND, "plural": "impostors", "singular": "impostor"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    }))?)
}

/// Waits until the operator says that exactly these definitions are missing.
async fn until_missing(port: u16, operator: &Subject, missing: &BTreeSet<String>) -> Result<()> {
    let is_so = |status: u16, body: &str| {
        let (_, named) = body.rsplit_once(": ").unwrap_or_default();
        status == 503 && named.split(", ").map(str::to_owned).collect::<BTreeSet<_>>() == *missing
    };
    until(port, operator, &format!("it says that {missing:?} are missing"), is_so).await
}

/// Fails the test unless the operator has written the name of each.
#[track_caller]
fn assert_told(operator: &Subject, names: &BTreeSet<String>) {
    let output = operator.output();
    for name in names {
        assert!(output.contains(name.as_str()), "{name} is not in {output}");
    }
}

/// Asks whether the operator is ready until the answer is as it should be.
async fn until(port: u16, operator: &Subject, what: &str, is_so: impl Fn(u16, &str) -> bool) -> Result<()> {
    let mut last = (0, String::new());
    let asking = async {
        loop {
            // It may not listen yet.
            if let Ok(answer) = ask(port, "/readyz").await {
                last = answer;
                if is_so(last.0, &last.1) {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let done = timeout(wait::DEADLINE, asking).await.is_ok();
    ensure!(done, "waited until {what}; its answer is {last:?}, and it wrote:\n{}", operator.output());
    Ok(())
}
