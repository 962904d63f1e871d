//! The generation on the pod template when somebody else writes it.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::json;
use thv_testbed::{Exchange, Mark, Pattern, Verb, in_namespace, wait};

use super::rollout::{Birth, STAMP, patch};
use super::{Operator, minimal, pod_annotations};

/// The stamps in the applies of a Deployment that went through.
fn sent(operator: &Operator, name: &str) -> Vec<i64> {
    let applies = Pattern::verb(Verb::Apply).of("deployments").named(name).whole();
    let log = operator.recorder.since(Mark::default()).only(&applies);
    let stamp = |write: &Exchange| -> Option<i64> {
        let annotations = write.body.as_ref()?.pointer("/spec/template/metadata/annotations")?;
        annotations.get(STAMP)?.as_str()?.parse().ok()
    };
    log.iter().filter(|write| write.answered == Some(200)).filter_map(stamp).collect()
}

#[tokio::test]
async fn a_generation_that_somebody_else_writes_on_the_pods_becomes_that_of_the_server() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        // A server for each, because who keeps repairing one object is in a fight.
        for (name, foreign) in [("high", "99"), ("text", "abc"), ("low", "1")] {
            operator.server(name, minimal()).await?;
            operator.edit(name, json!({"spec": {"image": "localhost/server:2"}})).await?;
            // No pod sees this edit, so that the stamp stays behind the generation.
            let server = operator.edit(name, json!({"spec": {"replicas": 1}})).await?;
            let generation = server.metadata.generation.unwrap();
            assert_eq!((generation, Birth::of(&operator.deployment(name).await?).stamp), (3, 2));

            let deployments = space.api::<Deployment>();
            let written = json!({"spec": {"template": {"metadata": {"annotations": {STAMP: foreign}}}}});
            let mark = operator.recorder.mark();
            patch(&deployments, name, written).await?;
            let is_ours = |deployment: &Deployment| pod_annotations(deployment)[STAMP] == "3";
            wait::until(&deployments, name, "the stamp is the generation", is_ours).await?;
            operator.outlast(name).await?;
            let applies = Pattern::verb(Verb::Apply).of("deployments").named(name).whole();
            let applies = operator.recorder.since(mark).only(&applies);
            assert_eq!(applies.iter().filter(|write| write.answered == Some(200)).count(), 1, "{applies}");

            let server = operator.edit(name, json!({"spec": {"image": "localhost/server:3"}})).await?;
            let stamp = Birth::of(&operator.deployment(name).await?).stamp;
            assert_eq!((Some(stamp), stamp), (server.metadata.generation, 4));
            let all = sent(&operator, name);
            assert!(all.is_sorted() && all.last() == Some(&4), "{all:?}");
        }
        Ok(())
    })
    .await;
}
