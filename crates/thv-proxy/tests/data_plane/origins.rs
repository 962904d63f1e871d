//! Host and Origin.

use serde_json::json;
use thv_config::Transport;
use thv_config::middleware::{Middleware, OriginParameters};
use thv_testbed::mcp::{McpServer, Options};

use crate::support::{Rig, post, request};

#[tokio::test]
async fn a_listener_on_loopback_answers_to_its_own_names_and_pages_only() {
    let server = McpServer::start(Options { has_sessions: false, ..Options::default() }).await.unwrap();
    let allowed =
        Middleware::Origin(OriginParameters { allowed_origins: vec!["http://localhost:1".to_owned()] });
    let rig =
        Rig::builder(Transport::StreamableHttp).backends(&[server.address()]).with(allowed).start().await;
    for (header, status) in [
        ("host: localhost:8080", 200),
        ("host: [::1]", 200),
        ("host: evil.example", 403),
        ("origin: http://localhost:1", 200),
        ("origin: http://LOCALHOST:1", 200),
        ("origin: http://localhost:2", 403),
        ("origin: https://evil.example", 403),
        ("origin: null", 403),
    ] {
        let reply = post(rig.address, &[header], &request("ping", json!({}))).await;
        assert_eq!(reply.status, status, "{header}");
        if status == 403 {
            assert_eq!(reply.code(), -32600);
            assert!(reply.json().get("id").is_none());
        }
    }
}
