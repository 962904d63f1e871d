//! Waiting, and what it says when it gives up.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::DeleteParams;
use serde_json::json;
use thv_testbed::{in_namespace, wait};

use crate::fixture::{apply, config_map, deployment};

#[tokio::test]
async fn a_wait_ends_when_the_condition_holds() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        apply(&api, "d", "test", &deployment("d", json!({"replicas": 0}))).await?;
        wait::until(&api, "d", "it is available", |d| wait::has_condition(d, "Available", "True")).await?;
        api.delete("d", &DeleteParams::default()).await?;
        wait::gone(&api, "d").await
    })
    .await;
}

#[tokio::test]
async fn a_wait_that_gives_up_shows_the_object() {
    in_namespace(async |space| {
        let api = space.api::<ConfigMap>();
        apply(&api, "c", "test", &config_map("c", "what it was")).await?;
        let brief = Duration::from_millis(500);
        let error =
            wait::until_within(brief, &api, "c", "it is never", |_| false).await.unwrap_err().to_string();
        assert!(error.contains("until it is never") && error.contains("key: what it was"), "{error}");
        assert!(!error.contains("managedFields"), "{error}");
        let error =
            wait::until_within(brief, &api, "x", "it exists", |_| true).await.unwrap_err().to_string();
        assert!(error.contains("There is no such object"), "{error}");
        Ok(())
    })
    .await;
}
