//! An operator that is there before its kinds are.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

use anyhow::Result;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tests_fixture::ACCOUNT;
use thv_api::kinds::MCPServerSpec;
use thv_api::{Kind, names};
use thv_testbed::{Bed, Fault, Pattern, Recorder, Verb, wait};

use super::alone::{Alone, on_own_cluster};

#[tokio::test]
async fn an_operator_with_roles_only_names_the_kinds_that_are_not_served_and_works_once_they_are()
-> Result<()> {
    on_own_cluster(async |bed| {
        let definitions: Api<CustomResourceDefinition> = Api::all(bed.client());
        let servers = format!("{}.{}", MCPServerSpec::PLURAL, names::GROUP);
        let all: BTreeSet<String> = thv_api::crds().iter().map(ResourceExt::name_any).collect();
        let recorder = Recorder::start(bed).await?;
        let discovery = Pattern::verb(Verb::Other).in_group(names::GROUP);
        recorder.fail(discovery.clone(), usize::MAX, Fault::Answer(403));
        let mut operator = Alone::start(bed, recorder, &[("OPERATOR_OPENSHIFT", "false")]).await?;

        // A refusal does not mean that kinds are missing.
        operator.waits("The API server does not say what it serves of toolhive.stacklok.dev/").await?;
        operator.recorder.heal();

        // It lives, is not ready, and says why.
        until_missing(&operator, &all).await?;
        is_alive_over_either_family(&operator).await?;
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
        until_missing(&operator, &BTreeSet::from([servers.clone()])).await?;
        let refused = definitions.get(&servers).await?;
        assert!(wait::has_condition(&refused, "NamesAccepted", "False"), "{:?}", refused.status);
        assert!(!wait::has_condition(&refused, "Established", "True"), "{:?}", refused.status);
        // What is not served cannot be watched, so nothing is.
        operator.recorder.log().only(&Pattern::verb(Verb::Watch)).assert_empty("watch");

        // It goes on by itself as soon as it can.
        definitions.delete(&impostor()?.name_any(), &DeleteParams::default()).await?;
        operator.ready().await?;
        assert!(operator.subject.is_running()?);
        operator.server("s").await?;
        has_needed_roles_only(bed, &operator).await
    })
    .await
}

/// Fails the test unless the operator has asked for nothing that it may not do, and has no right in the whole cluster.
async fn has_needed_roles_only(bed: &Bed, operator: &Alone) -> Result<()> {
    let bindings: Api<ClusterRoleBinding> = Api::all(bed.client());
    for binding in bindings.list(&ListParams::default()).await? {
        let subjects = binding.subjects.unwrap_or_default();
        assert!(subjects.iter().all(|subject| subject.name != ACCOUNT), "{:?}", binding.metadata);
    }
    for exchange in operator.recorder.log().iter() {
        assert!(exchange.answered != Some(403), "{exchange}");
        assert!(exchange.namespace.is_some() || exchange.verb == Verb::Other, "{exchange}");
    }
    Ok(())
}

/// Asks the probe at every loopback address of this machine: not every machine has IPv6.
async fn is_alive_over_either_family(operator: &Alone) -> Result<()> {
    assert_eq!(operator.ask(Ipv4Addr::LOCALHOST.into(), "/healthz").await?.0, 200);
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        assert_eq!(operator.ask(Ipv6Addr::LOCALHOST.into(), "/healthz").await?.0, 200);
    }
    Ok(())
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
async fn until_missing(operator: &Alone, missing: &BTreeSet<String>) -> Result<()> {
    let is_so = |status: u16, body: &str| {
        let (_, named) = body.rsplit_once("Missing: ").unwrap_or_default();
        status == 503 && named.split(", ").map(str::to_owned).collect::<BTreeSet<_>>() == *missing
    };
    operator.until(&format!("it says that {missing:?} are missing"), is_so).await
}

/// Fails the test unless the operator has written the name of each.
#[track_caller]
fn assert_told(operator: &Alone, names: &BTreeSet<String>) {
    let output = operator.subject.output();
    for name in names {
        assert!(output.contains(name.as_str()), "{name} is not in {output}");
    }
}
