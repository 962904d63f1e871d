//! A Redis server for one test: on loopback, or as a pod.

use std::time::Duration;

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bed::Bed;
use crate::image::Image;
use crate::process::{Place, Process, free_port};
use crate::space::Space;
use crate::wait;

/// Where Debian's package puts it.
const PROGRAM: &str = "/usr/bin/redis-server";

/// A Redis on loopback that keeps nothing. Dropping it kills it.
pub struct Redis {
    port: u16,
    password: Option<String>,
    process: Process,
    _folder: TempDir,
}

impl Redis {
    /// Starts one, with a password if there is to be one, and waits until it answers.
    pub async fn start(password: Option<&str>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = free_port()?;
        let mut command = Place::Here.command(PROGRAM);
        command.args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        command.arg("--dir").arg(folder.path());
        if let Some(password) = password {
            command.args(["--requirepass", password]);
        }
        let process = Process::start("redis", command, folder.path())?;
        let mut redis = Self { port, password: password.map(str::to_owned), process, _folder: folder };
        for _ in 0..200 {
            redis.process.check()?;
            if redis.pings().await.unwrap_or(false) {
                return Ok(redis);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("Redis does not answer on port {port}")
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills it, as a machine does that loses power.
    pub async fn kill(mut self) -> Result<()> {
        self.process.kill().await
    }

    async fn pings(&self) -> Result<bool> {
        let mut socket = TcpStream::connect(self.address()).await?;
        if let Some(password) = &self.password {
            socket.write_all(format!("AUTH {password}\r\n").as_bytes()).await?;
            let mut answer = [0; 5];
            socket.read_exact(&mut answer).await?;
        }
        socket.write_all(b"PING\r\n").await?;
        let mut answer = [0; 7];
        socket.read_exact(&mut answer).await?;
        Ok(answer == *b"+PONG\r\n")
    }
}

impl Space {
    /// Runs Redis in the test's namespace, and returns the `host:port` by which pods reach it.
    pub async fn redis(&self) -> Result<String> {
        self.bed().redis(self.namespace()).await
    }
}

impl Bed {
    /// Runs Redis in a namespace, and returns the `host:port` by which pods reach it.
    pub async fn redis(&self, namespace: &str) -> Result<String> {
        let image = Image::new("redis").binary(PROGRAM.as_ref(), "/redis-server")?.folder("/tmp");
        let image = self.load(&image.entrypoint(["/redis-server"])).await?;
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "redis", "labels": {"app": "redis"}},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [{
                "name": "redis", "image": image, "imagePullPolicy": "Never",
                "args": ["--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--appendonly", "no"],
                "readinessProbe": {"tcpSocket": {"port": 6379}, "periodSeconds": 1},
            }]},
        });
        let service = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "redis"},
            "spec": {"selector": {"app": "redis"}, "ports": [{"port": 6379}]},
        });
        let params = PatchParams::apply("thv-testbed");
        let services: Api<Service> = Api::namespaced(self.client(), namespace);
        services.patch("redis", &params, &Patch::Apply(service)).await?;
        let pods: Api<Pod> = Api::namespaced(self.client(), namespace);
        pods.patch("redis", &params, &Patch::Apply(pod)).await?;
        wait::until(&pods, "redis", "it is ready", |pod| wait::has_condition(pod, "Ready", "True")).await?;
        wait::carries(&services, "redis").await?;
        Ok(format!("redis.{namespace}.svc.cluster.local:6379"))
    }
}
