//! The MCP server to test with, as a program: for pods, and for benches.

#![expect(clippy::doc_markdown, reason = "comments on arguments are help texts, where backticks are noise")]

use std::net::{IpAddr, Ipv4Addr};

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use thv_testbed::mcp::{Answers, Eras, McpServer, Options, Transport};
use tokio::signal::unix::{SignalKind, signal};

/// An MCP server to test with
#[derive(Parser)]
struct Arguments {
    /// Where to listen; 0.0.0.0 for a pod
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// The port; $MCP_PORT if not given, else 8080. 0 is any, and is printed
    #[arg(long)]
    port: Option<u16>,
    /// How clients speak to it; $MCP_TRANSPORT if not given, else streamable-http
    #[arg(long)]
    transport: Option<TransportName>,
    /// Which eras of streamable-http it speaks
    #[arg(long, default_value = "both")]
    era: EraName,
    /// Answers streamable-http with events
    #[arg(long)]
    events: bool,
    /// Makes no sessions
    #[arg(long)]
    stateless: bool,
    /// What whoami says
    #[arg(long, default_value = "mcp-server")]
    name: String,
    /// The path of streamable-http
    #[arg(long, default_value = "/mcp")]
    path: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportName {
    StreamableHttp,
    Sse,
}

#[derive(Clone, Copy, ValueEnum)]
enum EraName {
    Both,
    Legacy,
    Modern,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let server = McpServer::start(options(Arguments::parse())?).await?;
    println!("listening on {}", server.url());
    tokio::select! {
        () = server.ended() => bail!("the server has ended"),
        _ = terminated.recv() => Ok(()),
    }
}

fn options(arguments: Arguments) -> Result<Options> {
    let Arguments { host, port, transport, era, events, stateless, name, path } = arguments;
    let port = match (port, environment("MCP_PORT")) {
        (Some(port), _) => port,
        (None, Some(text)) => text.parse().with_context(|| format!("MCP_PORT is no port: {text:?}"))?,
        (None, None) => 8080,
    };
    let transport = match (transport, environment("MCP_TRANSPORT").as_deref()) {
        (Some(TransportName::StreamableHttp), _) | (None, Some("streamable-http") | None) => {
            Transport::StreamableHttp
        }
        (Some(TransportName::Sse), _) | (None, Some("sse")) => Transport::Sse,
        (None, Some(other)) => bail!("MCP_TRANSPORT is {other:?}, and only streamable-http and sse are here"),
    };
    Ok(Options {
        address: (host, port).into(),
        transport,
        eras: match era {
            EraName::Both => Eras::Both,
            EraName::Legacy => Eras::Legacy,
            EraName::Modern => Eras::Modern,
        },
        answers: if events { Answers::Events } else { Answers::Json },
        has_sessions: !stateless,
        name,
        path,
        // It may run for long.
        record: false,
        ..Options::default()
    })
}

/// A variable that is set to something.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
