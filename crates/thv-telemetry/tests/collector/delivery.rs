//! How spans and metrics get to the collector, and what happens when they do not.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::{HeaderMap, Method, StatusCode, Version};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use thv_config::telemetry::TelemetryConfig;
use thv_telemetry::{Carried, Finished, Metrics, Service, Telemetry, TelemetryError};

use crate::server::{self, Authority, Server};
use crate::{SOON, one_span, service, traces};

#[tokio::test]
async fn tls_is_spoken_with_the_authority_of_the_file_and_with_no_other() {
    let ours = Authority::new();
    let server = Server::start(Some(&ours)).await;
    let metrics = Metrics::new("github", "sse");
    let config =
        TelemetryConfig { insecure: false, ca_cert_path: ours.path(), ..traces(server.authority(), "1") };
    one_span(&config, &HeaderMap::new(), StatusCode::OK, &metrics).await;
    assert_eq!(server.requests(), 1);

    let theirs = Authority::new();
    let config = TelemetryConfig { ca_cert_path: theirs.path(), ..config };
    let telemetry = Telemetry::start(&config, &service(), &metrics).unwrap();
    telemetry.tracing().unwrap().begin(&HeaderMap::new(), Carried::default(), Instant::now());
    telemetry.stop(SOON).await;
    assert_eq!(server.requests(), 1);
    let text = String::from_utf8(metrics.exposition().to_vec()).unwrap();
    assert!(text.contains("toolhive_proxy_spans_lost_total 1\n"), "{text}");
}

#[tokio::test]
async fn a_collector_that_asks_for_patience_gets_the_spans_again() {
    let server = Server::start(None).await;
    server.refuse(1);
    let metrics = Metrics::new("github", "sse");
    one_span(&traces(server.url(), "1"), &HeaderMap::new(), StatusCode::OK, &metrics).await;
    assert_eq!(server.requests(), 2);
    let text = String::from_utf8(metrics.exposition().to_vec()).unwrap();
    assert!(text.contains("toolhive_proxy_spans_lost_total 0\n"), "{text}");
}

#[tokio::test]
async fn stopping_does_not_wait_for_a_collector_that_never_answers() {
    // A listener that nobody accepts from: the kernel connects, and then nothing comes.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = traces(format!("http://{}", silent.local_addr().unwrap()), "1");
    let telemetry = Telemetry::start(&config, &service(), &Metrics::new("github", "sse")).unwrap();
    telemetry.tracing().unwrap().begin(&HeaderMap::new(), Carried::default(), Instant::now());
    let began = Instant::now();
    telemetry.stop(Duration::from_millis(200)).await;
    assert!(began.elapsed() < SOON);
}

/// Metrics, and no traces.
fn metrics_to(endpoint: String) -> TelemetryConfig {
    TelemetryConfig { endpoint, metrics_enabled: true, insecure: true, ..TelemetryConfig::default() }
}

#[tokio::test]
async fn metrics_are_pushed_from_the_same_numbers() {
    let server = Server::start(None).await;
    let config = metrics_to(server.url());
    let metrics = Metrics::new("github", "streamable-http");
    let telemetry = Telemetry::start(&config, &service(), &metrics).unwrap();
    assert!(telemetry.tracing().is_none());
    metrics.finished(&Finished {
        verb: &Method::POST,
        status: StatusCode::OK,
        version: Version::HTTP_11,
        method: Some("tools/call"),
        resource: Some("search"),
        duration: Duration::from_millis(125),
    });
    telemetry.stop(SOON).await;
    let (request, pushed) = server.only_metrics();
    assert_eq!(request.path, "/v1/metrics");
    let resource = server::texts(&pushed.resource_metrics[0].resource.as_ref().unwrap().attributes);
    assert_eq!(resource["service.name"], "thv-github");
    let all = &pushed.resource_metrics[0].scope_metrics[0].metrics;
    let data = |name: &str| {
        let metric = all.iter().find(|metric| metric.name == name).unwrap();
        (metric.unit.as_str(), metric.data.clone().unwrap())
    };
    let ("", metric::Data::Sum(requests)) = data("toolhive_mcp_requests") else { panic!("{all:?}") };
    assert!(requests.is_monotonic);
    assert_eq!(requests.data_points[0].value, Some(number_data_point::Value::AsInt(1)));
    let labels = server::texts(&requests.data_points[0].attributes);
    assert_eq!(labels["mcp_resource_id"], "search");
    let ("s", metric::Data::Histogram(durations)) = data("mcp.server.operation.duration") else {
        panic!("{all:?}")
    };
    let point = &durations.data_points[0];
    assert_eq!((point.count, point.bucket_counts.len(), point.explicit_bounds.len()), (1, 15, 14));
    assert_eq!(point.bucket_counts[4], 1);
    assert_eq!(server::texts(&point.attributes)["gen_ai.tool.name"], "search");
    assert!(matches!(data("toolhive_mcp_active_connections").1, metric::Data::Sum(sum) if !sum.is_monotonic));
    assert!(matches!(data("process_resident_memory"), ("By", metric::Data::Gauge(_))));
}

#[tokio::test]
async fn an_endpoint_that_nothing_is_sent_to_is_an_error_and_no_endpoint_is_nothing() {
    let metrics = Metrics::new("github", "sse");
    let start = |config: &TelemetryConfig| Telemetry::start(config, &service(), &metrics);
    let idle = TelemetryConfig { endpoint: "collector:4318".into(), ..TelemetryConfig::default() };
    assert!(matches!(start(&idle), Err(TelemetryError::NothingToSend)));
    let nowhere =
        TelemetryConfig { tracing_enabled: true, metrics_enabled: true, ..TelemetryConfig::default() };
    assert!(start(&nowhere).unwrap().tracing().is_none());
    assert!(matches!(start(&traces("a b".into(), "1")), Err(TelemetryError::Collector(_))));
    let text = String::from_utf8(metrics.exposition().to_vec()).unwrap();
    assert!(text.contains("service_name=\"thv-github\""), "{text}");
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named_and_its_value_is_not() {
    let config = TelemetryConfig {
        headers: BTreeMap::from([("authorization".to_owned(), "hunter2\n".to_owned())]).into(),
        ..traces("http://collector:4318".into(), "1")
    };
    let error = Telemetry::start(&config, &service(), &Metrics::new("github", "sse")).unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("authorization") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn metrics_are_pushed_again_and_again_over_one_connection() {
    let server = Server::start(None).await;
    let config = metrics_to(server.url());
    let often = |name: &str| (name == "OTEL_METRIC_EXPORT_INTERVAL").then(|| "20".to_owned());
    let service = Service { environment: &often, ..service() };
    let telemetry = Telemetry::start(&config, &service, &Metrics::new("github", "sse")).unwrap();
    server.wait_for(3).await;
    telemetry.stop(SOON).await;
    assert!(server.requests() >= 4, "the last one comes with the end");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn spans_that_there_is_no_room_for_are_counted_as_lost() {
    let server = Server::start(None).await;
    let metrics = Metrics::new("github", "sse");
    let telemetry = Telemetry::start(&traces(server.url(), "1"), &service(), &metrics).unwrap();
    let tracing = telemetry.tracing().unwrap();
    // Nothing is sent meanwhile, because this test does not wait for anything.
    for _ in 0..2_500 {
        tracing.begin(&HeaderMap::new(), Carried::default(), Instant::now());
    }
    telemetry.stop(SOON).await;
    assert_eq!(server.spans(), 2_048);
    let text = String::from_utf8(metrics.exposition().to_vec()).unwrap();
    assert!(text.contains("toolhive_proxy_spans_lost_total 452\n"), "{text}");
}
