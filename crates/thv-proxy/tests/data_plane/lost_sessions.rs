//! Sessions that their backend has lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use thv_testbed::mcp::{Fault, McpServer, Options};
use thv_workload::Instance;
use tokio::sync::Notify;

use crate::support::{
    Rig, Stub, cut, get, initialize, instance, json as posted, open, post, request, respond, send, tool,
};

const JSON: &str = "content-type: application/json";
const VERSION: &str = "mcp-protocol-version: 2025-11-25";

/// The answer to `initialize` of a server that knows this version.
fn welcome(version: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}})
        .to_string()
}

/// A server whose sessions are lost once: everything in the first gets 404. `version` is what it speaks afterwards.
async fn forgetful(version: &'static str) -> Stub {
    let sessions = Arc::new(AtomicUsize::new(0));
    Stub::start(move |request: Request<Bytes>| {
        let sessions = Arc::clone(&sessions);
        async move {
            let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
            let id = request.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
            match (body["method"].as_str(), id.as_deref()) {
                (Some("initialize"), _) => {
                    let number = sessions.fetch_add(1, Ordering::Relaxed);
                    let version = if number == 0 { "2025-11-25" } else { version };
                    respond(200, &[JSON, &format!("mcp-session-id: s{number}")], welcome(version))
                }
                (_, Some("s0")) => respond(404, &[JSON], r#"{"jsonrpc":"2.0","error":{"code":-32001}}"#),
                (Some("notifications/initialized"), _) => respond(202, &[], ""),
                _ => respond(200, &[JSON, "mcp-session-id: s1"], r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            }
        }
    })
    .await
}

fn restarted(instance: Instance) -> Instance {
    Instance { container: "containerd://restarted".into(), ..instance }
}

#[tokio::test]
async fn a_forgotten_session_is_started_anew_and_the_client_notices_nothing() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    rig.count(&session).await;
    server.forget_sessions();
    // The server is strict: without notifications/initialized it would refuse.
    let reply = rig.count(&session).await;
    assert_eq!(reply.json()["result"]["content"][0]["text"], "1", "{reply:?}");
    let record = rig.record(&session).await.unwrap();
    assert!(record.metadata.backend_sid.is_some());
    assert_eq!(rig.count(&session).await.json()["result"]["content"][0]["text"], "2");
    let counts = server.counts();
    assert_eq!((counts.of("initialize"), counts.of("notifications/initialized"), counts.sessions), (2, 2, 1));
    // It ends like any other.
    assert_eq!(send(rig.address, crate::support::delete("/mcp", &[&session])).await.status, 204);
    assert_eq!(server.counts().sessions, 0);
}

#[tokio::test]
async fn a_restarted_container_is_noticed_before_anything_is_sent_to_it() {
    let server = McpServer::start(Options::default()).await.unwrap();
    server.answer_lost_sessions_with(StatusCode::BAD_REQUEST);
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    server.forget_sessions();
    rig.become_of(vec![restarted(instance(0, server.address()))]);
    // The proxy hears of it by a watch; until then the server says 400, which is passed on.
    let mut reply = rig.count(&session).await;
    while reply.status == 400 {
        reply = rig.count(&session).await;
    }
    assert_eq!(reply.status, 200, "{reply:?}");
    let record = rig.record(&session).await.unwrap();
    assert_eq!(record.metadata.pod.as_deref(), Some("0/uid-0/containerd://restarted"));
}

#[tokio::test]
async fn a_session_moves_when_its_instance_does_not_take_connections() {
    let (one, two) = (
        McpServer::start(Options::default()).await.unwrap(),
        McpServer::start(Options::default()).await.unwrap(),
    );
    let rig = Rig::of(&[one.address(), two.address()]).await;
    let session = rig.session().await;
    assert_eq!(one.counts().sessions, 1);
    one.close_connections();
    drop(one);
    let reply = rig.count(&session).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(two.counts().sessions, 1);
    assert_eq!(rig.record(&session).await.unwrap().metadata.pod.as_deref(), Some("1/uid-1/containerd://1"));
}

#[tokio::test]
async fn a_404_about_the_method_is_an_answer() {
    let server = Stub::start(|request: Request<Bytes>| async move {
        let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        if body["method"] == "initialize" {
            return respond(200, &[JSON, "mcp-session-id: s"], welcome("2025-11-25"));
        }
        respond(404, &[JSON], r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#)
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    post(rig.address, &[], &initialize()).await;
    let reply = post(rig.address, &["mcp-session-id: s"], &request("x/y", json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (404, -32601));
    assert_eq!(server.methods(), ["initialize", "x/y"]);
}

#[tokio::test]
async fn many_requests_at_once_start_one_session() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    server.forget_sessions();
    let replies = futures::future::join_all((0..30).map(|_| rig.count(&session))).await;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    let counts = server.counts();
    assert_eq!((counts.of("initialize"), counts.sessions), (2, 1));
}

#[tokio::test]
async fn a_backend_with_another_version_ends_the_session() {
    let server = forgetful("2025-03-26").await;
    let rig = Rig::of(&[server.address]).await;
    post(rig.address, &[], &initialize()).await;
    let reply = post(rig.address, &["mcp-session-id: s0", VERSION], &request("tools/list", json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.code(), &reply.json()["id"]), (404, -32001, &json!(7)));
    assert!(rig.record("s0").await.is_none());
    assert_eq!(server.methods(), ["initialize", "tools/list", "initialize", "DELETE"]);
    assert_eq!(server.heard()[3].headers["mcp-session-id"], "s1");
}

#[tokio::test]
async fn without_a_version_header_the_one_that_was_asked_for_counts() {
    let server = forgetful("2025-11-25").await;
    let rig = Rig::of(&[server.address]).await;
    post(rig.address, &[], &initialize()).await;
    let reply = post(rig.address, &["mcp-session-id: s0"], &request("tools/list", json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.session().as_str()), (200, "s0"));
}

#[tokio::test]
async fn a_session_is_started_anew_with_what_the_client_proves_itself_with_now() {
    let server = forgetful("2025-11-25").await;
    let rig = Rig::of(&[server.address]).await;
    post(rig.address, &["authorization: Bearer old"], &initialize()).await;
    let list = request("tools/list", json!({}));
    let headers = ["mcp-session-id: s0", VERSION, "authorization: Bearer new", "accept-encoding: gzip"];
    let reply = post(rig.address, &headers, &list).await;
    assert_eq!(reply.status, 200);
    let heard = server.heard();
    let methods = ["initialize", "tools/list", "initialize", "notifications/initialized", "tools/list"];
    assert_eq!(server.methods(), methods);
    assert_eq!(heard[2].body, heard[0].body);
    for (request, session) in heard[2..].iter().zip([None, Some("s1"), Some("s1")]) {
        assert_eq!(request.headers["authorization"], "Bearer new");
        assert_eq!(request.headers.get("mcp-session-id").map(|id| id.to_str().unwrap()), session);
    }
    assert_eq!(heard[3].headers["mcp-protocol-version"], "2025-11-25");
    assert!(
        !heard[2].headers.contains_key("accept-encoding") && heard[4].headers.contains_key("accept-encoding")
    );
}

#[tokio::test]
async fn a_backend_that_refuses_ends_the_session() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    server.forget_sessions();
    server.fail_next("initialize", Fault::Status(StatusCode::INTERNAL_SERVER_ERROR), 1);
    let reply = rig.count(&session).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
    assert!(rig.record(&session).await.is_none());
}

#[tokio::test]
async fn a_session_with_a_subscription_or_a_task_is_not_started_anew() {
    let task = json!({"name": "echo", "arguments": {}, "task": {"ttl": 1000}});
    for first in [
        request("resources/subscribe", json!({"uri": "note://everything"})),
        request("tools/call", task),
        request("tasks/get", json!({"taskId": "t"})),
    ] {
        let server = McpServer::start(Options::default()).await.unwrap();
        let rig = Rig::of(&[server.address()]).await;
        let session = rig.session().await;
        post(rig.address, &[&session, VERSION], &first).await;
        server.forget_sessions();
        let reply = rig.count(&session).await;
        assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001), "{first}");
        assert!(rig.record(&session).await.is_none());
        assert_eq!(server.counts().of("initialize"), 1);
    }
}

#[tokio::test]
async fn a_request_that_was_cut_off_is_repeated_only_if_that_does_no_harm() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    for method in ["ping", "tools/list", "resources/read", "prompts/get", "completion/complete"] {
        server.fail_next(method, Fault::CutBefore, 1);
        let reply = post(
            rig.address,
            &[&session, VERSION],
            &request(method, json!({"name": "greet", "uri": "note://everything"})),
        )
        .await;
        assert_eq!(reply.status, 200, "{method} {reply:?}");
        assert_eq!(server.counts().of(method), 2, "{method}");
    }
    server.fail_next("tools/call", Fault::CutBefore, 1);
    let reply = rig.count(&session).await;
    assert_eq!((reply.status.as_u16(), reply.code(), reply.cause().as_str()), (502, -32603, "backend_lost"));
    assert_eq!(reply.json()["id"], 7);
    assert_eq!(server.counts().of("tools/call"), 1);
    // The session goes on.
    assert_eq!(rig.count(&session).await.json()["result"]["content"][0]["text"], "1");
    server.fail_next("initialize", Fault::CutBefore, 1);
    let reply = post(rig.address, &[], &initialize()).await;
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (502, "backend_lost"));
}

#[tokio::test]
async fn a_stream_that_is_lost_ends_and_comes_back_without_its_place() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::of(&[server.address()]).await;
    let session = rig.session().await;
    let mut stream = open(rig.address, get("/mcp", &[&session, VERSION])).await.unwrap();
    server.until("the stream is open", |counts| counts.open_streams == 1).await.unwrap();
    rig.call(&session, "notify", json!({"count": 1})).await;
    stream.until("notifications/message").await;
    server.close_connections();
    assert_eq!(stream.rest().await.unwrap(), "", "it ends properly, since nobody waits for an answer on it");

    server.forget_sessions();
    let place = "last-event-id: 1";
    let again = open(rig.address, get("/mcp", &[&session, VERSION, place])).await.unwrap();
    assert_eq!(again.status, 200);
    let gets: Vec<_> = server.seen().into_iter().filter(|seen| seen.verb == "GET").collect();
    assert_eq!(gets.len(), 3);
    assert!(gets[1].headers.contains_key("last-event-id") && !gets[2].headers.contains_key("last-event-id"));
}

/// The rest of an answer that is cut off after its first piece.
async fn rest_after(media: &'static str, first: &'static str) -> Result<String, hyper::Error> {
    let arrived = Arc::new(Notify::new());
    let heard = Arc::clone(&arrived);
    let server = Stub::start(move |_| {
        let heard = Arc::clone(&heard);
        async move { cut(&[media], first, heard) }
    })
    .await;
    let rig = Rig::of(&[server.address]).await;
    let mut stream = open(rig.address, posted("/mcp", &[], &tool("x", json!({})))).await.unwrap();
    assert_eq!(stream.until(first).await, first);
    arrived.notify_one();
    stream.rest().await
}

#[tokio::test]
async fn who_waits_for_an_answer_on_a_stream_that_is_lost_is_told_so() {
    let rest =
        rest_after("content-type: text/event-stream", "event: message\ndata: {\"half\"").await.unwrap();
    let data: Value = serde_json::from_str(rest.split_once("\n\nevent: message\ndata: ").unwrap().1).unwrap();
    assert_eq!((&data["id"], &data["error"]["data"]["cause"]), (&json!(7), &json!("backend_lost")));
    // JSON that is cut cannot be mended.
    assert!(rest_after(JSON, "{\"half\"").await.is_err());
}

#[tokio::test]
async fn nobody_to_start_a_session_anew_at_is_no_reason_to_forget_it() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let rig = Rig::builder(thv_config::Transport::StreamableHttp).backends(&[server.address()]);
    let rig =
        rig.set(|settings| settings.times.backend = std::time::Duration::from_millis(100)).start().await;
    let session = rig.session().await;
    rig.become_of(vec![]);
    let mut reply = rig.count(&session).await;
    while reply.status == 200 {
        reply = rig.count(&session).await;
    }
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (502, "backend_unreachable"));
    rig.become_of(vec![restarted(instance(0, server.address()))]);
    while reply.status == 502 {
        reply = rig.count(&session).await;
    }
    assert_eq!(reply.status, 200);
}
