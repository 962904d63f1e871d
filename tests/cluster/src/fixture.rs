//! Pods that many tests start from.

use anyhow::Result;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{LogParams, Patch, PatchParams};
use serde_json::{Value, json};
use tests_fixture::with;
use thv_testbed::{Image, Space, wait};

/// A pod as strict as the restricted profile wants it, with `container` on top of what one needs.
pub(crate) fn pod(name: &str, image: &str, container: &Value) -> Value {
    let main = json!({
        "name": "main", "image": image, "imagePullPolicy": "Never",
        "securityContext": {
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
        },
    });
    let main = with(main, container);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [main]},
    })
}

/// Makes a pod and waits until it is ready.
pub(crate) async fn start(space: &Space, name: &str, pod: &Value) -> Result<Pod> {
    let pods = space.api::<Pod>();
    pods.patch(name, &PatchParams::apply("test"), &Patch::Apply(pod)).await?;
    wait::until(&pods, name, "it is ready", |pod| wait::has_condition(pod, "Ready", "True")).await
}

/// Makes a Service in front of the pods with the label `app: <name>`, and waits until it leads to one.
pub(crate) async fn expose(space: &Space, name: &str, port: u16) -> Result<()> {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": port}]},
    });
    let services = space.api::<Service>();
    services.patch(name, &PatchParams::apply("test"), &Patch::Apply(service)).await?;
    wait::carries(&services, name).await?;
    Ok(())
}

/// Runs a command of busybox in a pod of its own, and returns what it printed when it has succeeded.
pub(crate) async fn busybox(space: &Space, name: &str, command: &[&str]) -> Result<String> {
    let image = Image::new("busybox").binary("/bin/busybox".as_ref(), "/bin/busybox")?;
    let image = space.bed().load(&image.entrypoint(["/bin/busybox"])).await?;
    run_to_end(space, name, &pod(name, &image, &json!({"args": command}))).await
}

/// Runs a pod until it ends, and returns what it printed when it has succeeded.
pub(crate) async fn run_to_end(space: &Space, name: &str, pod: &Value) -> Result<String> {
    let mut pod = pod.clone();
    pod["spec"]["restartPolicy"] = json!("OnFailure");
    let pods = space.api::<Pod>();
    pods.patch(name, &PatchParams::apply("test"), &Patch::Apply(&pod)).await?;
    wait::until(&pods, name, "it has succeeded", |pod| {
        pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Succeeded")
    })
    .await?;
    Ok(pods.logs(name, &LogParams::default()).await?)
}
