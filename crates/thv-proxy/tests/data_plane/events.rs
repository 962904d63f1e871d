//! The older transport.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use thv_config::Transport;
use thv_session::{Key, Kind, Metadata, Owner, Record};
use thv_testbed::mcp::{Endpoint, McpServer, Options};

use crate::support::{
    Rig, RigBuilder, Streaming, Stub, get, initialize, instance, json as posted, open, request, respond, send,
};

async fn server(options: Options) -> McpServer {
    McpServer::start(Options { transport: thv_testbed::mcp::Transport::Sse, ..options }).await.unwrap()
}

fn rig(server: &McpServer) -> RigBuilder {
    Rig::builder(Transport::Sse).backends(&[server.address()])
}

/// Opens a stream; the endpoint that the server told.
async fn stream(rig: &Rig, headers: &[&str]) -> (Streaming, String) {
    let mut stream = open(rig.address, get("/sse", headers)).await.unwrap();
    assert_eq!(stream.status, 200);
    let event = stream.until("\n\n").await;
    let endpoint = event.split_once("data: ").unwrap().1.trim().to_owned();
    (stream, endpoint)
}

async fn message(rig: &Rig, endpoint: &str, body: &Value) -> crate::support::Reply {
    send(rig.address, posted(endpoint, &[], body)).await
}

#[tokio::test]
async fn messages_find_the_stream_that_they_belong_to() {
    for parameter in ["sessionId", "session_id"] {
        let options = Options { session_parameter: parameter.to_owned(), ..Options::default() };
        let (one, two) = (server(options.clone()).await, server(options).await);
        let rig = Rig::builder(Transport::Sse).backends(&[one.address(), two.address()]).start().await;
        let mut streams = Vec::new();
        for _ in 0..4 {
            streams.push(stream(&rig, &[]).await);
        }
        assert_eq!((one.counts().sessions, two.counts().sessions), (2, 2));
        for (stream, endpoint) in &mut streams {
            assert!(endpoint.starts_with(&format!("/messages?{parameter}=")), "{endpoint}");
            assert_eq!(message(&rig, endpoint, &initialize()).await.status, 202);
            stream.until("protocolVersion").await;
        }
        let id = streams[0].1.split_once('=').unwrap().1.to_owned();
        let record = rig.record(&id).await.unwrap();
        assert_eq!(record.metadata.pod.as_deref(), Some("0/uid-0/containerd://0"));
        assert_eq!((record.kind, &record.metadata.init_body), (Kind::Mcp, &None));

        // The session ends with the stream.
        streams.clear();
        one.until("the streams are closed", |counts| counts.sessions == 0).await.unwrap();
        while !rig.sessions.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(message(&rig, &format!("/messages?{parameter}={id}"), &initialize()).await.status, 404);
    }
}

#[tokio::test]
async fn an_endpoint_is_a_path_unless_forwarded_headers_are_trusted() {
    let absolute = server(Options { endpoint: Endpoint::Absolute, ..Options::default() }).await;
    let headers = ["x-forwarded-host: mcp.example", "x-forwarded-proto: https", "x-forwarded-prefix: /a"];
    let plain = rig(&absolute).start().await;
    assert!(stream(&plain, &headers).await.1.starts_with("/messages?sessionId="));

    let trusting = rig(&absolute).set(|settings| settings.trust_forwarded = true).start().await;
    let (_stream, endpoint) = stream(&trusting, &headers).await;
    assert!(endpoint.starts_with("https://mcp.example/a/messages?sessionId="), "{endpoint}");

    let prefixed = rig(&absolute).set(|settings| settings.endpoint_prefix = "/web/".to_owned()).start().await;
    assert!(stream(&prefixed, &headers).await.1.starts_with("/web/messages?sessionId="));
}

#[tokio::test]
async fn a_message_for_an_unknown_or_foreign_stream_gets_404() {
    let server = server(Options::default()).await;
    let rig = rig(&server).start().await;
    let metadata = Metadata {
        owner: Some(Owner::of("https://idp", "someone-else")),
        pod: Some("0/uid-0/containerd://0".to_owned()),
        ..Metadata::default()
    };
    let record = Record::new(Key::of("theirs"), Kind::Mcp, jiff::Timestamp::UNIX_EPOCH, metadata);
    rig.sessions.create(record).await.unwrap();
    for endpoint in ["/messages?sessionId=unknown", "/messages?sessionId=theirs", "/messages"] {
        let reply = message(&rig, endpoint, &initialize()).await;
        assert_eq!((reply.status.as_u16(), reply.code(), &reply.json()["id"]), (404, -32001, &json!(7)));
        // Nor does another era help.
        let modern = posted(endpoint, &["mcp-protocol-version: 2026-07-28"], &request("ping", json!({})));
        assert_eq!(send(rig.address, modern).await.status, 404);
    }
    let two = message(&rig, "/messages?sessionId=a&session_id=b", &initialize()).await;
    assert_eq!(two.status, 400);
    assert_eq!(server.counts().requests.len(), 0);
}

#[tokio::test]
async fn a_message_for_a_stream_whose_instance_is_gone_gets_404() {
    let server = server(Options::default()).await;
    let rig = rig(&server).start().await;
    let (_stream, endpoint) = stream(&rig, &[]).await;
    let mut other = instance(0, server.address());
    other.container = "containerd://restarted".into();
    rig.become_of(vec![other]);
    let mut reply = message(&rig, &endpoint, &initialize()).await;
    while reply.status == 202 {
        reply = message(&rig, &endpoint, &initialize()).await;
    }
    assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
}

#[tokio::test]
async fn a_stream_is_asked_for_without_compression_and_without_a_session() {
    let server = Stub::start(|request: Request<Bytes>| async move {
        let endpoint =
            if request.uri().path() == "/sse" { "event: endpoint\ndata: messages?x=1\n\n" } else { "" };
        respond(200, &["content-type: text/event-stream"], endpoint)
    })
    .await;
    let rig = Rig::builder(Transport::Sse).backends(&[server.address]).start().await;
    let headers = ["accept-encoding: gzip", "mcp-session-id: x"];
    let text = open(rig.address, get("/sse", &headers)).await.unwrap().rest().await.unwrap();
    assert_eq!(text, "event: endpoint\ndata: /messages?x=1\n\n");
    let heard = &server.heard()[0].headers;
    assert!(!heard.contains_key("accept-encoding") && !heard.contains_key("mcp-session-id"));
    // Anything else passes as it is.
    let other = send(rig.address, get("/other", &["accept-encoding: gzip"])).await;
    assert_eq!(other.body, "");
}

#[tokio::test]
async fn a_stream_whose_session_is_taken_is_cut() {
    let server = Stub::start(|_| async {
        respond(
            200,
            &["content-type: text/event-stream"],
            "event: endpoint\ndata: /messages?sessionId=same\n\n",
        )
    })
    .await;
    let rig = Rig::builder(Transport::Sse).backends(&[server.address]).start().await;
    let metadata = Metadata { owner: Some(Owner::of("https://idp", "someone-else")), ..Metadata::default() };
    let record = Record::new(Key::of("same"), Kind::Mcp, jiff::Timestamp::UNIX_EPOCH, metadata);
    rig.sessions.create(record).await.unwrap();
    let text = open(rig.address, get("/sse", &[])).await.unwrap().rest().await;
    assert!(!text.unwrap_or_default().contains("same"));
    assert!(rig.record("same").await.is_some(), "it is somebody else's");
}
