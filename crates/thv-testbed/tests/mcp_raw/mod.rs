//! What the official client hides: statuses, headers, and the transport that it no longer has.

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use thv_testbed::mcp::{Endpoint, Fault, McpServer, Options, Transport};
use tokio::net::TcpStream;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",
    "capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

/// Sends one request on a connection of its own.
async fn send(
    server: &McpServer,
    verb: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Result<Response<Incoming>> {
    let socket = TcpStream::connect(server.address()).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    let mut request = Request::builder().method(verb).uri(path).header("host", server.address().to_string());
    request = request.header("accept", "application/json, text/event-stream");
    request = request.header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Ok(sender.send_request(request.body(Full::new(body.into()))?).await?)
}

async fn document(answer: Response<Incoming>) -> Result<Value> {
    #[expect(clippy::disallowed_methods, reason = "limited")]
    let body =
        Limited::new(answer.into_body(), 1 << 20).collect().await.map_err(anyhow::Error::from_boxed)?;
    Ok(serde_json::from_slice(&body.to_bytes())?)
}

async fn session(server: &McpServer) -> Result<String> {
    let answer = send(server, Method::POST, "/mcp", &[], INITIALIZE).await?;
    let id = answer.headers().get("mcp-session-id").context("there is no session")?.to_str()?.to_owned();
    let document = document(answer).await?;
    assert_eq!(document.pointer("/result/protocolVersion"), Some(&json!("2025-06-18")));
    let headers = [("mcp-session-id", id.as_str())];
    let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send(server, Method::POST, "/mcp", &headers, done).await?.status(), StatusCode::ACCEPTED);
    Ok(id)
}

fn tool(name: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}})
        .to_string()
}

#[tokio::test]
async fn a_session_is_demanded_and_missed_and_deleted() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let status = async |verb: Method, headers: &[(&str, &str)], body: String| {
        anyhow::Ok(send(&server, verb, "/mcp", headers, body).await?.status())
    };
    let id = session(&server).await?;
    let known = [("mcp-session-id", id.as_str())];
    assert_eq!(status(Method::POST, &[], tool("counter")).await?, StatusCode::BAD_REQUEST);
    assert_eq!(status(Method::POST, &known, tool("counter")).await?, StatusCode::OK);
    assert_eq!(status(Method::POST, &known, "[]".to_owned()).await?, StatusCode::BAD_REQUEST);
    server.refuse_delete(true);
    assert_eq!(status(Method::DELETE, &known, String::new()).await?, StatusCode::METHOD_NOT_ALLOWED);
    server.refuse_delete(false);
    assert_eq!(status(Method::DELETE, &known, String::new()).await?, StatusCode::NO_CONTENT);
    assert_eq!(status(Method::DELETE, &known, String::new()).await?, StatusCode::NOT_FOUND);
    assert_eq!(status(Method::POST, &known, tool("counter")).await?, StatusCode::NOT_FOUND);
    server.answer_lost_sessions_with(StatusCode::BAD_REQUEST);
    assert_eq!(status(Method::POST, &known, tool("counter")).await?, StatusCode::BAD_REQUEST);
    Ok(())
}

#[tokio::test]
async fn a_session_serves_only_after_the_handshake() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let answer = send(&server, Method::POST, "/mcp", &[], INITIALIZE).await?;
    let id = answer.headers()["mcp-session-id"].to_str()?.to_owned();
    let answer = send(&server, Method::POST, "/mcp", &[("mcp-session-id", &id)], tool("echo")).await?;
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    Ok(())
}

#[tokio::test]
async fn forgetting_sessions_ends_their_streams() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let id = session(&server).await?;
    let stream = send(&server, Method::GET, "/mcp", &[("mcp-session-id", &id)], "").await?;
    assert_eq!((stream.status(), server.counts().open_streams), (StatusCode::OK, 1));
    server.forget_sessions();
    let mut body = stream.into_body();
    assert!(body.frame().await.is_none(), "the stream goes on");
    server.until("the stream has ended", |counts| counts.open_streams == 0 && counts.sessions == 0).await?;
    Ok(())
}

#[tokio::test]
async fn a_stream_goes_on_after_the_event_that_is_named() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let id = session(&server).await?;
    let notify = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "notify", "arguments": {"count": 3}}});
    send(&server, Method::POST, "/mcp", &[("mcp-session-id", &id)], notify.to_string()).await?;
    let headers = [("mcp-session-id", id.as_str()), ("last-event-id", "2")];
    let mut stream = send(&server, Method::GET, "/mcp", &headers, "").await?.into_body();
    let event = stream.frame().await.context("no event")??.into_data().unwrap();
    assert!(event.starts_with(b"id: 3\nevent: message\ndata: {"), "{event:?}");
    Ok(())
}

#[tokio::test]
async fn modern_requests_are_checked() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let prefix = "io.modelcontextprotocol/";
    let meta =
        json!({format!("{prefix}protocolVersion"): "2026-07-28", format!("{prefix}clientCapabilities"): {}});
    let body = |method: &str, meta: &Value| {
        json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": {"_meta": meta, "name": "echo"}})
            .to_string()
    };
    let version = ("mcp-protocol-version", "2026-07-28");
    let send = async |headers: &[(&str, &str)], body: String| {
        let answer = send(&server, Method::POST, "/mcp", headers, body).await?;
        let status = answer.status().as_u16();
        let document = document(answer).await?;
        anyhow::Ok((status, document["error"]["code"].as_i64()))
    };
    let full = [version, ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    assert_eq!(send(&full, body("tools/call", &meta)).await?, (200, None));
    assert_eq!(send(&full[..2], body("tools/call", &meta)).await?, (400, Some(-32_020)));
    assert_eq!(send(&full[1..], body("tools/call", &meta)).await?, (400, Some(-32_020)));
    assert_eq!(send(&full, body("tools/list", &meta)).await?, (400, Some(-32_020)));
    assert_eq!(send(&full, body("tools/call", &json!({}))).await?, (400, Some(-32_602)));
    let incapable = json!({format!("{prefix}protocolVersion"): "2026-07-28"});
    assert_eq!(send(&full, body("tools/call", &incapable)).await?, (400, Some(-32_021)));
    let future = json!({format!("{prefix}protocolVersion"): "2030-01-01"});
    assert_eq!(send(&full, body("tools/call", &future)).await?, (400, Some(-32_022)));
    assert_eq!(send(&[version, ("mcp-method", "ping")], body("ping", &meta)).await?, (404, Some(-32_601)));
    Ok(())
}

#[tokio::test]
async fn a_subscription_is_a_stream_that_tells_of_changes() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let prefix = "io.modelcontextprotocol/";
    let meta =
        json!({format!("{prefix}protocolVersion"): "2026-07-28", format!("{prefix}clientCapabilities"): {}});
    let request = |method: &str, params: Value| {
        let mut params = params;
        params["_meta"] = meta.clone();
        json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params}).to_string()
    };
    let version = ("mcp-protocol-version", "2026-07-28");
    let listen = request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let headers = [version, ("mcp-method", "subscriptions/listen")];
    let mut stream = send(&server, Method::POST, "/mcp", &headers, listen).await?.into_body();
    let mut next = async || anyhow::Ok(stream.frame().await.context("no event")??.into_data().unwrap());
    let first = String::from_utf8(next().await?.to_vec())?;
    assert!(
        first.contains("notifications/subscriptions/acknowledged") && first.contains("subscriptionId\":9")
    );
    let headers = [version, ("mcp-method", "tools/call"), ("mcp-name", "notify")];
    let notify = request("tools/call", json!({"name": "notify", "arguments": {}}));
    send(&server, Method::POST, "/mcp", &headers, notify).await?;
    assert!(String::from_utf8(next().await?.to_vec())?.contains("notifications/tools/list_changed"));
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_cut_ends_before_its_length() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    let id = session(&server).await?;
    server.fail_next("tools/call", Fault::CutWithin, 1);
    let answer = send(&server, Method::POST, "/mcp", &[("mcp-session-id", &id)], tool("whoami")).await?;
    let length: usize = answer.headers()["content-length"].to_str()?.parse()?;
    let mut body = answer.into_body();
    let part = body.frame().await.context("nothing of it came")??.into_data().unwrap();
    assert!(part.len() < length && body.frame().await.is_some_and(|frame| frame.is_err()), "{part:?}");
    Ok(())
}

#[tokio::test]
async fn the_older_transport_answers_by_its_stream() -> Result<()> {
    for (parameter, endpoint) in [("sessionId", Endpoint::Path), ("session_id", Endpoint::Absolute)] {
        let options = Options {
            transport: Transport::Sse,
            session_parameter: parameter.to_owned(),
            endpoint,
            ..Options::default()
        };
        let server = McpServer::start(options).await?;
        let mut stream = send(&server, Method::GET, "/sse", &[], "").await?.into_body();
        let mut next = async || {
            let data = stream.frame().await.context("the stream has ended")??.into_data().unwrap();
            anyhow::Ok(String::from_utf8(data.to_vec())?)
        };
        let first = next().await?;
        let address = first.trim_end().strip_prefix("event: endpoint\ndata: ").context("no endpoint")?;
        let origin = format!("http://{}", server.address());
        assert_eq!(address.starts_with(&origin), endpoint == Endpoint::Absolute, "{address}");
        let address = address.trim_start_matches(&origin).to_owned();
        assert!(address.starts_with(&format!("/messages?{parameter}=")), "{address}");

        assert_eq!(
            send(&server, Method::POST, &address, &[], INITIALIZE).await?.status(),
            StatusCode::ACCEPTED
        );
        assert!(next().await?.contains("\"protocolVersion\":\"2025-06-18\""));
        send(
            &server,
            Method::POST,
            &address,
            &[],
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
        .await?;
        send(&server, Method::POST, &address, &[], tool("counter")).await?;
        assert!(next().await?.contains("\"text\":\"1\""));
        drop(stream);
        server.until("the session went with its stream", |counts| counts.sessions == 0).await?;
        assert_eq!(
            send(&server, Method::POST, &address, &[], tool("counter")).await?.status(),
            StatusCode::NOT_FOUND
        );
    }
    Ok(())
}

#[tokio::test]
async fn requests_are_recorded() -> Result<()> {
    let server = McpServer::start(Options::default()).await?;
    session(&server).await?;
    let seen = server.seen();
    let methods: Vec<_> = seen.iter().map(|seen| seen.method.as_deref()).collect();
    assert_eq!(methods, [Some("initialize"), Some("notifications/initialized")]);
    assert_eq!(
        (&seen[0].verb, seen[0].path.as_str(), &seen[0].body[..]),
        (&Method::POST, "/mcp", INITIALIZE.as_bytes())
    );
    Ok(())
}
