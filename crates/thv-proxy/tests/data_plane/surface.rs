//! What the proxy answers itself.

use serde_json::json;
use thv_config::Transport;
use thv_config::middleware::{Middleware, TelemetryParameters};
use thv_testbed::mcp::{McpServer, Options};

use crate::support::{Rig, delete, get, send};

#[tokio::test]
async fn health_liveness_and_readiness_do_not_ask_the_backend() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let health = send(rig.address, get("/health", &[])).await;
    let document = health.json();
    assert_eq!((health.status.as_u16(), &document["status"]), (200, &json!("healthy")));
    assert_eq!(
        (&document["transport"], &document["mcp"]["available"]),
        (&json!("streamable-http"), &json!(true))
    );
    assert!(document["timestamp"].as_str().unwrap().ends_with('Z'));
    for path in ["/livez", "/readyz"] {
        assert_eq!(send(rig.address, get(path, &[])).await.status, 200);
    }
    assert_eq!(send(rig.address, delete("/health", &[])).await.status, 405);

    // The backend is gone, and with it nothing of this.
    rig.become_of(vec![]);
    let mut status = json!("healthy");
    while status == "healthy" {
        let health = send(rig.address, get("/health", &[])).await;
        assert_eq!(health.status, 200);
        status = health.json()["status"].clone();
    }
    assert_eq!(status, "degraded");
    assert_eq!(send(rig.address, get("/readyz", &[])).await.status, 200);
    assert_eq!(server.counts().connections, 0);
}

#[tokio::test]
async fn discovery_finds_nothing_and_says_so_in_json() {
    let rig = Rig::of(&[]).await;
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/x", "/.well-known/openid-configuration"]
    {
        let reply = send(rig.address, get(path, &[])).await;
        assert_eq!((reply.status.as_u16(), reply.json()), (404, json!({"error": "not_found"})));
    }
}

#[tokio::test]
async fn requests_are_counted_when_telemetry_is_asked_for() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let rig = rig.with(Middleware::Telemetry(TelemetryParameters::default())).start().await;
    let session = rig.session().await;
    rig.call(&session, "echo", json!({"text": "x"})).await;
    let metrics = send(rig.address, get("/metrics", &[])).await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let calls = text.lines().find(|line| {
        line.starts_with("toolhive_mcp_requests_total{") && line.contains(r#"mcp_method="tools/call""#)
    });
    let calls = calls.unwrap_or_else(|| panic!("{text}"));
    for label in [r#"method="POST""#, r#"status_code="200""#, r#"mcp_resource_id="echo""#, r#"server="web""#]
    {
        assert!(calls.contains(label), "{calls}");
    }
    assert!(calls.ends_with(" 1"), "{calls}");
}
