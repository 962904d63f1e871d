//! Servers elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use serde_json::json;
use thv_config::Transport;
use thv_config::middleware::{HeaderForwardParameters, Middleware};
use thv_testbed::mcp::{McpServer, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Rig, Stub, get, initialize, json as posted, open, post, request, respond, send};

const JSON: &str = "content-type: application/json";

async fn plain() -> Stub {
    Stub::start(|_| async { respond(200, &[JSON], "{}") }).await
}

#[tokio::test]
async fn path_query_and_headers_are_those_of_the_remote_server() {
    let server = plain().await;
    let secret = BTreeMap::from([("X-Api-Key".to_owned(), "hush".to_owned())]);
    let forward = Middleware::HeaderForward(HeaderForwardParameters { add_headers: secret.into() });
    let url = format!("http://{}/v1/mcp?key=k", server.address);
    let rig = Rig::builder(Transport::StreamableHttp).remote(&url).with(forward).start().await;
    let headers = ["x-api-key: mine", "x-forwarded-host: evil", "authorization: Bearer mine"];
    for (asked, path) in
        [("/mcp", "/v1/mcp?key=k"), ("/mcp?a=b", "/v1/mcp?key=k&a=b"), ("/", "/v1/mcp?key=k")]
    {
        send(rig.address, posted(asked, &headers, &request("ping", json!({})))).await;
        let heard = server.heard().pop().unwrap();
        assert_eq!(heard.path, path);
        assert_eq!(heard.headers["host"], server.address.to_string());
        assert_eq!(heard.headers["x-api-key"], "hush");
        assert_eq!(heard.headers["authorization"], "Bearer mine");
        assert_eq!(heard.headers["x-forwarded-proto"], "http");
        assert_eq!(heard.headers["x-forwarded-for"], "127.0.0.1");
        assert!(!heard.headers.contains_key("x-forwarded-host"));
    }
    let root =
        Rig::builder(Transport::StreamableHttp).remote(&format!("http://{}", server.address)).start().await;
    send(root.address, posted("/any?x=1", &[], &request("ping", json!({})))).await;
    assert_eq!(server.heard().pop().unwrap().path, "/any?x=1");
}

#[tokio::test]
async fn messages_of_the_older_transport_go_where_the_server_said() {
    let server = Stub::start(|request: Request<Bytes>| async move {
        if request.method() == "POST" {
            return respond(202, &[], "");
        }
        let endpoint = Bytes::from_static(b"event: endpoint\ndata: messages?sessionId=s\n\n");
        let first = futures::stream::iter([Ok::<_, std::io::Error>(hyper::body::Frame::data(endpoint))]);
        let body =
            http_body_util::StreamBody::new(futures::StreamExt::chain(first, futures::stream::pending()));
        respond(200, &["content-type: text/event-stream"], "")
            .map(|_| http_body_util::BodyExt::boxed_unsync(body))
    })
    .await;
    let url = format!("http://{}/v1/sse?key=k", server.address);
    let rig = Rig::builder(Transport::Sse).remote(&url).start().await;
    let mut stream = open(rig.address, get("/sse", &[])).await.unwrap();
    assert!(stream.until("\n\n").await.contains("data: /v1/messages?sessionId=s\n"));
    let reply = send(rig.address, posted("/v1/messages?sessionId=s", &[], &initialize())).await;
    assert_eq!(reply.status, 202);
    let paths: Vec<_> = server.heard().into_iter().map(|heard| heard.path).collect();
    assert_eq!(paths, ["/v1/sse?key=k", "/v1/messages?key=k&sessionId=s"]);
}

#[tokio::test]
async fn a_remote_session_is_started_anew_and_outlives_an_outage() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let address = server.address();
    let rig = Rig::builder(Transport::StreamableHttp).remote(&server.url()).start().await;
    let session = rig.session().await;
    let record = rig.record(&session).await.unwrap();
    assert_eq!(record.metadata.backend_url.as_deref(), Some(&*format!("http://{address}")));
    assert_eq!(record.metadata.pod, None);
    server.forget_sessions();
    assert_eq!(rig.count(&session).await.status, 200);
    server.close_connections();
    drop(server);
    let reply = rig.count(&session).await;
    assert_eq!((reply.status.as_u16(), reply.cause().as_str()), (502, "backend_unreachable"));
    let _server = McpServer::start(Options { address, ..Options::default() }).await.unwrap();
    assert_eq!(rig.count(&session).await.status, 200);
}

#[tokio::test]
async fn redirects_on_the_same_host_are_followed_with_method_headers_and_body() {
    for status in [301, 302, 307, 308] {
        let server = Stub::start(move |request: Request<Bytes>| async move {
            match request.uri().path() {
                "/mcp" => respond(status, &["location: http://mcp-web:8080/mcp/"], ""),
                "/away" => respond(status, &["location: http://elsewhere/mcp/"], ""),
                "/round" => respond(status, &["location: /round"], ""),
                _ => respond(200, &[JSON], request.into_body()),
            }
        })
        .await;
        let rig = Rig::of(&[server.address]).await;
        let body = request("tools/list", json!({}));
        let reply = post(rig.address, &["authorization: Bearer x"], &body).await;
        assert_eq!((reply.status.as_u16(), reply.json()), (200, body.clone()));
        let heard = server.heard().pop().unwrap();
        assert_eq!((heard.path.as_str(), heard.verb.as_str()), ("/mcp/", "POST"));
        assert_eq!(heard.headers["authorization"], "Bearer x");
        let away = send(rig.address, posted("/away", &[], &body)).await;
        assert_eq!(
            (away.status.as_u16(), &away.headers["location"]),
            (status, &"http://elsewhere/mcp/".parse().unwrap())
        );
        let before = server.heard().len();
        let round = send(rig.address, posted("/round", &[], &body)).await;
        assert_eq!((round.status.as_u16(), server.heard().len() - before), (status, 11));
    }
}

/// Where the parent's servers are.
const URL: &str = "THV_TEST_REMOTE_URL";

#[tokio::test]
async fn tls_and_the_proxy_of_the_environment_lead_to_a_remote_server() {
    let server = McpServer::start(Options::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["mcp.test".to_owned()]).unwrap();
    std::fs::write(folder.path().join("roots.pem"), made.cert.pem()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let tls = tokio_rustls::TlsAcceptor::from(Arc::new(config));

    // The name is known to the proxy alone, and leads to TLS in front of the server.
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy_address = proxy.local_addr().unwrap();
    let behind = server.address();
    let (saw, mut seen) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = proxy.accept().await {
            let (tls, saw) = (tls.clone(), saw.clone());
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                saw.send(String::from_utf8(head).unwrap()).unwrap();
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
                let mut inner = tls.accept(stream).await.unwrap();
                let mut to = TcpStream::connect(behind).await.unwrap();
                let _ = copy_bidirectional(&mut inner, &mut to).await;
            });
        }
    });
    let child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "remote::child_of_the_test_with_tls", "--ignored", "--nocapture"])
        .env(URL, "https://mcp.test:8443/mcp")
        .env("SSL_CERT_FILE", folder.path().join("roots.pem"))
        .env_remove("SSL_CERT_DIR")
        .env("HTTPS_PROXY", format!("http://user:word@{proxy_address}"))
        .env("NO_PROXY", "")
        .output()
        .await
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let connect = seen.recv().await.unwrap();
    assert!(connect.starts_with("CONNECT mcp.test:8443 HTTP/1.1\r\n"), "{connect}");
    assert!(connect.contains("Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n"), "{connect}");
    let asked = server.seen().into_iter().find(|seen| seen.method.as_deref() == Some("tools/call")).unwrap();
    assert_eq!(asked.headers["host"], "mcp.test:8443");
    assert_eq!(asked.headers["x-forwarded-proto"], "https");
}

/// Runs in a process of its own, for the sake of its environment.
#[tokio::test]
#[ignore = "the test with TLS runs it"]
async fn child_of_the_test_with_tls() {
    let Ok(url) = std::env::var(URL) else { return };
    let rig = Rig::builder(Transport::StreamableHttp).remote(&url).start().await;
    let session = rig.session().await;
    assert_eq!(rig.count(&session).await.status, 200);
}
