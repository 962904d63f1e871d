//! How a virtual server is operated: timeouts, health, logs, audit, telemetry.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{PlainInt, cel};
use crate::value::{GoDuration, string_enum};

/// Timeouts, health checks and logs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operational {
    /// How much to log. The usual amount when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LogLevel>,

    /// How long calls to servers may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,

    /// How to find out that a server fails, and what to do then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_handling: Option<FailureHandling>,
}

string_enum! {
    /// How much to log.
    pub enum LogLevel {
        /// Everything.
        Debug = "debug",
    }
}

/// How long calls to servers may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// For all servers.
    #[serde(default = "default_default")]
    pub default: GoDuration,

    /// For single servers, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_workload: Option<BTreeMap<String, GoDuration>>,
}

/// How to find out that a server fails, and what to do then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureHandling {
    /// How often to check a server.
    #[serde(default = "default_health_check_interval")]
    pub health_check_interval: GoDuration,

    /// How long a check may take. Less than the interval.
    #[serde(default = "default_health_check_timeout")]
    pub health_check_timeout: GoDuration,

    /// How many checks in a row have to fail.
    #[serde(default = "default_unhealthy_threshold")]
    #[schemars(with = "PlainInt")]
    pub unhealthy_threshold: i64,

    /// How often to report the status.
    #[serde(default = "default_status_reporting_interval")]
    pub status_reporting_interval: GoDuration,

    /// What to do when only some servers answer.
    #[serde(default)]
    pub partial_failure_mode: PartialFailureMode,

    /// Stop calling a server that keeps failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_breaker: Option<CircuitBreaker>,
}

string_enum! {
    /// What to do when only some servers answer.
    pub enum PartialFailureMode {
        /// Fail.
        Fail = "fail",
        /// Go on with those that do.
        BestEffort = "best_effort",
    }
    default Fail
}

/// Stop calling a server that keeps failing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CircuitBreaker {
    /// Whether to do so.
    #[serde(default)]
    pub enabled: bool,

    /// After how many failures in a row.
    #[serde(default = "default_failure_threshold")]
    #[schemars(with = "PlainInt", range(min = 1))]
    pub failure_threshold: i64,

    /// How long to wait before trying again. At least 1s.
    #[serde(default = "default_timeout")]
    #[schemars(
        extend(
            "x-kubernetes-validations" = cel(&[
                ("self == '' || duration(self) >= duration('1s')", "the timeout must be 1s or longer"),
            ])
        )
    )]
    pub timeout: GoDuration,
}

/// Audit records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigAudit {
    /// Whether to write them.
    #[serde(default)]
    pub enabled: bool,

    /// Component to name in them. The name of the object when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,

    /// Kinds of events to record. All of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_types: Option<Vec<String>>,

    /// Kinds of events to leave out. Comes before `eventTypes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_event_types: Option<Vec<String>>,

    /// Whether to include requests.
    #[serde(default)]
    pub include_request_data: bool,

    /// Whether to include responses.
    #[serde(default)]
    pub include_response_data: bool,

    /// Whether to look into responses for errors of the tool itself.
    #[serde(default = "default_detect_application_errors")]
    pub detect_application_errors: bool,

    /// How many bytes of a request or response to include.
    #[serde(default = "default_max_data_size")]
    #[schemars(with = "PlainInt")]
    pub max_data_size: i64,

    /// How many links of a chain of delegations to include.
    #[serde(default = "default_max_delegation_depth")]
    #[schemars(with = "PlainInt", range(min = 1))]
    pub max_delegation_depth: i64,

    /// File to write to. Standard output when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<String>,
}

/// Where traces and metrics go, as the configuration file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigTelemetry {
    /// OTLP endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,

    /// Whether to connect without TLS.
    #[serde(default)]
    pub insecure: bool,

    /// Headers to send along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,

    /// File with certificate authorities to trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_cert_path: Option<String>,

    /// Service name to report under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,

    /// Service version to report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_version: Option<String>,

    /// Attributes to put on everything that is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<BTreeMap<String, String>>,

    /// Environment variables whose values to put on everything that is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_variables: Option<Vec<String>>,

    /// Whether to send traces.
    #[serde(default)]
    pub tracing_enabled: bool,

    /// Which part of the traces to send, from `0` to `1`.
    #[serde(default = "default_sampling_rate")]
    pub sampling_rate: String,

    /// Whether to send metrics.
    #[serde(default)]
    pub metrics_enabled: bool,

    /// Whether to offer metrics under `/metrics`.
    #[serde(default)]
    pub enable_prometheus_metrics_path: bool,

    /// Port to offer them at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>")]
    pub prometheus_port: Option<i64>,

    /// Whether to offer them at the port of the server as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics_on_transport_port: Option<bool>,

    /// Whether to send attributes under their older names as well.
    #[serde(default = "default_use_legacy_attributes")]
    pub use_legacy_attributes: bool,
}

fn default_default() -> GoDuration {
    GoDuration::literal("30s", 30)
}

fn default_health_check_interval() -> GoDuration {
    GoDuration::literal("30s", 30)
}

fn default_health_check_timeout() -> GoDuration {
    GoDuration::literal("10s", 10)
}

fn default_unhealthy_threshold() -> i64 {
    3
}

fn default_status_reporting_interval() -> GoDuration {
    GoDuration::literal("30s", 30)
}

fn default_failure_threshold() -> i64 {
    5
}

fn default_timeout() -> GoDuration {
    GoDuration::literal("60s", 60)
}

fn default_detect_application_errors() -> bool {
    true
}

fn default_max_data_size() -> i64 {
    1_024
}

fn default_max_delegation_depth() -> i64 {
    10
}

fn default_sampling_rate() -> String {
    "0.05".to_owned()
}

fn default_use_legacy_attributes() -> bool {
    true
}
