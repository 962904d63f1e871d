//! `MCPTelemetryConfig`: telemetry settings to share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::schema::cel;
use crate::shared::{CABundleSource, ConfigStatus, SecretKeyRef};

/// Telemetry settings that several servers share.
pub type MCPTelemetryConfig = Object<MCPTelemetryConfigSpec>;

impl Kind for MCPTelemetryConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPTelemetryConfig";
    const PLURAL: &'static str = "mcptelemetryconfigs";
    const SINGULAR: &'static str = "mcptelemetryconfig";
    const SHORT_NAMES: &'static [&'static str] = &["mcpotel"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Endpoint", "string", ".spec.openTelemetry.endpoint"),
        Column::VALID,
        Column::new("Tracing", "boolean", ".spec.openTelemetry.tracing.enabled"),
        Column::new("Metrics", "boolean", ".spec.openTelemetry.metrics.enabled"),
        Column::REFERENCED,
        Column::REFERRERS,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "Where traces and metrics go. Servers refer to it by \
         telemetryConfigRef.";
}

/// Where traces and metrics go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPTelemetryConfigSpec {
    /// Traces and metrics over OTLP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_telemetry: Option<OpenTelemetry>,

    /// Metrics for Prometheus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<PrometheusConfig>,
}

/// Traces and metrics over OTLP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!has(self.headers) || !has(self.sensitiveHeaders) || self.sensitiveHeaders.all(sh, !(sh.name \
         in self.headers))",
        "give each header once: either in headers or in sensitiveHeaders",
    ),
])))]
pub struct OpenTelemetry {
    /// Whether to send anything.
    #[serde(default)]
    pub enabled: bool,

    /// OTLP endpoint. With one, tracing or metrics must be enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,

    /// Whether to connect without TLS.
    #[serde(default)]
    pub insecure: bool,

    /// Headers to send along, with values that anyone may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,

    /// Headers to send along, with values from Secrets. A header cannot be in both lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sensitive_headers: Option<Vec<SensitiveHeader>>,

    /// Attributes to put on everything that is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<BTreeMap<String, String>>,

    /// Metrics over OTLP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<MetricsConfig>,

    /// Traces over OTLP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracing: Option<TracingConfig>,

    /// Whether to send attributes under their older names as well.
    #[serde(default = "default_use_legacy_attributes")]
    pub use_legacy_attributes: bool,

    /// Certificate authorities to trust when talking to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle_ref: Option<CABundleSource>,
}

/// A header with its value in a Secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SensitiveHeader {
    /// Name of the header.
    #[schemars(length(min = 1))]
    pub name: String,

    /// Where the value is.
    pub secret_key_ref: SecretKeyRef,
}

/// Metrics over OTLP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsConfig {
    /// Whether to send metrics.
    #[serde(default)]
    pub enabled: bool,
}

/// Traces over OTLP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TracingConfig {
    /// Whether to send traces.
    #[serde(default)]
    pub enabled: bool,

    /// Which part of the traces to send, from `0` to `1`.
    #[serde(default = "default_sampling_rate")]
    #[schemars(regex(pattern = r"^(0(\.\d+)?|1(\.0+)?)$"))]
    pub sampling_rate: String,
}

/// Metrics for Prometheus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusConfig {
    /// Whether to offer metrics under `/metrics`.
    #[serde(default)]
    pub enabled: bool,
}

fn default_use_legacy_attributes() -> bool {
    true
}

fn default_sampling_rate() -> String {
    "0.05".to_owned()
}
