//! What the proxy answers itself: whether it lives, and how it does.

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde::Serialize;

use super::clock::now;
use super::proxy::Proxy;
use super::refusal::whole;
use super::reply::Reply;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const MOVED: &str =
    "Metrics are served by the diagnostics listener, on the port that prometheusPort names.\n";

/// The answer to a request that is not for the backend.
pub(super) fn answer<B>(proxy: &Proxy, request: &Request<B>) -> Option<Response<Reply>> {
    let path = request.uri().path();
    // Nearly all requests end here.
    if !matches!(path.as_bytes(), [b'/', b'h' | b'l' | b'r' | b'm' | b'.', ..]) {
        return None;
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    Some(match path {
        "/health" if *request.method() != Method::GET => not_allowed(),
        "/livez" | "/readyz" | "/metrics" if !reads => not_allowed(),
        "/health" => health(proxy),
        "/readyz" if proxy.life.is_leaving() => {
            whole(StatusCode::SERVICE_UNAVAILABLE, TEXT, "shutting down\n")
        }
        "/livez" | "/readyz" => whole(StatusCode::OK, TEXT, "ok\n"),
        "/metrics" if proxy.metrics_on_transport_port => {
            let media = HeaderValue::from_static(thv_telemetry::metrics::CONTENT_TYPE);
            whole(StatusCode::OK, media, proxy.metrics.exposition())
        }
        "/metrics" => whole(StatusCode::NOT_FOUND, TEXT, MOVED),
        path if path == "/.well-known" || path.starts_with("/.well-known/") => {
            whole(StatusCode::NOT_FOUND, JSON, r#"{"error":"not_found"}"#)
        }
        _ => return None,
    })
}

fn not_allowed() -> Response<Reply> {
    let mut response = whole(StatusCode::METHOD_NOT_ALLOWED, TEXT, "Method not allowed\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
    response
}

/// What probes get. The backend is told about, but its health is not ours.
#[derive(Serialize)]
struct Health<'a> {
    status: &'static str,
    timestamp: String,
    transport: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp: Option<Backend>,
}

#[derive(Serialize)]
struct Backend {
    available: bool,
    last_checked: String,
}

fn health(proxy: &Proxy) -> Response<Reply> {
    let timestamp = now().to_string();
    let backend = proxy.upstream.ready();
    let mcp = backend.map(|ready| Backend { available: ready > 0, last_checked: timestamp.clone() });
    let (code, status) = match (proxy.life.is_leaving(), &mcp) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy"),
        (false, Some(Backend { available: false, .. })) => (StatusCode::OK, "degraded"),
        (false, _) => (StatusCode::OK, "healthy"),
    };
    let health = Health { status, timestamp, transport: proxy.transport.as_str(), mcp };
    whole(code, JSON, serde_json::to_vec(&health).unwrap_or_default())
}
