//! What a collector gets to see: a real server that takes OTLP.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail that way")]

mod delivery;
mod server;
mod spans;

use std::time::{Duration, Instant};

use http::{HeaderMap, Method, StatusCode, Uri, Version};
use thv_config::telemetry::TelemetryConfig;
use thv_telemetry::{Answered, Asked, Carried, Content, Message, Metrics, Service, Telemetry};

pub(crate) const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
pub(crate) const UNSAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
pub(crate) const SOON: Duration = Duration::from_secs(5);

pub(crate) fn environment(name: &str) -> Option<String> {
    match name {
        "OTEL_RESOURCE_ATTRIBUTES" => Some("zone=a".into()),
        "NODE_NAME" => Some("node-7".into()),
        _ => None,
    }
}

pub(crate) fn service() -> Service<'static> {
    Service { server: "github", transport: "streamable-http", version: "1.2.3", environment: &environment }
}

pub(crate) fn traces(endpoint: String, rate: &str) -> TelemetryConfig {
    TelemetryConfig {
        endpoint,
        tracing_enabled: true,
        sampling_rate: rate.into(),
        insecure: true,
        ..TelemetryConfig::default()
    }
}

pub(crate) fn asked<'a>(uri: &'a Uri, headers: &'a HeaderMap, content: Content<'a>) -> Asked<'a> {
    Asked {
        verb: &Method::POST,
        uri,
        scheme: "https",
        host: Some("mcp.example.com:8443"),
        version: Version::HTTP_11,
        headers,
        body: Some(321),
        client: Some("10.0.0.9:4711".parse().unwrap()),
        content,
    }
}

pub(crate) fn answered(status: StatusCode) -> Answered {
    Answered { status, body: Some(12), duration: Duration::from_millis(250) }
}

/// Starts telemetry, makes one span for a call of a tool, and stops.
pub(crate) async fn one_span(
    config: &TelemetryConfig,
    headers: &HeaderMap,
    status: StatusCode,
    metrics: &Metrics,
) -> HeaderMap {
    let telemetry = Telemetry::start(config, &service(), metrics).unwrap();
    let mut trace = telemetry.tracing().unwrap().begin(headers, Carried::default(), Instant::now());
    let message = Message {
        method: "tools/call",
        id: Some("\"7\""),
        resource: Some("search"),
        client: None,
        arguments: Some(r#"{"query":"x","apiKey":"hunter2"}"#),
    };
    let uri = Uri::from_static("/mcp?a=1");
    trace.asked(&asked(&uri, headers, Content::Message(message)));
    let mut outbound = headers.clone();
    trace.inject(&mut outbound);
    trace.end(&answered(status));
    telemetry.stop(SOON).await;
    outbound
}

pub(crate) fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}
