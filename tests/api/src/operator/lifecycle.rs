//! The whole life of a server.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;
use thv_testbed::{in_namespace, wait};

use super::{Operator, minimal, pod_annotations};

#[tokio::test]
async fn s0_01_the_pod_template_carries_the_generation_and_the_container_gets_it() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let server = operator.server("s", minimal()).await?;
        let deployment = operator.deployment("s").await?;
        let stamp = server.metadata.generation.unwrap().to_string();
        assert_eq!(pod_annotations(&deployment)["toolhive.stacklok.dev/mcpserver-generation"], stamp);
        let pod = deployment.spec.unwrap().template.spec.unwrap();
        let env = pod.containers[0].env.as_ref().unwrap();
        let variable = env.iter().find(|variable| variable.name == "THV_MCPSERVER_GENERATION").unwrap();
        assert_eq!(variable.value, None);
        let field = variable.value_from.as_ref().unwrap().field_ref.as_ref().unwrap();
        assert_eq!(field.api_version.as_deref(), Some("v1"));
        assert_eq!(field.field_path, "metadata.annotations['toolhive.stacklok.dev/mcpserver-generation']");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_04_a_whole_life_contains_no_put_and_every_other_patch_has_a_precondition() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        operator.servers().delete("s", &DeleteParams::default()).await?;
        wait::gone(&operator.servers(), "s").await?;
        wait::gone(&space.api::<Deployment>(), "s").await?;
        wait::gone(&space.api::<Service>(), "mcp-s-proxy").await?;
        wait::gone(&space.api::<ConfigMap>(), "s-runconfig").await?;

        let log = operator.recorder.log();
        log.assert_no_put();
        for write in log.writes().iter() {
            let body = write.body.clone().unwrap_or_default();
            let precondition = match write.verb {
                thv_testbed::Verb::MergePatch => body["metadata"]["resourceVersion"].is_string(),
                thv_testbed::Verb::JsonPatch => body[0]["op"] == "test",
                _ => true,
            };
            assert!(precondition || write.resource == "events", "{write}: {body}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn g1_a_settled_server_is_not_written_again_even_by_a_new_operator() {
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let children = async || {
            let deployment = space.api::<Deployment>().get("s").await?;
            let service = space.api::<Service>().get("mcp-s-proxy").await?;
            let config = space.api::<ConfigMap>().get("s-runconfig").await?;
            anyhow::Ok([
                (deployment.metadata.generation, deployment.metadata.uid),
                (None, service.resource_version()),
                (None, config.resource_version()),
            ])
        };
        let before = children().await?;
        let mark = operator.recorder.mark();
        operator.subject.restart().await?;
        // The new one applies every child once, which changes nothing; its last is the Deployment.
        let applies = thv_testbed::Pattern::verb(thv_testbed::Verb::Apply).of("deployments");
        operator.recorder.seen(mark, &applies).await?;
        operator.server("probe", minimal()).await?;
        assert_eq!(children().await?, before);
        Ok(())
    })
    .await;
}
