//! How a virtual server is operated.

use super::super::duration::CanonicalDuration;
use super::super::operational::{CircuitBreaker, FailureHandling, Operational, Timeouts};
use super::super::problem::Report;
use super::super::search::{CodeMode, EmbeddingProvider, Optimizer};
use super::decimal;
use crate::audit::AuditConfig;
use crate::header;
use crate::telemetry::TelemetryConfig;
use crate::url::web_url_error;

/// How many headers an embedding service may be sent, and how long each may be.
const MAX_HEADERS: usize = 32;
const MAX_HEADER_VALUE: usize = 8_192;

const MAX_TOOLS_TO_RETURN: i64 = 50;

pub(super) fn check_operational(operational: &Operational, report: &mut Report) {
    let Operational { log_level: _, timeouts, failure_handling } = operational;
    let Timeouts { default, per_workload } = timeouts;
    let FailureHandling {
        health_check_interval,
        unhealthy_threshold,
        health_check_timeout,
        status_reporting_interval,
        partial_failure_mode: _,
        circuit_breaker,
    } = failure_handling;
    let CircuitBreaker { enabled: _, failure_threshold, timeout } = circuit_breaker;
    let failure = |key: &str| format!("operational.failureHandling.{key}");
    check_positive("operational.timeouts.default", *default, report);
    for (name, timeout) in per_workload {
        let path = format!("operational.timeouts.perWorkload.{}", name.escape_debug());
        check_positive(path, Some(*timeout), report);
    }
    check_positive(failure("healthCheckInterval"), *health_check_interval, report);
    check_positive(failure("statusReportingInterval"), *status_reporting_interval, report);
    check_count(failure("unhealthyThreshold"), *unhealthy_threshold, report);
    if let Some(timeout) = health_check_timeout {
        check_not_negative(failure("healthCheckTimeout"), Some(*timeout), report);
        report.unless(
            health_check_interval.is_none_or(|interval| *timeout < interval),
            failure("healthCheckTimeout"),
            "is not shorter than healthCheckInterval: shorten it",
        );
    }
    check_count(failure("circuitBreaker.failureThreshold"), *failure_threshold, report);
    report.unless(
        timeout.is_none_or(|timeout| timeout >= CanonicalDuration::from_secs(1)),
        failure("circuitBreaker.timeout"),
        "is shorter than 1s: lengthen it, or leave it out",
    );
}

pub(super) fn check_telemetry(telemetry: &TelemetryConfig, report: &mut Report) {
    let rate = &telemetry.sampling_rate;
    check_decimal("telemetry.samplingRate", rate, 1.0, "is not a number from 0 to 1: correct it", report);
}

pub(super) fn check_audit(audit: &AuditConfig, report: &mut Report) {
    check_count("audit.maxDataSize", audit.max_data_size, report);
    check_count("audit.maxDelegationDepth", audit.max_delegation_depth, report);
}

pub(super) fn check_optimizer(optimizer: &Optimizer, report: &mut Report) {
    let Optimizer {
        embedding_service,
        embedding_service_timeout,
        embedding_provider,
        embedding_model,
        embedding_headers,
        max_tools_to_return,
        hybrid_search_semantic_ratio,
        semantic_distance_threshold,
    } = optimizer;
    if let Some(error) = web_url_error(embedding_service, true).filter(|_| !embedding_service.is_empty()) {
        report.add("optimizer.embeddingService", error);
    }
    check_not_negative("optimizer.embeddingServiceTimeout", *embedding_service_timeout, report);
    let is_open_ai = *embedding_provider == Some(EmbeddingProvider::OpenAi);
    report.unless(
        !is_open_ai || !embedding_model.is_empty(),
        "optimizer.embeddingModel",
        "is empty, and embeddingProvider is openai: name the model",
    );
    let path = "optimizer.embeddingHeaders";
    report.unless(
        is_open_ai || embedding_headers.is_empty(),
        path,
        "is there, and embeddingProvider is not openai: remove it",
    );
    report.unless(embedding_headers.len() <= MAX_HEADERS, path, "has more than 32 headers: remove some");
    for (name, value) in embedding_headers.iter() {
        check_embedding_header(&format!("{path}.{}", name.escape_debug()), name, value, report);
    }
    report.unless(
        (0..=MAX_TOOLS_TO_RETURN).contains(max_tools_to_return),
        "optimizer.maxToolsToReturn",
        "is not between 1 and 50: change it, or leave it out",
    );
    check_decimal(
        "optimizer.hybridSearchSemanticRatio",
        hybrid_search_semantic_ratio,
        1.0,
        "is not a number from 0 to 1: correct it",
        report,
    );
    check_decimal(
        "optimizer.semanticDistanceThreshold",
        semantic_distance_threshold,
        2.0,
        "is not a number from 0 to 2: correct it",
        report,
    );
}

fn check_embedding_header(path: &str, name: &str, value: &str, report: &mut Report) {
    report.unless(header::is_name(name), path, "is not the name of a header: correct it");
    let is_ours = ["authorization", "content-type"].iter().any(|ours| ours.eq_ignore_ascii_case(name));
    report.unless(!is_ours, path, "is set for you: remove it");
    report.unless(
        header::is_value(value) && (1..=MAX_HEADER_VALUE).contains(&value.chars().count()),
        path,
        "has a value that is empty, too long or has control characters: correct it",
    );
}

pub(super) fn check_code_mode(code_mode: &CodeMode, report: &mut Report) {
    let CodeMode { enabled: _, step_limit, parallel_max_concurrency, tool_call_timeout } = code_mode;
    check_count("codeMode.stepLimit", *step_limit, report);
    check_count("codeMode.parallelMaxConcurrency", *parallel_max_concurrency, report);
    check_not_negative("codeMode.toolCallTimeout", *tool_call_timeout, report);
}

/// A number of things, where zero stands for the usual number.
fn check_count(path: impl Into<String>, count: i64, report: &mut Report) {
    report.unless(count >= 0, path, "is negative: give a number from 1, or leave it out");
}

fn check_positive(path: impl Into<String>, duration: Option<CanonicalDuration>, report: &mut Report) {
    report.unless(
        duration.is_none_or(|duration| duration.as_nanos() > 0),
        path,
        "is not longer than nothing: give a duration such as 30s",
    );
}

/// A duration, where nothing stands for the usual one.
fn check_not_negative(path: impl Into<String>, duration: Option<CanonicalDuration>, report: &mut Report) {
    report.unless(
        duration.is_none_or(|duration| duration.as_nanos() >= 0),
        path,
        "is negative: give a duration such as 30s, or leave it out",
    );
}

fn check_decimal(path: &str, text: &str, most: f64, message: &'static str, report: &mut Report) {
    let is_fine = text.is_empty() || decimal(text).is_some_and(|number| number <= most);
    report.unless(is_fine, path, message);
}
