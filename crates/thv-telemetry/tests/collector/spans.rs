//! What a span says.

use std::collections::BTreeMap;
use std::time::Instant;

use http::{HeaderMap, StatusCode, Uri};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use thv_config::telemetry::TelemetryConfig;
use thv_telemetry::{Carried, Content, Metrics, Telemetry};

use crate::server::{self, Server};
use crate::{PARENT, SOON, UNSAMPLED, answered, asked, headers, one_span, service, traces};

fn attributes(span: &Span) -> BTreeMap<String, String> {
    server::texts(&span.attributes)
}

#[tokio::test]
async fn a_sampled_request_is_a_span_with_everything_that_is_known_of_it() {
    let server = Server::start(None).await;
    let config = TelemetryConfig {
        environment_variables: vec!["NODE_NAME".into(), "UNSET".into()],
        headers: BTreeMap::from([("x-team".to_owned(), "blue".to_owned())]).into(),
        custom_attributes: BTreeMap::from([("team".into(), "blue".into())]),
        ..traces(server.url(), "0")
    };
    let sent = headers(&[
        ("traceparent", PARENT),
        ("tracestate", "vendor=1"),
        ("baggage", "a=1"),
        ("mcp-session-id", "s1"),
        ("mcp-protocol-version", "2025-06-18"),
        ("user-agent", "client/1"),
    ]);
    let metrics = Metrics::new("github", "streamable-http");
    let outbound = one_span(&config, &sent, StatusCode::OK, &metrics).await;

    let (request, spans) = server.only_traces();
    assert_eq!(request.path, "/v1/traces");
    assert_eq!(request.headers["content-type"], "application/x-protobuf");
    assert_eq!(request.headers["x-team"], "blue");
    let resource = &spans.resource_spans[0].resource.as_ref().unwrap().attributes;
    let resource = server::texts(resource);
    for (name, value) in
        [("service.name", "thv-github"), ("service.version", "1.2.3"), ("team", "blue"), ("zone", "a")]
    {
        assert_eq!(resource[name], value);
    }
    let span = &spans.resource_spans[0].scope_spans[0].spans[0];
    assert_eq!(span.name, "tools/call search");
    assert_eq!(span.kind, SpanKind::Server as i32);
    assert_eq!(server::hex(&span.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(server::hex(&span.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(span.trace_state, "vendor=1");
    assert_eq!(span.status.as_ref().unwrap().code, SpanStatus::Ok as i32);
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    let expected = [
        ("client.address", "10.0.0.9"),
        ("client.port", "4711"),
        ("environment.NODE_NAME", "node-7"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.call.arguments", "apiKey=[REDACTED], query=x"),
        ("gen_ai.tool.name", "search"),
        ("http.request.body.size", "321"),
        ("http.request.method", "POST"),
        ("http.response.body.size", "12"),
        ("http.response.status_code", "200"),
        ("jsonrpc.protocol.version", "2.0"),
        ("jsonrpc.request.id", "7"),
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2025-06-18"),
        ("mcp.server.name", "github"),
        ("mcp.session.id", "s1"),
        ("network.protocol.name", "http"),
        ("network.protocol.version", "1.1"),
        ("network.transport", "tcp"),
        ("rpc.system.name", "jsonrpc"),
        ("server.address", "mcp.example.com:8443"),
        ("url.full", "https://mcp.example.com:8443/mcp?a=1"),
        ("url.path", "/mcp"),
        ("url.query", "a=1"),
        ("url.scheme", "https"),
        ("user_agent.original", "client/1"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(attributes(span), BTreeMap::from(expected));

    let traceparent = outbound["traceparent"].to_str().unwrap();
    assert_eq!(traceparent, format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", server::hex(&span.span_id)));
    assert_eq!(outbound["tracestate"], "vendor=1");
    assert_eq!(outbound["baggage"], "a=1");
}

#[tokio::test]
async fn the_older_attributes_come_along_when_asked_for() {
    let server = Server::start(None).await;
    let config = TelemetryConfig { use_legacy_attributes: true, ..traces(server.url(), "1") };
    one_span(&config, &HeaderMap::new(), StatusCode::BAD_GATEWAY, &Metrics::new("github", "sse")).await;
    let (_, spans) = server.only_traces();
    let span = &spans.resource_spans[0].scope_spans[0].spans[0];
    let attributes = attributes(span);
    for (name, value) in [
        ("error.type", "502"),
        ("http.duration_ms", "250"),
        ("http.host", "mcp.example.com:8443"),
        ("http.method", "POST"),
        ("http.query", "a=1"),
        ("http.request_content_length", "321"),
        ("http.response_content_length", "12"),
        ("http.scheme", "https"),
        ("http.status_code", "502"),
        ("http.target", "/mcp"),
        ("http.url", "https://mcp.example.com:8443/mcp?a=1"),
        ("mcp.method", "tools/call"),
        ("mcp.request.id", "7"),
        ("mcp.resource.id", "search"),
        ("mcp.tool.arguments", "apiKey=[REDACTED], query=x"),
        ("mcp.tool.name", "search"),
        ("mcp.transport", "streamable-http"),
        ("rpc.service", "mcp"),
        ("rpc.system", "jsonrpc"),
    ] {
        assert_eq!(attributes.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(span.status.as_ref().unwrap().code, SpanStatus::Error as i32);
}

#[tokio::test]
async fn what_is_not_sampled_is_passed_on_and_never_sent() {
    let server = Server::start(None).await;
    let metrics = Metrics::new("github", "sse");
    // The caller does not sample, so that our own rate does not count.
    let outbound = one_span(
        &traces(server.url(), "1"),
        &headers(&[("traceparent", UNSAMPLED)]),
        StatusCode::OK,
        &metrics,
    )
    .await;
    let traceparent = outbound["traceparent"].to_str().unwrap();
    assert!(traceparent.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && traceparent.ends_with("-00"));
    assert_ne!(traceparent, UNSAMPLED, "the backend's parent is this proxy");
    // Nobody samples.
    let outbound = one_span(&traces(server.url(), "0"), &HeaderMap::new(), StatusCode::OK, &metrics).await;
    assert!(outbound["traceparent"].to_str().unwrap().ends_with("-00"));
    assert!(!outbound.contains_key("tracestate"));
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn a_parent_in_the_message_wins_and_its_baggage_goes_along() {
    let server = Server::start(None).await;
    let metrics = Metrics::new("github", "sse");
    let telemetry = Telemetry::start(&traces(server.url(), "0"), &service(), &metrics).unwrap();
    let mut sent = headers(&[("traceparent", UNSAMPLED), ("tracestate", "old=1"), ("baggage", "old=1")]);
    let parent = PARENT.replace("4bf9", "aaaa");
    let carried = Carried { traceparent: Some(&parent), tracestate: None, baggage: Some("new=1") };
    let trace = telemetry.tracing().unwrap().begin(&sent, carried, Instant::now());
    assert!(trace.is_sampled());
    trace.inject(&mut sent);
    trace.end(&answered(StatusCode::NOT_FOUND));
    telemetry.stop(SOON).await;
    assert!(sent["traceparent"].to_str().unwrap().starts_with("00-aaaa2f35"));
    assert!(!sent.contains_key("tracestate"), "it belonged to the other parent");
    assert_eq!(sent["baggage"], "new=1");
    let (_, spans) = server.only_traces();
    let span = &spans.resource_spans[0].scope_spans[0].spans[0];
    assert_eq!(server::hex(&span.trace_id), "aaaa2f3577b34da6a3ce929d0e0e4736");
    assert_eq!(span.status.as_ref().map_or(0, |status| status.code), SpanStatus::Unset as i32);
}

#[tokio::test]
async fn spans_of_streams_and_of_unknown_bodies_have_names_of_their_own() {
    let server = Server::start(None).await;
    let telemetry =
        Telemetry::start(&traces(server.url(), "1"), &service(), &Metrics::new("github", "sse")).unwrap();
    let (uri, headers) = (Uri::from_static("/sse"), HeaderMap::new());
    for content in [Content::Stream, Content::Other] {
        let mut trace = telemetry.tracing().unwrap().begin(&headers, Carried::default(), Instant::now());
        trace.asked(&asked(&uri, &headers, content));
        // Dropped as when a client goes away.
        drop(trace);
    }
    telemetry.stop(SOON).await;
    let (_, spans) = server.only_traces();
    let names: Vec<&str> =
        spans.resource_spans[0].scope_spans[0].spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["sse.connection_established", "POST /sse"]);
}
