//! Kubernetes or OpenShift: found by asking for Routes, and never guessed.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::PodSecurityContext;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde_json::json;
use tests_fixture::install_kinds;
use thv_testbed::{Bed, Fault, Moment, Pattern, Recorder, Verb, wait};

use super::alone::{Alone, NAMESPACE, on_own_cluster};

/// The group that only OpenShift serves.
const ROUTES: &str = "route.openshift.io";

/// The question whether this is OpenShift.
fn question() -> Pattern {
    Pattern::verb(Verb::Other).in_group(ROUTES)
}

/// What OpenShift has, as a CRD.
fn routes() -> Result<CustomResourceDefinition> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("routes.{ROUTES}")},
        "spec": {
            "group": ROUTES, "scope": "Namespaced",
            "names": {"kind": "Route", "plural": "routes", "singular": "route"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    }))?)
}

/// What the pods of a server run as. OpenShift chooses the ids itself, and refuses pods that name some.
async fn ids(bed: &Bed, operator: &Alone, name: &str) -> Result<(Option<bool>, Option<i64>)> {
    operator.server(name).await?;
    let deployments: Api<Deployment> = Api::namespaced(bed.client(), NAMESPACE);
    let template = deployments.get(name).await?.spec.context("no spec")?.template;
    let context = template.spec.and_then(|spec| spec.security_context);
    let PodSecurityContext { run_as_non_root, run_as_user, .. } = context.context("no security context")?;
    Ok((run_as_non_root, run_as_user))
}

#[tokio::test]
async fn an_operator_waits_until_it_knows_whether_this_is_openshift() -> Result<()> {
    on_own_cluster(async |bed| {
        install_kinds(&bed.client()).await?;

        // No Routes: any Kubernetes.
        let mut operator = Alone::start(bed, Recorder::start(bed).await?, &[]).await?;
        let (non_root, user) = ids(bed, &operator, "kubernetes").await?;
        assert!(non_root == Some(true) && user.is_some(), "{user:?}");
        operator.subject.kill().await?;

        let definitions: Api<CustomResourceDefinition> = Api::all(bed.client());
        definitions.create(&PostParams::default(), &routes()?).await?;
        wait::until(&definitions, &routes()?.name_any(), "there are Routes", |definition| {
            wait::has_condition(definition, "Established", "True")
        })
        .await?;

        // Now there are, and the API server is slow to say so, and then refuses to.
        let recorder = Recorder::start(bed).await?;
        let mut breakpoint = recorder.breakpoint(question(), 0, Moment::Before);
        recorder.fail(question(), usize::MAX, Fault::Answer(403));
        let mut operator = Alone::start(bed, recorder, &[]).await?;
        breakpoint.hit().await?;
        operator.waits("asking the API server whether this is OpenShift").await?;
        breakpoint.release();
        operator.waits("cannot find out whether this is OpenShift").await?;
        operator.recorder.log().only(&Pattern::verb(Verb::Watch)).assert_empty("watch");

        // It can be told to stop while it waits.
        operator.subject.terminate()?;
        assert!(operator.subject.exit().await?.success(), "{}", operator.subject.output());

        // It goes on by itself when it is told, and believes nothing else.
        let mark = operator.recorder.mark();
        operator.subject.restart().await?;
        operator.waits("cannot find out whether this is OpenShift").await?;
        operator.recorder.heal();
        operator.ready().await?;
        assert_eq!(ids(bed, &operator, "openshift").await?, (Some(true), None));
        let asked = operator.recorder.since(mark).only(&question());
        let answers: Vec<_> = asked.iter().map(|exchange| exchange.told).collect();
        let (last, refused) = answers.split_last().context("it has not asked")?;
        assert!(*last == Some(200) && refused.iter().all(|code| *code == Some(403)), "{answers:?}");
        Ok(())
    })
    .await
}
