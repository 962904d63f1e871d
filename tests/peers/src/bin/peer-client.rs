//! The official Rust client: `peer-client <url> <protocol version>`.

use anyhow::{Context, Result};
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion, ReadResourceRequestParams};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [url, version] = arguments.as_slice() else {
        anyhow::bail!("usage: peer-client <url> <protocol version>")
    };
    let transport = StreamableHttpClientTransport::from_uri(url.as_str());
    let mode = if version == ProtocolVersion::V_2026_07_28.as_str() {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = ClientConfig::default().serve_with_lifecycle(transport, mode).await?;
    let info = client.peer_info().context("the server has not said who it is")?;
    let (version, server) =
        (info.protocol_version.clone(), info.server_info.as_ref().map(|server| server.name.clone()));
    let tools = client.list_all_tools().await?;
    let arguments = json!({"message": "good day"}).as_object().cloned().unwrap_or_default();
    let echoed = client.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
    let read = client.read_resource(ReadResourceRequestParams::new("test://static-text")).await?;
    client.cancel().await?;
    let visited = json!({
        "version": version,
        "server": server,
        "tools": tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        "echo": text(&json!(echoed), "/content/0/text"),
        "resource": text(&json!(read), "/contents/0/text"),
    });
    println!("{visited}");
    Ok(())
}

/// A text within an answer.
fn text<'a>(answer: &'a Value, pointer: &str) -> &'a str {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
