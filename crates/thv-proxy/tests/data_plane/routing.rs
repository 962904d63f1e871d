//! Which instance gets what.

use std::time::{Duration, Instant};

use serde_json::json;
use thv_config::Transport;
use thv_testbed::mcp::{McpServer, Options};
use thv_workload::Instance;

use crate::support::{Rig, get, initialize, instance, modern, post, send};

async fn servers<const N: usize>() -> [McpServer; N] {
    let all = futures::future::join_all((0..N).map(|_| McpServer::start(Options::default()))).await;
    let all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    all.try_into().ok().unwrap()
}

#[tokio::test]
async fn a_new_session_goes_where_there_are_fewest() {
    let servers = servers::<3>().await;
    let rig = Rig::of(&servers.each_ref().map(McpServer::address)).await;
    let mut sessions = Vec::new();
    for _ in 0..9 {
        sessions.push(rig.session().await);
    }
    assert_eq!(servers.each_ref().map(|server| server.counts().sessions), [3, 3, 3]);
    // Sessions that end make room.
    for session in &sessions {
        if rig.record(session).await.unwrap().metadata.pod.as_deref() == Some("1/uid-1/containerd://1") {
            assert_eq!(send(rig.address, crate::support::delete("/mcp", &[session])).await.status, 204);
        }
    }
    for _ in 0..3 {
        rig.session().await;
    }
    assert_eq!(servers.each_ref().map(|server| server.counts().sessions), [3, 3, 3]);
    // Many at once are spread as well.
    futures::future::join_all((0..30).map(|_| rig.session())).await;
    let counts = servers.each_ref().map(|server| server.counts().sessions);
    assert!(counts.iter().all(|count| (11..=15).contains(count)), "{counts:?}");
}

#[tokio::test]
async fn an_instance_that_is_not_ready_or_about_to_end_gets_nothing_new() {
    let servers = servers::<3>().await;
    let all: Vec<_> =
        (0..).zip(&servers).map(|(ordinal, server)| instance(ordinal, server.address())).collect();
    let unready = Instance { ready: false, ..all[0].clone() };
    let terminating = Instance { terminating: true, ..all[1].clone() };
    let rig = Rig::builder(Transport::StreamableHttp);
    let rig = rig.instances(vec![unready, terminating, all[2].clone()]).start().await;
    for _ in 0..4 {
        rig.session().await;
        let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/list"];
        assert_eq!(post(rig.address, &headers, &modern("tools/list", json!({}))).await.status, 200);
    }
    assert_eq!(servers.each_ref().map(|server| server.counts().sessions_made), [0, 0, 4]);
    assert_eq!(servers[2].counts().of("tools/list"), 4);
}

#[tokio::test]
async fn a_post_waits_for_the_backend_and_a_get_does_not() {
    let [server] = servers::<1>().await;
    let rig = Rig::of(&[]).await;
    let reply = send(rig.address, get("/mcp", &[])).await;
    assert_eq!(
        (reply.status.as_u16(), reply.code(), reply.cause().as_str()),
        (502, -32603, "backend_unreachable")
    );
    let address = rig.address;
    let waiting = tokio::spawn(async move { post(address, &[], &initialize()).await });
    rig.become_of(vec![Instance { ready: false, ..instance(0, server.address()) }]);
    rig.become_of(vec![instance(0, server.address())]);
    assert_eq!(waiting.await.unwrap().status, 200);
}

#[tokio::test]
async fn a_post_waits_for_a_server_that_does_not_listen_yet_but_not_for_ever() {
    let address = {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        free.local_addr().unwrap()
    };
    let rig = Rig::of(&[address]).await;
    let proxy = rig.address;
    let waiting = tokio::spawn(async move { post(proxy, &[], &initialize()).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let server = McpServer::start(Options { address, ..Options::default() }).await.unwrap();
    assert_eq!(waiting.await.unwrap().status, 200);
    drop(server);

    let rig = Rig::builder(Transport::StreamableHttp).backends(&[address]);
    let rig = rig.set(|settings| settings.times.backend = Duration::from_millis(300)).start().await;
    let began = Instant::now();
    let reply = post(rig.address, &[], &initialize()).await;
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (502, "backend_unreachable"));
    assert!(began.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_request_without_a_session_goes_where_least_is_going_on() {
    let servers = servers::<2>().await;
    let rig = Rig::of(&servers.each_ref().map(McpServer::address)).await;
    let slow = modern("tools/call", json!({"name": "sleep", "arguments": {"ms": 60_000}}));
    let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: sleep"];
    let request = crate::support::json("/mcp", &headers, &slow);
    let waiting = tokio::spawn(crate::support::open(rig.address, request));
    servers[0].until("it sleeps", |counts| counts.running == 1).await.unwrap();
    for _ in 0..3 {
        let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/list"];
        assert_eq!(post(rig.address, &headers, &modern("tools/list", json!({}))).await.status, 200);
    }
    assert_eq!(servers[1].counts().of("tools/list"), 3);
    waiting.abort();
}

#[tokio::test]
async fn requests_to_an_instance_that_vanished_fail_after_a_while() {
    let [server] = servers::<1>().await;
    let rig = Rig::builder(Transport::StreamableHttp).backends(&[server.address()]);
    let rig = rig.set(|settings| settings.times.farewell = Duration::from_millis(100)).start().await;
    let session = rig.session().await;
    let stream = crate::support::open(rig.address, get("/mcp", &[&session])).await.unwrap();
    let waiting = rig.call(&session, "sleep", json!({"ms": 60_000}));
    let mut waiting = Box::pin(waiting);
    tokio::select! {
        reply = &mut waiting => panic!("{reply:?}"),
        seen = server.until("it sleeps", |counts| counts.running == 1) => drop(seen.unwrap()),
    }
    rig.become_of(vec![]);
    let reply = waiting.await;
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (502, "backend_lost"));
    assert_eq!(stream.rest().await.unwrap(), "");
    server.until("its connections are closed", |counts| counts.open_connections == 0).await.unwrap();
}
