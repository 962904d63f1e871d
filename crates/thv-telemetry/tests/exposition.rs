//! What Prometheus gets to see.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail that way")]

use std::time::Duration;

use http::{Method, StatusCode, Version};
use thv_telemetry::metrics::CONTENT_TYPE;
use thv_telemetry::metrics::table::TABLE;
use thv_telemetry::{Connection, Fence, Finished, Gauge, Metrics, Replay};

const GOLDEN: &str = include_str!("golden/exposition.txt");

fn call<'a>(method: Option<&'a str>, resource: Option<&'a str>, status: u16) -> Finished<'a> {
    Finished {
        verb: &Method::POST,
        status: StatusCode::from_u16(status).unwrap(),
        version: Version::HTTP_11,
        method,
        resource,
        duration: Duration::from_millis(125),
    }
}

fn text(metrics: &Metrics) -> String {
    String::from_utf8(metrics.exposition().to_vec()).unwrap()
}

/// Lines with a label of that value.
fn lines_with<'a>(text: &'a str, metric: &str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(metric) && line.contains(part)).collect()
}

/// Every line but the numbers of the process, which differ from run to run.
fn stable(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("process_")).collect()
}

#[test]
fn everything_is_exposed_under_the_names_and_labels_of_the_reference() {
    let metrics = Metrics::new("github", "streamable-http");
    metrics.describe([("service.name", "thv-github"), ("service_name", "twice"), ("1st", "\"quoted\"\n")]);
    metrics.finished(&call(Some("tools/call"), Some("search"), 200));
    metrics.finished(&call(Some("tools/call"), Some("search"), 200));
    metrics.finished(&call(Some("prompts/get"), Some("review"), 502));
    metrics.finished(&call(None, None, 400));
    let _active = metrics.request_started(Connection::Request);
    metrics.observe(Gauge::Sessions, || 3);
    metrics.observe(Gauge::BackendInstancesReady, || 2);
    metrics.observe(Gauge::SessionStoreAvailable, || 1);
    metrics.observe(Gauge::RequestBodyBytes, || 4096);
    metrics.observe_fence(|| Fence::Superseded);
    metrics.observe(Gauge::RefusedWrites, || 1);
    metrics.replayed(Replay::Overtaken);
    let text = stable(&text(&metrics));
    assert_eq!(text, GOLDEN, "\n{text}");
}

#[test]
fn every_metric_of_the_table_is_described_and_the_text_ends_as_openmetrics_wants() {
    let text = text(&Metrics::new("github", "stdio"));
    for row in TABLE {
        let name = row.prometheus();
        let family = name.strip_suffix("_total").or(name.strip_suffix("_info")).unwrap_or(&name);
        assert!(text.contains(&format!("# TYPE {family} ")), "{family}");
    }
    assert!(text.ends_with("# EOF\n"));
    assert!(text.contains("\nprocess_open_fds "), "{text}");
    assert_eq!(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

#[test]
fn a_stream_counts_when_it_opens_and_is_active_until_it_is_dropped() {
    let metrics = Metrics::new("github", "sse");
    let streams = |text: &str| {
        lines_with(text, "toolhive_mcp_active_connections", "connection_type=\"sse\"")[0].to_owned()
    };
    let active = metrics.request_started(Connection::Stream);
    let open = text(&metrics);
    assert!(streams(&open).ends_with(" 1"), "{open}");
    let counted = lines_with(&open, "toolhive_mcp_requests_total", "mcp_method=\"sse_connection\"");
    assert!(counted.len() == 1 && counted[0].contains("status_code=\"200\"") && counted[0].ends_with(" 1"));
    drop(active);
    assert!(streams(&text(&metrics)).ends_with(" 0"));
}

#[test]
fn stdio_is_a_pipe_and_a_made_up_verb_is_other() {
    let metrics = Metrics::new("github", "stdio");
    let verb = Method::from_bytes(b"BREW").unwrap();
    metrics.finished(&Finished { verb: &verb, ..call(Some("ping"), Some("ping"), 200) });
    let text = text(&metrics);
    assert_eq!(
        lines_with(&text, "mcp_server_operation_duration_seconds_count", "network_transport=\"pipe\"").len(),
        1
    );
    assert_eq!(lines_with(&text, "toolhive_mcp_requests_total", "method=\"_OTHER\"").len(), 1);
}

#[test]
fn cursors_and_ids_are_left_out() {
    let metrics = Metrics::new("github", "sse");
    for method in ["tools/list", "tasks/get", "notifications/progress", "notifications/cancelled", "made/up"]
    {
        metrics.finished(&call(Some(method), Some("abc123"), 200));
    }
    let text = text(&metrics);
    assert!(!text.contains("abc123"), "{text}");
    assert_eq!(lines_with(&text, "toolhive_mcp_requests_total", "mcp_resource_id=\"\"").len(), 5);
}

#[test]
fn the_thousand_and_first_resource_is_other() {
    let metrics = Metrics::new("github", "sse");
    for number in 0..1_500 {
        metrics.finished(&call(Some("resources/read"), Some(&format!("file:///{number}")), 200));
    }
    let text = text(&metrics);
    let all = lines_with(&text, "toolhive_mcp_requests_total", "resources/read");
    assert_eq!(all.len(), 1_001);
    let other = lines_with(&text, "toolhive_mcp_requests_total", "mcp_resource_id=\"other\"");
    assert!(other.len() == 1 && other[0].ends_with(" 500"), "{other:?}");
}

#[test]
fn a_client_cannot_make_up_methods_without_end() {
    let metrics = Metrics::new("github", "sse");
    for number in 0..1_000 {
        metrics.finished(&call(Some(&format!("made/up/{number}")), None, 404));
    }
    let text = text(&metrics);
    assert_eq!(lines_with(&text, "toolhive_mcp_requests_total", "").len(), 101);
    assert!(lines_with(&text, "toolhive_mcp_requests_total", "mcp_method=\"other\"")[0].ends_with(" 900"));
}

#[test]
fn a_long_name_is_cut_and_a_nasty_one_stays_inside_its_quotes() {
    let metrics = Metrics::new("github", "sse");
    metrics.finished(&call(Some("tools/call"), Some(&"ü".repeat(100)), 200));
    metrics.finished(&call(Some("tools/call"), Some("a\"} 1\nevil_total 7\\"), 200));
    let text = text(&metrics);
    let cut = format!("tool=\"{}...\"", "ü".repeat(62));
    assert_eq!(lines_with(&text, "toolhive_mcp_tool_calls_total", &cut).len(), 1, "{text}");
    assert!(lines_with(&text, "evil", "").is_empty());
    assert!(text.contains(r#"tool="a\"} 1\nevil_total 7\\""#), "{text}");
}

#[test]
fn a_request_like_an_earlier_one_allocates_nothing() {
    let metrics = Metrics::new("github", "sse");
    let long = "x".repeat(300);
    for number in 0..1_000 {
        metrics.finished(&call(Some("tools/call"), Some(&format!("tool{number}")), 200));
    }
    // One that is known, one that has to be cut, one that there is no room for.
    let requests = [
        call(Some("tools/call"), Some("tool7"), 200),
        call(Some(&long), None, 404),
        call(Some("tools/call"), Some("one too many"), 200),
        call(None, None, 400),
    ];
    let count = || {
        for request in &requests {
            let _active = metrics.request_started(Connection::Request);
            metrics.finished(request);
        }
    };
    count();
    let used = allocation_counter::measure(count);
    assert_eq!(used.count_total, 0, "{used:?}");
}

#[test]
fn requests_from_many_threads_are_all_counted() {
    let metrics = Metrics::new("github", "sse");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let metrics = &metrics;
            scope.spawn(move || {
                for number in 0..2_000 {
                    metrics.finished(&call(
                        Some("tools/call"),
                        Some(&format!("{}", (number + thread) % 1_200)),
                        200,
                    ));
                }
            });
        }
    });
    let text = text(&metrics);
    let sum = |metric| -> u64 {
        lines_with(&text, metric, "")
            .iter()
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    };
    assert_eq!(sum("toolhive_mcp_requests_total"), 16_000);
    assert_eq!(sum("toolhive_mcp_request_duration_seconds_count"), 16_000);
    assert_eq!(sum("mcp_server_operation_duration_seconds_count"), 16_000);
    assert_eq!(sum("toolhive_mcp_tool_calls_total"), 16_000);
}
