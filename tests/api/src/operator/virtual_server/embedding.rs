//! The first pods of a virtual server wait for its embedding server.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use thv_api::kinds::{EmbeddingServerSpec, VirtualMCPServerPhase};
use thv_testbed::{in_namespace, wait};

use super::{NAME, Stage, condition, pair};
use crate::operator::rollout::config;
use crate::operator::{pods, rollout};

#[tokio::test]
async fn first_pods_wait_for_the_embedding_server_and_later_ones_do_not() {
    in_namespace(async |space| {
        let embeddings = |port: u16| json!({"image": "localhost/embeddings:1", "port": port});
        config::<EmbeddingServerSpec>(&space, "vectors", embeddings(9090)).await?;
        let stage = Stage::with(&space, json!({"embeddingServerRef": {"name": "vectors"}})).await?;
        let server = stage.settled().await?;
        assert_eq!(condition(&server, "EmbeddingServerReady"), pair("False", "EmbeddingServerNotReady"));
        assert_eq!(server.status.unwrap().phase, Some(VirtualMCPServerPhase::Pending));
        stage.look_again().await?;
        assert!(space.api::<Deployment>().get_opt(NAME).await?.is_none());

        let of_vectors = "vectors-0";
        wait::until(&space.api::<Pod>(), of_vectors, "it is there", |_| true).await?;
        pods::report(&space, of_vectors, pods::ready("embedding")).await?;
        wait::until(&space.api::<Deployment>(), NAME, "it is there", |_| true).await?;
        let server = stage
            .until("it says that embeddings can be had", |server| {
                condition(server, "EmbeddingServerReady") == pair("True", "EmbeddingServerReady")
            })
            .await?;
        assert_eq!(condition(&server, "Ready"), pair("False", "DeploymentNotReady"));
        let service = |port: u16| format!("http://vectors.{}.svc.cluster.local:{port}", space.namespace());
        let url = |text: &str| -> anyhow::Result<Value> {
            Ok(serde_saphyr::from_str::<Value>(text)?["optimizer"]["embeddingService"].clone())
        };
        assert_eq!(url(&stage.config().await?)?, service(9090));

        // It fails, which is told, and an edit does not wait for it.
        let mut status = pods::ready("embedding");
        for condition in status["conditions"].as_array_mut().unwrap() {
            condition["status"] = json!("False");
        }
        pods::report(&space, of_vectors, status).await?;
        stage
            .until("it says that embeddings cannot be had", |server| {
                condition(server, "EmbeddingServerReady") == pair("False", "EmbeddingServerNotReady")
            })
            .await?;
        let old = stage.deployment().await?;
        stage.edit(json!({"config": {"metadata": {"team": "a"}}})).await?;
        let new = stage.deployment().await?;
        assert_ne!(new.metadata.generation, old.metadata.generation);

        // Another port is another address.
        config::<EmbeddingServerSpec>(&space, "vectors", embeddings(9091)).await?;
        stage.operator.rolled(&new).await?;
        assert_eq!(url(&stage.config().await?)?, service(9091));
        assert_eq!(rollout::replica_sets(&space, NAME).await?.len(), 3);
        Ok(())
    })
    .await;
}
