//! The server, the pass-through and the proxy, each with a processor to itself as far as there are enough.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use thv_testbed::mcp::{Client, LocalProxy};
use thv_testbed::{Redis, Subject, SubjectBuilder, free_port};

use crate::product::{build, built};
use crate::shell::output;

/// Which processor a program gets.
#[derive(Clone, Copy)]
pub(super) enum Seat {
    Subject,
    Server,
    Client,
}

/// Where everything happens.
pub(super) struct Place {
    _server: Subject,
    /// Where the server is.
    server: String,
    redis: Redis,
    /// Whether the proxy is the pass-through.
    calibrate: bool,
}

/// A program that is measured. It is gone when dropped.
pub(super) struct Target {
    pub(super) url: String,
    pub(super) id: u32,
    _process: Held,
}

/// What keeps it running.
enum Held {
    PassThrough { _subject: Subject },
    Proxy { _proxy: LocalProxy },
}

impl Place {
    pub(super) async fn prepare(calibrate: bool) -> Result<Self> {
        build("thv-testbed")?;
        if !calibrate {
            build("thv-proxy")?;
        }
        // Streams are connections, and connections are files, here and in all that we start.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
        if let Some(processor) = processor(Seat::Client) {
            output(Command::new("taskset").args(["-cp", &processor, &std::process::id().to_string()]))?;
        }
        let port = free_port()?;
        let server = format!("127.0.0.1:{port}");
        let process = seated(Seat::Server, "thv-mcp-server")?.args(["--port", &port.to_string()]).start()?;
        listens(&process, &format!("http://{server}/mcp")).await?;
        Ok(Self { _server: process, server, redis: Redis::start(None).await?, calibrate })
    }

    /// What the proxy is compared with.
    pub(super) async fn baseline(&self) -> Result<Target> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let subject = seated(Seat::Subject, "thv-pass-through")?.args([&address, &self.server]).start()?;
        let url = format!("http://{address}/mcp");
        listens(&subject, &url).await?;
        let id = subject.id().context("the pass-through has ended")?;
        Ok(Target { url, id, _process: Held::PassThrough { _subject: subject } })
    }

    /// The proxy as it runs in a cluster: sessions in Redis, metrics on, traces off.
    pub(super) async fn proxy(&self) -> Result<Target> {
        let redis = json!({"address": self.redis.address(), "db": 0});
        self.start(json!({"scaling_config": {"session_redis": redis}, "telemetry_config": metrics()?})).await
    }

    /// The proxy with sessions in its own memory.
    pub(super) async fn proxy_without_redis(&self) -> Result<Target> {
        self.start(json!({"telemetry_config": metrics()?})).await
    }

    async fn start(&self, config: Value) -> Result<Target> {
        if self.calibrate {
            return self.baseline().await;
        }
        let program = seated(Seat::Subject, "thv-proxyrunner")?;
        let proxy = LocalProxy::start(program, &format!("http://{}/mcp", self.server), config).await?;
        let (url, id) = (proxy.url(), proxy.id()?);
        Ok(Target { url, id, _process: Held::Proxy { _proxy: proxy } })
    }
}

fn metrics() -> Result<Value> {
    Ok(json!({
        "serviceName": "bench", "tracingEnabled": false, "metricsEnabled": false,
        "enablePrometheusMetricsPath": true, "prometheusPort": free_port()?, "useLegacyAttributes": false,
    }))
}

/// A program, such that it runs on its processor.
pub(super) fn seated(seat: Seat, name: &str) -> Result<SubjectBuilder> {
    let program = built(name)?;
    Ok(match processor(seat) {
        None => SubjectBuilder::new(program),
        Some(processor) => {
            SubjectBuilder::new("taskset").args(["-c", &processor]).args([program.into_os_string()])
        }
    })
}

/// With one processor, all share it.
fn processor(seat: Seat) -> Option<String> {
    // All that there are, also when we have taken our seat.
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processors = text.lines().filter(|line| line.starts_with("processor")).count();
    let number = match seat {
        Seat::Subject => 0,
        Seat::Server => 1,
        Seat::Client => 2,
    };
    (processors > 1).then(|| number.min(processors - 1).to_string())
}

/// Waits until something accepts connections there.
async fn listens(subject: &Subject, url: &str) -> Result<()> {
    const TRIES: u32 = 200;
    for _ in 0..TRIES {
        if Client::connect(url).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("nothing listens on {url}; the program wrote:\n{}", subject.output())
}
