//! Idle and slow connections, and the end of a process.

use std::time::{Duration, Instant};

use serde_json::json;
use thv_config::Transport;
use thv_proxy::http::Drained;
use thv_testbed::mcp::{McpServer, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Rig, connect_raw, get, initialize, open, post, send};

#[tokio::test]
async fn a_slow_head_is_given_up_long_before_an_idle_connection() {
    let rig = Rig::builder(Transport::StreamableHttp).set(|settings| {
        settings.times.head = Duration::from_millis(100);
        settings.times.idle = Duration::from_millis(1500);
    });
    let rig = rig.start().await;
    let mut slow = connect_raw(rig.address).await;
    slow.write_all(b"GET /livez HTT").await.unwrap();
    let began = Instant::now();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    assert!(began.elapsed() >= Duration::from_millis(90) && began.elapsed() < Duration::from_millis(1400));

    // Served, then idle, then served again, and then idle for too long.
    let mut idle = connect_raw(rig.address).await;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        idle.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        idle.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        // The rest of it.
        while !rest.ends_with(b"ok\n") {
            rest.push(idle.read_u8().await.unwrap());
        }
        rest.clear();
    }
    let began = Instant::now();
    let _ = idle.read_to_end(&mut rest).await;
    assert!(began.elapsed() >= Duration::from_millis(1400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_connection_survives_many_requests_and_a_head_in_pieces() {
    let rig = Rig::of(&[]).await;
    let mut stream = connect_raw(rig.address).await;
    for _ in 0..3 {
        for piece in ["GET /liv", "ez HTTP/1.1\r\nho", "st: localhost\r\n\r\n"] {
            stream.write_all(piece.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        let mut answer = Vec::new();
        while !answer.ends_with(b"ok\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn leaving_is_announced_while_requests_are_still_taken() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let mut rig = rig.set(|settings| settings.times.accept = Duration::from_secs(1)).start().await;
    let session = rig.session().await;
    let mut idle = connect_raw(rig.address).await;
    rig.announce();
    let mut health = send(rig.address, get("/health", &[])).await;
    while health.status == 200 {
        health = send(rig.address, get("/health", &[])).await;
    }
    assert_eq!((health.status.as_u16(), &health.json()["status"]), (503, &json!("unhealthy")));
    assert_eq!(send(rig.address, get("/readyz", &[])).await.status, 503);
    assert_eq!(send(rig.address, get("/livez", &[])).await.status, 200);
    let reply = rig.count(&session).await;
    assert_eq!((reply.status.as_u16(), &reply.headers["connection"]), (200, &"close".parse().unwrap()));
    // A connection that was idle is still good for one request.
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    idle.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    let address = rig.address;
    assert_eq!(rig.drained().await, Drained::Completely);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn what_was_begun_is_finished_and_idle_connections_and_streams_are_closed() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let mut rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    let stream = open(rig.address, get("/mcp", &[&session])).await.unwrap();
    let mut idle = connect_raw(rig.address).await;
    let (address, header) = (rig.address, session.clone());
    let running = tokio::spawn(async move {
        post(address, &[&header], &crate::support::tool("sleep", json!({"ms": 700}))).await
    });
    server.until("it runs", |counts| counts.running == 1).await.unwrap();
    let began = Instant::now();
    let drained = rig.drained();
    let (drained, reply, rest) = tokio::join!(drained, running, stream.rest());
    assert_eq!(drained, Drained::Completely);
    assert_eq!(reply.unwrap().status, 200);
    assert_eq!(rest.unwrap(), "", "a stream ends properly");
    assert_eq!(idle.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn a_subscription_of_the_modern_era_is_such_a_stream() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let mut rig = Rig::of(&[server.address()]).await;
    let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: subscriptions/listen"];
    let listen =
        crate::support::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut stream = open(rig.address, crate::support::json("/mcp", &headers, &listen)).await.unwrap();
    assert_eq!(stream.status, 200);
    stream.until("acknowledged").await;
    let began = Instant::now();
    let (drained, rest) = tokio::join!(rig.drained(), stream.rest());
    assert_eq!((drained, rest.unwrap().as_str()), (Drained::Completely, ""));
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn what_takes_too_long_is_cut_off() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let mut rig = rig.set(|settings| settings.times.drain = Duration::from_millis(300)).start().await;
    let session = rig.session().await;
    let call =
        crate::support::json("/mcp", &[&session], &crate::support::tool("sleep", json!({"ms": 60_000})));
    let running = tokio::spawn(open(rig.address, call));
    server.until("it runs", |counts| counts.running == 1).await.unwrap();
    let began = Instant::now();
    assert_eq!(rig.drained().await, Drained::Cut);
    assert!(began.elapsed() >= Duration::from_millis(300) && began.elapsed() < Duration::from_secs(3));
    assert!(running.await.unwrap().is_err());
    server.until("the backend was told", |counts| counts.abandoned == 1).await.unwrap();
}

#[tokio::test]
async fn a_stream_of_the_older_transport_stays_for_its_last_answers() {
    let options =
        Options { transport: thv_testbed::mcp::Transport::Sse, is_strict: false, ..Options::default() };
    let server = McpServer::start(options).await.unwrap();
    let mut rig = Rig::builder(Transport::Sse).backends(&[server.address()]).start().await;
    let mut stream = open(rig.address, get("/sse", &[])).await.unwrap();
    let event = stream.until("\n\n").await;
    let endpoint = event.split_once("data: ").unwrap().1.trim().to_owned();
    let post = crate::support::json(&endpoint, &[], &crate::support::tool("sleep", json!({"ms": 500})));
    assert_eq!(send(rig.address, post).await.status, 202);
    let (drained, rest) = tokio::join!(rig.drained(), stream.rest());
    assert!(rest.unwrap().contains("slept"));
    assert_eq!(drained, Drained::Completely);
    assert!(rig.sessions.is_empty(), "its session ended with it");
}

#[tokio::test]
async fn nothing_is_left_of_sessions_that_came_and_went() {
    let server = McpServer::start(Options { record: false, ..Options::default() }).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    for _ in 0..3 {
        thv_testbed::mcp::churn(&format!("http://{}/mcp", rig.address), 100, 8).await.unwrap();
        assert!(rig.sessions.is_empty());
    }
    assert_eq!(server.counts().sessions, 0);
    assert!(server.counts().connections <= 20, "{:?}", server.counts());
    assert_eq!(post(rig.address, &[], &initialize()).await.status, 200);
}
