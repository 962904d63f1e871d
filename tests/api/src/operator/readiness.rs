//! Being ready is about the newest revision, and what is not ready says why.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use serde_json::{Value, json};
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_testbed::{Mark, in_namespace, wait};

use super::pods::{self, BACKEND, apply_backend, count_of_proxies};
use super::scene::{NAME, Scene, assert_says, condition, pass, status_apply};

/// A proxy's container.
const PROXY: &str = "toolhive";
const OLDER: &str = "older pods still serve";

/// Waits until the server is in this phase, and says this.
async fn until(scene: &Scene, phase: MCPServerPhase, words: &str) -> Result<MCPServer> {
    let what = format!("it is {phase:?} and says {words:?}");
    wait::until(&scene.operator.servers(), NAME, &what, |server| {
        let Some(status) = &server.status else { return false };
        status.phase == Some(phase) && status.message.as_ref().is_some_and(|it| it.contains(words))
    })
    .await
}

/// A server whose proxy and backend run.
async fn running(space: &thv_testbed::Space) -> Result<Scene> {
    let scene = Scene::with(space, json!({})).await?;
    let proxy = count_of_proxies(space, 1).await?[0].name_any();
    pods::report(space, &proxy, pods::ready(PROXY)).await?;
    let backend = apply_backend(&scene, "localhost/server:1").await?.name_any();
    pods::report(space, &backend, pods::ready(BACKEND)).await?;
    let server = until(&scene, MCPServerPhase::Ready, "the server runs").await?;
    assert_says(&server, Ready::Ready);
    Ok(scene)
}

/// Fails the test if a status since `mark` says that this generation is ready.
#[track_caller]
fn assert_never_ready(scene: &Scene, mark: Mark, generation: i64) {
    for write in scene.operator.recorder.since(mark).only(&status_apply()).iter() {
        let status = &write.body.as_ref().unwrap()["status"];
        let is_new = status["observedGeneration"] == generation;
        assert!(!(is_new && status["phase"] == "Ready"), "{status}");
    }
}

#[tokio::test]
async fn a_rollout_that_is_stuck_is_not_ready_and_says_that_older_pods_still_serve() {
    in_namespace(async |space| {
        let scene = running(&space).await?;
        let old = count_of_proxies(&space, 1).await?[0].name_any();
        let mark = scene.operator.recorder.mark();
        let server = scene.operator.edit(NAME, json!({"spec": {"image": "localhost/server:2"}})).await?;
        assert_eq!(server.metadata.generation, Some(2));
        let server = until(&scene, MCPServerPhase::Pending, OLDER).await?;
        assert_says(&server, Ready::NotReady);

        // The new pod hangs on its image, and the old one serves.
        let both = count_of_proxies(&space, 2).await?;
        let new = both.iter().map(ResourceExt::name_any).find(|name| *name != old).unwrap();
        let state = json!({"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}});
        let status = json!({
            "name": PROXY, "ready": false, "restartCount": 0, "image": "i", "imageID": "", "state": state,
        });
        pods::report(&space, &new, json!({"phase": "Pending", "containerStatuses": [status]})).await?;
        let server = until(&scene, MCPServerPhase::Failed, "ImagePullBackOff").await?;
        assert_says(&server, Ready::NotReady);
        let message = condition::<Ready>(&server).message;
        let look = format!("kubectl describe pod --namespace {} {new}", space.namespace());
        assert!(message.contains(OLDER) && message.contains(&look), "{message}");

        // The new proxy comes, and the backend is still the old one.
        pods::report(&space, &new, pods::ready(PROXY)).await?;
        let server = until(&scene, MCPServerPhase::Pending, "brings the server up").await?;
        let message = condition::<Ready>(&server).message;
        assert!(message.contains(OLDER), "{message}");
        let backend = apply_backend(&scene, "localhost/server:2").await?.name_any();
        until(&scene, MCPServerPhase::Pending, "waits for the server").await?;
        assert_never_ready(&scene, mark, 2);
        pods::report(&space, &backend, pods::ready(BACKEND)).await?;
        let server = until(&scene, MCPServerPhase::Ready, "the server runs").await?;
        assert_says(&server, Ready::Ready);
        let deployment: Deployment = scene.deployment().await?;
        assert_eq!(deployment.status.unwrap().updated_replicas, Some(1));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_backend_that_crashes_again_and_again_is_failed_and_says_once_where_to_look() {
    in_namespace(async |space| {
        let scene = running(&space).await?;
        let waiting =
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}});
        let pod = format!("{NAME}-0");
        pods::report(&space, &pod, pods::restarted(BACKEND, 3, waiting.clone())).await?;
        let server = until(&scene, MCPServerPhase::Failed, "CrashLoopBackOff").await?;
        assert_says(&server, Ready::NotReady);
        let message = condition::<Ready>(&server).message;
        let look =
            format!("kubectl logs --previous --namespace {} {pod} --container {BACKEND}", space.namespace());
        assert!(message.contains("exit code 3") && message.contains(&look), "{message}");

        // It is started, ends and waits again, which is no news.
        scene.calm().await?;
        let start = scene.operator.recorder.mark();
        let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
        for restarts in 4..7 {
            for state in [&running, &pods::ended(), &waiting] {
                turn(&scene, &pod, restarts, state).await?;
            }
        }
        scene.calm().await?;
        let writes = scene.writes(start);
        assert!(writes.is_empty(), "{writes:?}");
        Ok(())
    })
    .await;
}

/// Has the container of a pod be in this state, and waits until that was looked at.
async fn turn(scene: &Scene, pod: &str, restarts: i32, state: &Value) -> Result<()> {
    let mark = scene.operator.recorder.mark();
    pods::report(&scene.space, pod, pods::restarted(BACKEND, restarts, state.clone())).await?;
    scene.operator.recorder.seen(mark, &pass()).await.map(drop)
}
