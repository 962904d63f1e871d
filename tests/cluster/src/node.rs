//! The node does what a node does: pods, Services by name, attaching, Redis, and a recorder that pods can reach.

use k8s_openapi::api::core::v1::{Pod, Service, ServiceAccount};
use kube::api::{AttachParams, DeleteParams};
use serde_json::json;
use thv_testbed::{Image, Mark, Pattern, Recorder, Verb, built_program, on_cluster, wait};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::fixture::{busybox, expose, pod, run_to_end, start};

#[tokio::test]
async fn a_pod_from_a_loaded_image_is_reached_by_name_attached_to_and_deleted() {
    on_cluster(async |space| {
        let image = Image::new("echo").binary(&built_program("thv-echo")?, "/thv-echo")?;
        let image = space.bed().load(&image.env("GREETING", "good day").entrypoint(["/thv-echo"])).await?;
        let container = json!({
            "stdin": true,
            "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1},
        });
        start(&space, "echo", &pod("echo", &image, &container)).await?;
        expose(&space, "echo", 8080).await?;

        let url = format!("http://echo.{}.svc.cluster.local:8080/", space.namespace());
        assert_eq!(busybox(&space, "client", &["wget", "-q", "-O", "-", &url]).await?, "good day");

        let pods = space.api::<Pod>();
        let mut attached = pods.attach("echo", &AttachParams::default().stdin(true).stderr(false)).await?;
        let mut input = attached.stdin().unwrap();
        let mut output = BufReader::new(attached.stdout().unwrap()).lines();
        for word in ["one", "two"] {
            input.write_all(format!("{word}\n").as_bytes()).await?;
            let line = tokio::time::timeout(wait::DEADLINE, output.next_line()).await??;
            assert_eq!(line, Some(format!("echo: {word}")));
        }
        attached.abort();

        pods.delete("echo", &DeleteParams::default()).await?;
        wait::gone(&pods, "echo").await
    })
    .await;
}

#[tokio::test]
async fn a_redis_in_the_namespace_is_reached_by_name_and_from_the_test() {
    on_cluster(async |space| {
        let address = space.redis().await?;
        let host = address.split(':').next().unwrap();
        let say = format!("printf 'PING\\r\\nQUIT\\r\\n' | nc {host} 6379");
        assert_eq!(busybox(&space, "client", &["sh", "-c", &say]).await?, "+PONG\n+OK\n");

        let ip = wait::carries(&space.api::<Service>(), "redis").await?;
        let mut socket = tokio::net::TcpStream::connect((ip, 6379)).await?;
        socket.write_all(b"PING\r\n").await?;
        let mut answer = [0; 7];
        socket.read_exact(&mut answer).await?;
        assert_eq!(answer, *b"+PONG\r\n");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_program_in_a_pod_can_be_recorded() {
    on_cluster(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        wait::until(&space.api::<ServiceAccount>(), "default", "it exists", |_| true).await?;
        let image = Image::new("kubectl").binary(&space.bed().program("kubectl")?, "/kubectl")?;
        let image = space.bed().load(&image.entrypoint(["/kubectl"])).await?;
        let container = json!({
            "args": ["auth", "whoami", "--cache-dir", "/dev/null"],
            "env": [
                {"name": "KUBERNETES_SERVICE_HOST", "value": recorder.address().ip().to_string()},
                {"name": "KUBERNETES_SERVICE_PORT", "value": recorder.address().port().to_string()},
            ],
        });
        let printed = run_to_end(&space, "kubectl", &pod("kubectl", &image, &container)).await?;
        let account = format!("system:serviceaccount:{}:default", space.namespace());
        assert!(printed.contains(&account), "{printed}");
        let review = Pattern::verb(Verb::Create).of("selfsubjectreviews");
        assert_eq!(recorder.seen(Mark::default(), &review).await?.told, Some(201));
        Ok(())
    })
    .await;
}
