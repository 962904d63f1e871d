//! `thv-proxyrunner` in front of a server on this machine, with no cluster.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::process::free_port;
use crate::subject::{Subject, SubjectBuilder};

/// What takes longer to start hangs.
const TRIES: u32 = 600;

/// A proxy that runs here. It stops when dropped.
pub struct LocalProxy {
    subject: Subject,
    port: u16,
}

impl LocalProxy {
    /// Starts the program in front of the server at `upstream`, with `more` in its configuration, and waits until it
    /// serves.
    pub async fn start(builder: SubjectBuilder, upstream: &str, mut more: Value) -> Result<Self> {
        if let Some(more) = more.as_object_mut() {
            more.insert("remote_url".to_owned(), upstream.into());
        }
        Self::start_with(builder.env("POD_NAMESPACE", "local"), more).await
    }

    /// Starts the program with `more` in its configuration, and waits until it serves.
    pub async fn start_with(builder: SubjectBuilder, more: Value) -> Result<Self> {
        let port = free_port()?;
        let mut config = json!({
            "schema_version": "v0.1.0", "name": "local", "base_name": "local", "container_name": "local",
            "transport": "streamable-http", "host": "127.0.0.1", "port": port,
        });
        if let (Some(config), Value::Object(more)) = (config.as_object_mut(), more) {
            config.extend(more);
        }
        let subject =
            builder.args(["run", "placeholder"]).file("runconfig.json", config.to_string()).start()?;
        let mut proxy = Self { subject, port };
        proxy.serves().await?;
        Ok(proxy)
    }

    async fn serves(&mut self) -> Result<()> {
        for _ in 0..TRIES {
            if !self.subject.is_running()? {
                bail!("the proxy has ended; it wrote:\n{}", self.subject.output());
            }
            if is_healthy(self.port).await.unwrap_or(false) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("the proxy does not serve; it wrote:\n{}", self.subject.output())
    }

    /// What clients connect to.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// The id of its process.
    pub fn id(&self) -> Result<u32> {
        self.subject.id().context("the proxy has ended")
    }

    /// The program itself.
    pub fn subject(&mut self) -> &mut Subject {
        &mut self.subject
    }
}

/// Whether something on this port says that it can serve.
pub async fn is_healthy(port: u16) -> Result<bool> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut status = [0; 12];
    socket.read_exact(&mut status).await?;
    Ok(status == *b"HTTP/1.1 200")
}
