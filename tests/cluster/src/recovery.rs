//! A backend that cannot start, and then can.

use k8s_openapi::api::core::v1::Pod;
use serde_json::json;
use tests_fixture::{Operator, Site, apply, manifest, mcp_server};
use thv_testbed::{on_cluster, wait};

use crate::client::Client;

/// Whether a pod waits for an image that cannot be had.
fn lacks_image(pod: &Pod) -> bool {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref());
    statuses.unwrap_or_default().iter().any(|status| {
        let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
        let reason = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
        reason == "ErrImagePull" || reason == "ImagePullBackOff"
    })
}

#[tokio::test]
async fn s0_13_a_backend_with_a_bad_image_recovers_when_the_image_is_fixed() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let spec = mcp_server("localhost/there-is-none:local", &json!({}));
        let body = manifest("s", &spec);
        apply(&operator.servers(), &body).await?;
        let pods = site.api::<Pod>();
        let broken = wait::until(&pods, "s-0", "its image cannot be had", lacks_image).await?;

        let edited = operator.edit("s", json!({"spec": {"image": image}})).await?;
        let server = operator.ready(&edited).await?;
        let client = Client::connect(&server.url).await?;
        assert_eq!(client.call("echo", json!({"text": "well again"})).await?, "well again");
        assert_ne!(pods.get("s-0").await?.metadata.uid, broken.metadata.uid);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_backend_that_works_is_left_alone_when_its_next_image_is_bad() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let spec = mcp_server(&image, &json!({"backendReplicas": 2}));
        let server = operator.server("s", spec).await?;
        let pods = site.api::<Pod>();
        let both = |pod: &Pod| wait::has_condition(pod, "Ready", "True");
        let first = wait::until(&pods, "s-0", "it is ready", both).await?;

        // A StatefulSet replaces its last pod first, and stops there if that one does not become ready.
        operator.edit("s", json!({"spec": {"image": "localhost/there-is-none:local"}})).await?;
        wait::until(&pods, "s-1", "its image cannot be had", lacks_image).await?;
        let client = Client::connect(&server.url).await?;
        assert_eq!(client.call("echo", json!({"text": "still here"})).await?, "still here");
        assert_eq!(pods.get("s-0").await?.metadata.uid, first.metadata.uid);
        Ok(())
    })
    .await;
}
