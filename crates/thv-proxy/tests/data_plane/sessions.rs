//! Sessions: who opens them, whose they are, how they end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::json;
use thv_config::Transport;
use thv_session::{Key, Kind, Metadata, Owner, Record, Sessions};
use thv_testbed::mcp::{Fault, McpServer, Options};

use crate::support::{Rig, Stub, delete, get, initialize, instance, open, post, request, respond, send};

const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn a_client_sees_the_backends_id_and_the_record_says_what_is_needed_to_go_on() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    assert_eq!(rig.count(&session).await.json()["result"]["content"][0]["text"], "1");
    assert_eq!(rig.count(&session).await.json()["result"]["content"][0]["text"], "2");
    let record = rig.record(&session).await.unwrap();
    let Metadata { backend_url, backend_sid, init_body, owner, pod, rest } = &record.metadata;
    assert_eq!(backend_url.as_deref(), Some("http://mcp-web:8080"));
    assert_eq!(pod.as_deref(), Some("0/uid-0/containerd://0"));
    assert_eq!((backend_sid, rest.len()), (&None, 0));
    assert_eq!(init_body.as_deref(), Some(&*initialize().to_string()));
    assert_eq!(owner.as_ref().unwrap().to_string().len(), 64);
    assert_eq!(record.kind, Kind::Mcp);
    // The id is the backend's: it is there that it was counted.
    let whoami = rig.call(&session, "whoami", json!({})).await.json();
    let id = session.strip_prefix("mcp-session-id: ").unwrap();
    assert_eq!(whoami["result"]["structuredContent"]["session"], id);
}

#[tokio::test]
async fn only_a_200_to_initialize_opens_a_session() {
    let number = AtomicUsize::new(0);
    let server = Stub::start(move |request: Request<Bytes>| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let status = if request.body().windows(7).any(|window| window == b"refused") { 401 } else { 200 };
        async move { respond(status, &[JSON, &format!("mcp-session-id: s{number}")], "{}") }
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    // No session is asked for, and none is offered.
    let reply = post(rig.address, &[], &request("tools/list", json!({}))).await;
    assert!(!reply.headers.contains_key("mcp-session-id"));
    let mut refused = initialize();
    refused["params"]["refused"] = json!(true);
    let reply = post(rig.address, &[], &refused).await;
    assert_eq!(reply.status, 401);
    assert!(!reply.headers.contains_key("mcp-session-id") && rig.sessions.is_empty());

    let opened = post(rig.address, &["mcp-session-id: before"], &initialize()).await;
    assert_eq!(opened.session(), "s2");
    assert!(
        !server.heard()[2].headers.contains_key("mcp-session-id"),
        "initialize is sent without a session"
    );
    // A backend that calls the session something else with every answer stays alone with that.
    for _ in 0..2 {
        let reply = post(rig.address, &["mcp-session-id: s2"], &request("tools/list", json!({}))).await;
        assert_eq!(reply.session(), "s2");
    }
    assert_eq!(server.heard()[4].headers["mcp-session-id"], "s2");
    assert_eq!(rig.sessions.len(), 1);
}

#[tokio::test]
async fn an_initialize_over_64_kib_is_not_kept() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let mut long = initialize();
    long["params"]["clientInfo"]["title"] = json!("x".repeat(65 << 10));
    let session = format!("mcp-session-id: {}", post(rig.address, &[], &long).await.session());
    assert_eq!(rig.record(&session).await.unwrap().metadata.init_body, None);
    server.forget_sessions();
    let reply = rig.count(&session).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
    assert_eq!(server.counts().of("initialize"), 1);
}

#[tokio::test]
async fn a_session_that_the_store_refuses_is_closed_at_the_backend() {
    let server =
        Stub::start(|_| async { respond(200, &[JSON, "mcp-session-id: always-the-same"], "{}") }).await;
    let rig = Rig::of(&[server.address]).await;
    assert_eq!(post(rig.address, &[], &initialize()).await.status, 200);
    let reply = post(rig.address, &[], &initialize()).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (502, -32603));
    assert_eq!(reply.json()["id"], 7);
    assert_eq!(server.methods(), ["initialize", "initialize", "DELETE"]);
    assert_eq!(server.heard()[2].headers["mcp-session-id"], "always-the-same");
}

#[tokio::test]
async fn an_unknown_session_gets_404_whatever_is_asked() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let unknown = "mcp-session-id: 0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1";
    let reply = post(rig.address, &[unknown], &request("tools/list", json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.code(), &reply.json()["id"]), (404, -32001, &json!(7)));
    for request in [get("/mcp", &[unknown]), delete("/mcp", &[unknown])] {
        let reply = send(rig.address, request).await;
        assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
        assert!(reply.json().get("id").is_none());
    }
    let twice = post(rig.address, &[unknown, unknown], &request("ping", json!({}))).await;
    assert_eq!(twice.status, 400);
    assert_eq!(server.counts().requests.len(), 0);
}

#[tokio::test]
async fn somebody_elses_session_does_not_exist() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    for (id, owner) in [("theirs", Some(Owner::of("https://idp", "someone-else"))), ("nobodys", None)] {
        let metadata =
            Metadata { owner, pod: Some("0/uid-0/containerd://0".to_owned()), ..Metadata::default() };
        let record = Record::new(Key::of(id), Kind::Mcp, jiff::Timestamp::UNIX_EPOCH, metadata);
        rig.sessions.create(record).await.unwrap();
        let header = format!("mcp-session-id: {id}");
        for request in [
            crate::support::json("/mcp", &[&header], &request("ping", json!({}))),
            get("/mcp", &[&header]),
            delete("/mcp", &[&header]),
        ] {
            let reply = send(rig.address, request).await;
            assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
        }
        assert!(rig.record(&header).await.is_some());
    }
    assert_eq!(server.counts().requests.len(), 0);
}

#[tokio::test]
async fn delete_ends_a_session_unless_the_backend_wants_it_to_go_on() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;

    let session = rig.session().await;
    server.refuse_delete(true);
    assert_eq!(send(rig.address, delete("/mcp", &[&session])).await.status, 405);
    assert!(rig.record(&session).await.is_some());
    server.fail_next("DELETE", Fault::Status(StatusCode::INTERNAL_SERVER_ERROR), 1);
    assert_eq!(send(rig.address, delete("/mcp", &[&session])).await.status, 500);
    assert!(rig.record(&session).await.is_some());
    server.refuse_delete(false);
    assert_eq!(send(rig.address, delete("/mcp", &[&session])).await.status, 204);
    assert!(rig.record(&session).await.is_none());
    assert_eq!(server.counts().sessions_deleted, 1);

    let forgotten = rig.session().await;
    server.forget_sessions();
    assert_eq!(send(rig.address, delete("/mcp", &[&forgotten])).await.status, 404);
    assert!(rig.record(&forgotten).await.is_none());

    let unreachable = rig.session().await;
    rig.become_of(vec![]);
    assert_eq!(send(rig.address, delete("/mcp", &[&unreachable])).await.status, 204);
    assert!(rig.record(&unreachable).await.is_none());
    assert_eq!(server.counts().of("initialize"), 3, "a DELETE starts nothing anew");
}

#[tokio::test]
async fn an_open_stream_keeps_its_session_and_ends_with_it() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::builder(Transport::StreamableHttp)
        .backends(&[server.address()])
        .sessions(Sessions::in_memory(Duration::from_secs(1)))
        .start()
        .await;
    let (used, idle) = (rig.session().await, rig.session().await);
    let stream = open(rig.address, get("/mcp", &[&used])).await.unwrap();
    assert_eq!(stream.status, 200);
    // The other one ends after a second in which nobody uses it; this one would have as well.
    let idle_key = Key::of(idle.strip_prefix("mcp-session-id: ").unwrap());
    let started = std::time::Instant::now();
    while rig.sessions.len() == 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(started.elapsed() < Duration::from_secs(10));
    }
    assert_eq!(rig.count(&used).await.status, 200);
    assert!(rig.sessions.find(idle_key).await.unwrap().is_none());

    let used_key = Key::of(used.strip_prefix("mcp-session-id: ").unwrap());
    rig.sessions.remove(used_key).await.unwrap();
    assert_eq!(stream.rest().await.unwrap(), "");
    server.until("the stream was closed", |counts| counts.open_streams == 0).await.unwrap();
}

#[tokio::test]
async fn a_session_stays_where_it_began() {
    let (one, two) = (
        McpServer::start(Options::default()).await.unwrap(),
        McpServer::start(Options::default()).await.unwrap(),
    );
    let rig = Rig::of(&[one.address(), two.address()]).await;
    let sessions = [rig.session().await, rig.session().await, rig.session().await, rig.session().await];
    for _ in 0..3 {
        for session in &sessions {
            assert_eq!(rig.count(session).await.status, 200);
        }
    }
    assert_eq!((one.counts().sessions_made, two.counts().sessions_made), (2, 2));
    assert_eq!(one.counts().of("tools/call"), 6);
    // Also when it takes no new ones.
    let mut terminating = instance(0, one.address());
    terminating.terminating = true;
    rig.become_of(vec![terminating, instance(1, two.address())]);
    for session in &sessions {
        assert_eq!(rig.count(session).await.status, 200);
    }
    assert_eq!(one.counts().of("initialize") + two.counts().of("initialize"), 4);
}
