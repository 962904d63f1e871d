//! Sessions that replicas share, and what happens without Redis.

use std::time::Duration;

use serde_json::json;
use thv_config::Transport;
use thv_session::{RedisOptions, Sessions};
use thv_testbed::Redis;
use thv_testbed::mcp::{McpServer, Options};

use crate::support::{Relay, Rig, delete, get, initialize, instance, modern, open, post, send};

fn sessions(address: String, ttl: Duration) -> Sessions {
    let options =
        RedisOptions { address, db: 0, password: None, prefix: "thv:proxy:session:ns:web:".to_owned() };
    Sessions::in_redis(options, ttl).unwrap()
}

async fn replica(redis: &str, server: &McpServer, ttl: Duration) -> Rig {
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let rig = rig.sessions(sessions(redis.to_owned(), ttl)).start().await;
    // It looks for Redis in the background.
    for _ in 0..2000 {
        if rig.sessions.available() {
            return rig;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("Redis is not found");
}

const LONG: Duration = Duration::from_mins(10);

#[tokio::test]
async fn any_replica_serves_any_session() {
    let redis = Redis::start(None).await.unwrap();
    let server = McpServer::start(Options::default()).await.unwrap();
    let (one, two) =
        (replica(&redis.address(), &server, LONG).await, replica(&redis.address(), &server, LONG).await);
    let session = one.session().await;
    assert_eq!(two.count(&session).await.json()["result"]["content"][0]["text"], "1");
    assert_eq!(one.count(&session).await.json()["result"]["content"][0]["text"], "2");
    server.forget_sessions();
    assert_eq!(one.count(&session).await.json()["result"]["content"][0]["text"], "1");
    // The other one holds a lease on the old record; the backend's 404 makes it look again.
    assert_eq!(two.count(&session).await.json()["result"]["content"][0]["text"], "2");
    assert_eq!(server.counts().of("initialize"), 2);
    // A DELETE on one is seen by the other at once, through the backend's 404.
    assert_eq!(send(one.address, delete("/mcp", &[&session])).await.status, 204);
    let reply = two.count(&session).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (404, -32001));
    assert_eq!(server.counts().of("initialize"), 2);
}

#[tokio::test]
async fn replicas_that_start_a_session_anew_at_once_agree_and_leave_no_spare() {
    let redis = Redis::start(None).await.unwrap();
    let server = McpServer::start(Options::default()).await.unwrap();
    let (one, two) =
        (replica(&redis.address(), &server, LONG).await, replica(&redis.address(), &server, LONG).await);
    let session = one.session().await;
    assert_eq!(two.count(&session).await.status, 200);
    for _ in 0..10 {
        server.forget_sessions();
        let replies = futures::future::join_all((0..8).map(|number| {
            let rig = if number % 2 == 0 { &one } else { &two };
            rig.count(&session)
        }));
        let replies = replies.await;
        assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
        assert_eq!(server.counts().sessions, 1, "the loser closes its own");
    }
}

#[tokio::test]
async fn without_redis_leases_and_modern_requests_are_served_and_the_rest_gets_503() {
    let redis = Redis::start(None).await.unwrap();
    let way = Relay::start(([127, 0, 0, 1], 0).into(), redis.address()).await;
    let address = way.address.to_string();
    let server = McpServer::start(Options::default()).await.unwrap();
    let (one, two) = (replica(&address, &server, LONG).await, replica(&address, &server, LONG).await);
    let session = one.session().await;
    let cut = way.cut().await;

    assert_eq!(one.count(&session).await.status, 200, "the lease is fresh");
    let reply = two.count(&session).await;
    assert_eq!(
        (reply.status.as_u16(), reply.code(), reply.cause().as_str()),
        (503, -32603, "session_store_unavailable")
    );
    assert!(reply.headers.contains_key("retry-after"));
    let before = server.counts().of("initialize");
    let reply = post(one.address, &[], &initialize()).await;
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (503, "session_store_unavailable"));
    assert_eq!(server.counts().of("initialize"), before, "the backend was not asked");
    let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/list"];
    assert_eq!(post(two.address, &headers, &modern("tools/list", json!({}))).await.status, 200);

    // A proxy that starts now does so, and all of them recover by themselves.
    let late = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let late = late.sessions(sessions(address.clone(), LONG)).start().await;
    assert_eq!(post(late.address, &[], &initialize()).await.status, 503);
    let _way = Relay::start(cut, redis.address()).await;
    for rig in [&one, &two, &late] {
        let mut reply = post(rig.address, &[], &initialize()).await;
        for _ in 0..1000 {
            if reply.status != 503 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            reply = post(rig.address, &[], &initialize()).await;
        }
        assert_eq!(reply.status, 200);
    }
}

#[tokio::test]
async fn an_open_stream_ends_when_another_replica_ends_its_session() {
    let redis = Redis::start(None).await.unwrap();
    let server = McpServer::start(Options::default()).await.unwrap();
    let ttl = Duration::from_secs(1);
    let (one, two) =
        (replica(&redis.address(), &server, ttl).await, replica(&redis.address(), &server, ttl).await);
    let session = one.session().await;
    let stream = open(one.address, get("/mcp", &[&session])).await.unwrap();
    server.until("the stream is open", |counts| counts.open_streams == 1).await.unwrap();
    // Longer than a session lives without being used.
    tokio::time::sleep(ttl * 2).await;
    assert_eq!(two.count(&session).await.status, 200, "the stream has kept it");
    let key = thv_session::Key::of(session.strip_prefix("mcp-session-id: ").unwrap());
    two.sessions.remove(key).await.unwrap();
    assert_eq!(stream.rest().await.unwrap(), "");
}

#[tokio::test]
async fn a_session_survives_the_replica_that_made_it_and_the_instance_that_served_it() {
    let redis = Redis::start(None).await.unwrap();
    let (old, new) = (
        McpServer::start(Options::default()).await.unwrap(),
        McpServer::start(Options::default()).await.unwrap(),
    );
    let mut one = replica(&redis.address(), &old, LONG).await;
    let two = replica(&redis.address(), &old, LONG).await;
    let session = one.session().await;
    one.drained().await;
    two.become_of(vec![instance(1, new.address())]);
    old.close_connections();
    drop(old);
    let reply = two.count(&session).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(new.counts().sessions, 1);
}
