//! The test server is a real MCP server: the official client gets along with it, in both eras and both ways of
//! answering; and what it does wrong is what a test has asked for.

#![expect(deprecated, reason = "a message of a log is the only notification that carries what we like")]

mod mcp_raw;

use std::time::Duration;

use anyhow::{Context, Result};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, LoggingMessageNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use thv_testbed::mcp::{Answers, Eras, Fault, McpServer, Options};
use tokio::sync::mpsc;

/// A client that passes on what it is notified of.
#[derive(Clone)]
struct Listener(mpsc::UnboundedSender<Value>);

impl ClientHandler for Listener {
    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(params.data);
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }
}

type Client = RunningService<RoleClient, Listener>;

fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn connect(
    server: &McpServer,
    mode: ClientLifecycleMode,
) -> Result<(Client, mpsc::UnboundedReceiver<Value>)> {
    let (sender, notified) = mpsc::unbounded_channel();
    let config = StreamableHttpClientTransportConfig::with_uri(server.url());
    let transport = StreamableHttpClientTransport::from_config(config);
    Ok((Listener(sender).serve_with_lifecycle(transport, mode).await?, notified))
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<CallToolResult> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Ok(client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?)
}

fn text(result: &CallToolResult) -> &str {
    result.content.first().and_then(|content| content.as_text()).map_or("", |text| &text.text)
}

async fn tools_work(client: &Client) -> Result<()> {
    let tools = client.list_all_tools().await?;
    assert_eq!(tools.len(), 7, "{tools:?}");
    assert_eq!(text(&call(client, "echo", json!({"text": "grüß Gott"})).await?), "grüß Gott");
    assert_eq!(text(&call(client, "payload", json!({"bytes": 1_000_000})).await?).len(), 1_000_000);
    assert_eq!(text(&call(client, "sleep", json!({"ms": 1})).await?), "slept");
    assert_eq!(call(client, "fail", json!({})).await?.is_error, Some(true));
    let error = call(client, "fail", json!({"code": -32_000})).await.err().context("it did not fail")?;
    assert!(error.to_string().contains("-32000"), "{error}");
    let known = call(client, "whoami", json!({})).await?.structured_content.context("nothing structured")?;
    assert_eq!(known.get("name"), Some(&json!("mcp-server")));
    let host = known.pointer("/headers/host/0").and_then(Value::as_str);
    assert!(host.is_some_and(|host| host.starts_with("127.0.0.1:")), "{known}");
    assert_eq!(client.list_all_resources().await?.len(), 1);
    assert_eq!(client.list_all_prompts().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_official_client_has_a_session_with_it() -> Result<()> {
    for answers in [Answers::Json, Answers::Events] {
        let server = McpServer::start(Options { answers, ..Options::default() }).await?;
        let (client, _) = connect(&server, legacy()).await?;
        tools_work(&client).await?;
        for count in ["1", "2", "3"] {
            assert_eq!(text(&call(&client, "counter", json!({})).await?), count);
        }
        let (other, _) = connect(&server, legacy()).await?;
        assert_eq!(text(&call(&other, "counter", json!({})).await?), "1");
        assert_eq!(server.counts().sessions, 2);
        client.cancel().await?;
        let counts = server.until("a session was deleted", |counts| counts.sessions == 1).await?;
        assert_eq!((counts.sessions_made, counts.sessions_deleted), (2, 1));
    }
    Ok(())
}

#[tokio::test]
async fn the_official_client_needs_no_session_in_the_modern_era() -> Result<()> {
    for (answers, eras) in [(Answers::Json, Eras::Both), (Answers::Events, Eras::Modern)] {
        let server = McpServer::start(Options { answers, eras, ..Options::default() }).await?;
        let (client, _) = connect(&server, modern()).await?;
        tools_work(&client).await?;
        assert_eq!(call(&client, "counter", json!({})).await?.is_error, Some(true));
        let counts = server.counts();
        assert_eq!((counts.sessions_made, counts.of("initialize"), counts.of("GET")), (0, 0, 0));
    }
    Ok(())
}

#[tokio::test]
async fn an_old_server_is_found_out_by_a_new_client() -> Result<()> {
    let server = McpServer::start(Options { eras: Eras::Legacy, ..Options::default() }).await?;
    let auto = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let (client, _) = connect(&server, auto).await?;
    tools_work(&client).await?;
    assert_eq!(server.counts().of("server/discover"), 1);
    Ok(())
}

#[tokio::test]
async fn notifications_arrive_in_order_on_the_stream_of_the_session() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let (client, mut notified) = connect(&server, legacy()).await?;
    call(&client, "notify", json!({"count": 20})).await?;
    for number in 1..=20 {
        let data = tokio::time::timeout(Duration::from_secs(10), notified.recv()).await?;
        assert_eq!(data, Some(json!({"number": number})));
    }
    Ok(())
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_abandoned() -> Result<()> {
    for answers in [Answers::Json, Answers::Events] {
        let server = McpServer::start(Options { answers, ..Options::default() }).await?;
        let (client, _) = connect(&server, legacy()).await?;
        let sleeping = tokio::spawn(async move { call(&client, "sleep", json!({"ms": 60_000})).await });
        server.until("a call runs", |counts| counts.running == 1).await?;
        sleeping.abort();
        server.close_connections();
        let counts = server.until("it does not any more", |counts| counts.running == 0).await?;
        assert_eq!(counts.abandoned, 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_strikes_as_often_as_it_was_asked_to() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let (client, _) = connect(&server, legacy()).await?;
    for fault in [Fault::CutBefore, Fault::CutWithin, Fault::Status(http::StatusCode::SERVICE_UNAVAILABLE)] {
        server.fail_next("tools/call", fault, 1);
        assert!(call(&client, "echo", json!({})).await.is_err(), "{fault:?}");
        assert!(call(&client, "echo", json!({})).await.is_ok(), "{fault:?}");
    }
    Ok(())
}
