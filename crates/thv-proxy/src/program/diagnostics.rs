//! Metrics on a port of their own, where no client of the MCP server sees them.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use thv_telemetry::metrics::{CONTENT_TYPE, Metrics};
use tokio::net::TcpListener;

/// The port when the configuration names none.
const DEFAULT_PORT: u16 = 9464;

/// How long the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// Listens where the configuration says; on a port that is free if that one is taken, as the reference does.
pub(super) async fn listen(host: &str, port: u16) -> io::Result<TcpListener> {
    let wanted = if port == 0 { DEFAULT_PORT } else { port };
    let address = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    match TcpListener::bind(SocketAddr::new(address, wanted)).await {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let listener = TcpListener::bind(SocketAddr::new(address, 0)).await?;
            let found = listener.local_addr()?;
            tracing::warn!(port = wanted, address = %found, "the port for metrics is taken; they are served elsewhere");
            Ok(listener)
        }
        bound => bound,
    }
}

/// Answers until it is dropped.
pub(super) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) -> Infallible {
    loop {
        // Nothing can be done about a connection that fails to come up, except to wait for the next one.
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let metrics = metrics.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let response = answer(&request, &metrics);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // A client that breaks off has its reasons.
            let _ = server.serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

fn answer(request: &Request<Incoming>, metrics: &Metrics) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/metrics") => {
            let content_type = header::HeaderValue::from_static(CONTENT_TYPE);
            response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            *response.body_mut() = Full::new(metrics.exposition());
        }
        (_, "/metrics") => *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED,
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    async fn ask(address: SocketAddr, line: &str) -> String {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let request = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn metrics_are_served_and_nothing_else() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(serve(listener, Arc::new(Metrics::new("s", "streamable-http"))));
        let metrics = ask(address, "GET /metrics").await;
        assert!(metrics.starts_with("HTTP/1.1 200") && metrics.contains("# EOF"), "{metrics}");
        assert!(ask(address, "GET /mcp").await.starts_with("HTTP/1.1 404"));
        assert!(ask(address, "POST /metrics").await.starts_with("HTTP/1.1 405"));
        server.abort();
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_replaced_by_a_free_one() {
        let taken = listen("127.0.0.1", 0).await.unwrap_or(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let port = taken.local_addr().unwrap().port();
        let other = listen("127.0.0.1", port).await.unwrap();
        assert_ne!(other.local_addr().unwrap().port(), port);
    }
}
