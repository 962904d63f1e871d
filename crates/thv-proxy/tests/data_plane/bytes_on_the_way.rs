//! Requests are bounded, responses stream, and what arrives is what was sent.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use serde_json::json;
use thv_config::Transport;
use thv_config::middleware::{BodyLimitParameters, Middleware};
use thv_testbed::mcp::{McpServer, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Rig, Stub, connect_raw, get, json as posted, open, post, request, respond, send, tool};

const LIMIT: usize = 1000;

fn limited() -> Middleware {
    Middleware::BodyLimit(BodyLimitParameters { max_bytes: 1000 })
}

async fn echo() -> Stub {
    Stub::start(|request: Request<Bytes>| async {
        respond(200, &["content-type: text/plain"], request.into_body())
    })
    .await
}

/// Writes raw bytes and reads until the connection is closed.
async fn raw(rig: &Rig, bytes: &str) -> String {
    let mut stream = connect_raw(rig.address).await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_body_over_the_limit_gets_413_with_and_without_a_length() {
    let server = echo().await;
    let rig =
        Rig::builder(Transport::StreamableHttp).backends(&[server.address]).with(limited()).start().await;
    let exact = format!("{:width$}", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), width = LIMIT);
    let mut fits = posted("/mcp", &[], &json!({}));
    *fits.body_mut() = exact.clone().into();
    assert_eq!(send(rig.address, fits).await.body, exact.as_bytes());

    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let long = raw(&rig, &format!("{head}content-length: 1001\r\n\r\n")).await;
    assert!(long.starts_with("HTTP/1.1 413 ") && long.contains("-32600"), "{long}");
    let chunk = format!("3e9\r\n{}\r\n", " ".repeat(LIMIT + 1));
    let chunked = raw(&rig, &format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}")).await;
    assert!(chunked.starts_with("HTTP/1.1 413 "), "{chunked}");
    assert_eq!(server.heard().len(), 1);
}

#[tokio::test]
async fn a_chunked_body_arrives_whole() {
    let server = echo().await;
    let rig = Rig::of(&[server.address]).await;
    let (one, two) = (r#"{"jsonrpc":"2.0","#, r#""id":1,"method":"ping"}"#);
    let chunks = format!("{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n", one.len(), two.len());
    let head =
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let answer = raw(&rig, &format!("{head}transfer-encoding: chunked\r\n\r\n{chunks}")).await;
    assert!(answer.ends_with(&format!("{one}{two}")), "{answer}");
    assert_eq!(server.heard()[0].headers["content-length"], "40");
}

#[tokio::test]
async fn a_body_that_takes_too_long_gets_408() {
    let server = echo().await;
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address]);
    let rig = rig.set(|settings| settings.times.body = Duration::from_millis(50)).start().await;
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let answer = raw(&rig, &format!("{head}content-length: 10\r\n\r\n{{")).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn bodies_in_flight_are_bounded_together_and_then_503() {
    let server = Stub::start(|_| async {
        // Nobody is ever answered.
        std::future::pending::<()>().await;
        respond(200, &[], "")
    })
    .await;
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address]);
    let rig = rig.set(|settings| {
        settings.bodies = 1500;
        settings.times.room = Duration::from_millis(50);
    });
    let rig = rig.start().await;
    let large = tool("x", json!({"text": "x".repeat(1000)}));
    let first = tokio::spawn(open(rig.address, posted("/mcp", &[], &large)));
    while server.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    let reply = post(rig.address, &[], &large).await;
    assert_eq!((reply.status.as_u16(), reply.code(), reply.cause().as_str()), (503, -32603, "overloaded"));
    assert!(reply.headers.contains_key("retry-after"));
    // A small one still fits, and room that is given back can be taken again.
    let small = tokio::spawn(open(rig.address, posted("/mcp", &[], &request("ping", json!({})))));
    while server.heard().len() < 2 {
        tokio::task::yield_now().await;
    }
    first.abort();
    small.abort();
}

#[tokio::test]
async fn what_is_not_json_gets_415_and_what_is_no_message_is_said_so() {
    let server = echo().await;
    let rig = Rig::of(&[server.address]).await;
    for (media, status) in [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/jsonp", 415),
    ] {
        let header = format!("content-type: {media}");
        let reply = post(rig.address, &[&header], &request("ping", json!({}))).await;
        assert_eq!(reply.status, status, "{media}");
    }
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("\u{feff}{}", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#, -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("[]", -32600),
    ] {
        let mut request = posted("/mcp", &[], &json!({}));
        *request.body_mut() = body.into();
        let reply = send(rig.address, request).await;
        assert_eq!((reply.status.as_u16(), reply.code()), (400, code), "{body}");
        assert!(reply.json().get("id").is_none());
        assert_eq!(reply.headers["content-type"], "application/json");
    }
    assert_eq!(server.heard().len(), 2);
}

#[tokio::test]
async fn the_same_bytes_are_forwarded() {
    let server = echo().await;
    let rig = Rig::of(&[server.address]).await;
    let odd = "{ \"id\" : 12345678901234567890,\r\n\"method\":\"x/y\" ,\"params\":{\"z\":1e400,\"a\":\"\\u00e9\"}, \"jsonrpc\":\"2.0\"}";
    let mut request = posted("/any/path?a=1&b=%20", &[], &json!({}));
    *request.body_mut() = odd.into();
    assert_eq!(send(rig.address, request).await.body, odd);
    let heard = &server.heard()[0];
    assert_eq!((heard.path.as_str(), &heard.body[..]), ("/any/path?a=1&b=%20", odd.as_bytes()));
}

#[tokio::test]
async fn host_hop_by_hop_and_forwarded_headers_are_rewritten_and_others_pass() {
    let server = Stub::start(|_| async {
        let headers =
            ["content-type: application/json", "connection: x-hop", "x-hop: 1", "keep-alive: timeout=5"];
        respond(200, &[&headers[..], &["x-kept: yes"]].concat(), "{}")
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    let headers = [
        "connection: keep-alive, x-mine",
        "x-mine: 1",
        "keep-alive: 5",
        "te: trailers",
        "upgrade: h2c",
        "proxy-authorization: Basic x",
        "forwarded: for=evil",
        "x-forwarded-for: 6.6.6.6",
        "x-forwarded-host: evil",
        "x-forwarded-prefix: /evil",
        "expect: 100-continue",
        "authorization: Bearer mine",
        "cookie: a=b",
        "accept-encoding: gzip",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ];
    let reply = post(rig.address, &headers, &request("ping", json!({}))).await;
    assert!(!reply.headers.contains_key("x-hop") && !reply.headers.contains_key("keep-alive"));
    assert_eq!(reply.headers["x-kept"], "yes");
    let heard = &server.heard()[0].headers;
    for gone in
        ["x-mine", "keep-alive", "te", "upgrade", "proxy-authorization", "forwarded", "expect", "connection"]
    {
        assert!(!heard.contains_key(gone), "{gone}");
    }
    assert!(!heard.contains_key("x-forwarded-prefix"));
    let local = rig.address.to_string();
    for (name, value) in [
        ("host", "mcp-web:8080"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-host", local.as_str()),
        ("x-forwarded-proto", "http"),
        ("authorization", "Bearer mine"),
        ("cookie", "a=b"),
        ("accept-encoding", "gzip"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ] {
        assert_eq!(heard[name], value, "{name}");
    }
}

#[tokio::test]
async fn responses_stream_and_a_client_that_goes_takes_the_upstream_with_it() {
    let options = Options { answers: thv_testbed::mcp::Answers::Events, ..Options::default() };
    let server = McpServer::start(options).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    let body = request(
        "tools/call",
        json!({"name": "sleep", "arguments": {"ms": 60_000, "steps": 600}, "_meta": {"progressToken": 1}}),
    );
    let mut stream = open(rig.address, posted("/mcp", &[&session], &body)).await.unwrap();
    stream.until("notifications/progress").await;
    drop(stream);
    server
        .until("the call was given up", |counts| counts.abandoned == 1 && counts.running == 0)
        .await
        .unwrap();

    let waiting = tokio::spawn(open(rig.address, posted("/mcp", &[&session], &body)));
    server.until("the call runs", |counts| counts.running == 1).await.unwrap();
    waiting.abort();
    server.until("the call was given up", |counts| counts.abandoned == 2).await.unwrap();
}

#[tokio::test]
async fn large_answers_arrive_whole_and_connections_are_used_again() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    for bytes in [0, 1, 1000, 100_000, 3_000_000] {
        let reply = rig.call(&session, "payload", json!({"bytes": bytes})).await;
        assert!(reply.body.len() >= bytes, "{}", reply.body.len());
        reply.json();
    }
    assert_eq!(server.counts().connections, 1);
}

#[tokio::test]
async fn only_a_post_has_a_body() {
    let server = echo().await;
    let rig = Rig::of(&[server.address]).await;
    let mut request = get("/mcp", &[]);
    *request.body_mut() = "{}".into();
    assert_eq!(send(rig.address, request).await.status, 400);
    let mut head = get("/mcp", &[]);
    *head.method_mut() = Method::HEAD;
    assert_eq!(send(rig.address, head).await.status, 200);
    assert_eq!(server.methods(), ["HEAD"]);
}

#[tokio::test]
async fn a_stream_with_a_long_head_is_opened_all_the_same() {
    let long = format!("x-long: {}", "x".repeat(20_000));
    let server = Stub::start(move |_| {
        let long = long.clone();
        async move { respond(200, &["content-type: text/event-stream", &long], ": hello\n\n") }
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    let stream = open(rig.address, get("/mcp", &[])).await.unwrap();
    assert_eq!(stream.headers["x-long"].len(), 20_000);
    assert_eq!(stream.rest().await.unwrap(), ": hello\n\n");
    // A request with a head that nobody sends is refused.
    let head = format!("GET /mcp HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "x".repeat(100_000));
    assert!(raw(&rig, &head).await.starts_with("HTTP/1.1 431 "));
}
