//! Era and headers.

use serde_json::json;
use thv_testbed::mcp::{McpServer, Options};

use crate::support::{Rig, Stub, delete, get, modern, post, request, respond, send, tool};

const MODERN: &str = "mcp-protocol-version: 2026-07-28";

#[tokio::test]
async fn a_repeated_header_of_mcp_gets_32020_in_any_era() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    for header in ["mcp-protocol-version: 2025-11-25", MODERN, "mcp-method: ping", "mcp-name: x"] {
        let reply = post(rig.address, &[header, header], &request("ping", json!({}))).await;
        assert_eq!((reply.status.as_u16(), reply.code()), (400, -32020), "{header}");
        assert_eq!(reply.json()["id"], 7);
    }
    assert_eq!(server.counts().requests.len(), 0);
}

#[tokio::test]
async fn a_modern_header_unlike_the_body_gets_32020_and_a_like_one_passes() {
    let server = Stub::start(|_| async { respond(200, &["content-type: application/json"], "{}") }).await;
    let rig = Rig::of(&[server.address]).await;
    let call = modern("tools/call", json!({"name": "echo", "arguments": {"text": "hello"}}));
    for (method, name, status) in [
        ("tools/call", "echo", 200),
        ("tools/call", "=?base64?ZWNobw==?=", 200),
        ("tools/list", "echo", 400),
        ("tools/call", "other", 400),
    ] {
        let (method, name) = (format!("mcp-method: {method}"), format!("mcp-name: {name}"));
        let reply = post(rig.address, &[MODERN, &method, &name], &call).await;
        assert_eq!(reply.status, status, "{method} {name} {reply:?}");
        if status == 400 {
            assert_eq!(reply.code(), -32020);
        }
    }
    let other = post(rig.address, &["mcp-protocol-version: 2025-11-25"], &call).await;
    assert_eq!((other.status.as_u16(), other.code()), (400, -32020));
}

#[tokio::test]
async fn what_else_is_wrong_with_a_modern_request_is_the_backends_answer() {
    let server =
        Stub::start(|_| async { respond(400, &["content-type: application/json"], "the backend's") }).await;
    let rig = Rig::of(&[server.address]).await;
    let mut without = modern("ping", json!({}));
    without["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let mut unknown = modern("ping", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    for (headers, body) in [
        (vec![MODERN], request("ping", json!({}))),
        (vec![], modern("ping", json!({}))),
        (vec![MODERN], without),
        (vec!["mcp-protocol-version: 2031-01-01"], unknown),
    ] {
        let reply = post(rig.address, &headers, &body).await;
        assert_eq!((reply.status.as_u16(), &reply.body[..]), (400, &b"the backend's"[..]));
    }
}

#[tokio::test]
async fn a_modern_request_has_no_session_and_opens_none_and_is_never_replayed() {
    let server = Stub::start(|_| async {
        respond(404, &["content-type: application/json", "mcp-session-id: new"], "{}")
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    let reply = post(rig.address, &[MODERN, "mcp-session-id: unknown"], &modern("ping", json!({}))).await;
    assert_eq!((reply.status.as_u16(), &reply.body[..]), (404, &b"{}"[..]));
    assert!(!reply.headers.contains_key("mcp-session-id"));
    let heard = server.heard();
    assert_eq!(heard.len(), 1);
    assert!(!heard[0].headers.contains_key("mcp-session-id"));
    assert!(rig.sessions.is_empty());
}

#[tokio::test]
async fn headers_for_parameters_always_pass() {
    let server = Stub::start(|_| async { respond(200, &["content-type: application/json"], "{}") }).await;
    let rig = Rig::of(&[server.address]).await;
    post(rig.address, &["mcp-param-region: eu"], &tool("x", json!({}))).await;
    assert_eq!(server.heard()[0].headers["mcp-param-region"], "eu");
}

#[tokio::test]
async fn a_modern_client_or_a_stateless_server_has_nothing_but_post() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    for request in [get("/mcp", &[MODERN]), delete("/mcp", &[MODERN])] {
        let reply = send(rig.address, request).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.headers["allow"]),
            (405, &"POST, OPTIONS".parse().unwrap())
        );
    }
    let stateless = Rig::builder(thv_config::Transport::StreamableHttp)
        .backends(&[server.address()])
        .set(|settings| settings.stateless = true)
        .start()
        .await;
    assert_eq!(send(stateless.address, get("/mcp", &[])).await.status, 405);
    let put = http::Request::builder().method("PUT").uri("/mcp").body(bytes::Bytes::new()).unwrap();
    assert_eq!(send(rig.address, put).await.status, 405);
    assert_eq!(server.counts().requests.len(), 0);
}
