//! An MCP server made with the official Rust SDK: streamable HTTP at `/mcp`, on the port in `$MCP_PORT`. With the
//! argument `--stateless` it keeps no sessions.

use anyhow::{Context, Result};
use tests_peers::server::{Sessions, serve};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Where it listens unless it is told.
const PORT: &str = "8080";

#[tokio::main]
async fn main() -> Result<()> {
    let port = std::env::var("MCP_PORT").unwrap_or_else(|_| PORT.to_owned());
    let port = port.parse().with_context(|| format!("$MCP_PORT is {port:?}, which is no port"))?;
    let listener = TcpListener::bind(("0.0.0.0", port)).await.with_context(|| format!("port {port}"))?;
    println!("listening on {}", listener.local_addr()?);
    let stateless = std::env::args().any(|argument| argument == "--stateless");
    let sessions = if stateless { Sessions::None } else { Sessions::Kept };
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = serve(listener, sessions) => ended,
        _ = terminated.recv() => Ok(()),
    }
}
