//! The pods of a backend. Nothing runs them here, so the test says how they do.

use anyhow::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_testbed::{Pattern, Verb, in_namespace, wait};
use thv_workload::Instances;

use super::proxy::{Sketch, revision};
use super::stage::{NAME, Stage};

fn pods(stage: &Stage) -> Api<Pod> {
    stage.space.api()
}

/// Waits for a pod and says how it does.
async fn tell(stage: &Stage, name: &str, status: Value) -> Result<Pod> {
    wait::until(&pods(stage), name, "the StatefulSet has made it", |_| true).await?;
    let patch = Patch::Merge(json!({ "status": status }));
    Ok(pods(stage).patch_status(name, &PatchParams::default(), &patch).await?)
}

fn running(ip: &str, container: &str, ready: bool) -> Value {
    json!({
        "phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}],
        "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
        "containerStatuses": [{
            "name": "mcp", "containerID": container, "ready": ready, "restartCount": 0, "image": "i", "imageID": "i",
            "state": {"running": {}},
        }],
    })
}

fn waiting(reason: &str) -> Value {
    json!({
        "phase": "Pending",
        "containerStatuses": [{
            "name": "mcp", "ready": false, "restartCount": 0, "image": "i", "imageID": "",
            "state": {"waiting": {"reason": reason}},
        }],
    })
}

#[tokio::test]
async fn instances_come_and_go_with_their_pods() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut proxy = stage.bound(&revision(1)).await?;
        assert_eq!(proxy.backend.service_url(), "http://mcp-web:3000");
        let pod = tell(&stage, "web-0", running("10.0.0.7", "containerd://a", false)).await?;
        let all = proxy.instances(|all| all.len() == 1).await?;
        let key = format!("0/{}/containerd://a", pod.uid().unwrap());
        assert_eq!((&*all[0].key(), all[0].ready, all[0].terminating), (key.as_str(), false, false));
        assert_eq!(all[0].address.to_string(), "10.0.0.7:3000");

        tell(&stage, "web-0", running("10.0.0.7", "containerd://b", true)).await?;
        let all = proxy.instances(|all| all.iter().any(|one| one.ready)).await?;
        assert!(all[0].key().ends_with("/containerd://b"));

        // A pod with our label that is not of our StatefulSet is none of ours. Without an owner, it would become one.
        let owner = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "name": NAME, "uid": stage.uid,
            "controller": true,
        });
        let stranger = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-9", "labels": {"app": "web"}, "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "mcp", "image": "i"}]},
        });
        crate::fixture::apply(&pods(&stage), "web-9", "test", &stranger).await?;
        tell(&stage, "web-9", running("10.0.0.9", "containerd://c", true)).await?;
        // Whether it is superseded or not, a proxy knows where to send requests.
        stage.mint(2).await?;
        let second = Sketch { number: Some(2), ..revision(1) };
        let second = stage.bound(&second).await?;
        proxy.until("superseded").await?;
        tell(&stage, "web-0", running("10.0.0.7", "containerd://d", true)).await?;
        for proxy in [&proxy, &second] {
            let is_newest = |all: &Instances| all.iter().any(|one| &*one.container == "containerd://d");
            let all = proxy.instances(is_newest).await?;
            assert_eq!(all.iter().map(|one| one.ordinal).collect::<Vec<_>>(), [0]);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_13_a_pod_that_cannot_start_is_replaced_when_the_image_is_put_right() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut old = stage.bound(&revision(1).image("localhost/bad:1")).await?;
        let bad = tell(&stage, "web-0", waiting("ErrImagePull")).await?;
        stage.mint(2).await?;
        let new = stage.bound(&revision(2)).await?;
        let is_new = |pod: &Pod| {
            let image = pod.spec.as_ref().and_then(|spec| spec.containers[0].image.clone());
            pod.uid() != bad.uid() && image.as_deref() == Some("localhost/server:2")
        };
        wait::until(&pods(&stage), "web-0", "a good one has taken its place", is_new).await?;
        old.until("superseded").await?;
        let deletions = Pattern::verb(Verb::Delete).of("pods");
        old.recorder.log().only(&deletions).assert_empty("deletion by the old one");
        let deletions = new.recorder.log().only(&deletions);
        assert_eq!(deletions.len(), 1);
        let body = deletions.iter().next().unwrap().body.clone().unwrap();
        assert_eq!(body["preconditions"]["uid"].as_str(), bad.uid().as_deref());
        assert_eq!(new.backend.tally().replaced_pods(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_13_a_pod_that_is_well_is_left_to_the_statefulset() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(1).replicas(2)).await?.backend.stop().await;
        tell(&stage, "web-0", running("10.0.0.7", "containerd://a", true)).await?;
        let stuck = tell(&stage, "web-1", waiting("ImagePullBackOff")).await?;
        stage.mint(2).await?;
        let new = stage.bound(&revision(2).replicas(2)).await?;
        wait::until(&pods(&stage), "web-1", "it is replaced", |pod| pod.uid() != stuck.uid()).await?;
        let deletions = new.recorder.log().only(&Pattern::verb(Verb::Delete).of("pods"));
        let names: Vec<_> = deletions.iter().filter_map(|exchange| exchange.name.clone()).collect();
        assert_eq!(names, ["web-1"]);
        Ok(())
    })
    .await;
}
