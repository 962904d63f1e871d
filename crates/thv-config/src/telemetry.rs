//! Traces and metrics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::secret::Guarded;
use crate::value::{is_zero, port};

/// Traces and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TelemetryConfig {
    /// Collector, as `host:port` or URL.
    #[serde(skip_serializing_if = "is_zero")]
    pub endpoint: String,

    /// Name of the service.
    #[serde(skip_serializing_if = "is_zero")]
    pub service_name: String,

    /// Version of the service. That of the program when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub service_version: String,

    /// Whether traces are sent.
    pub tracing_enabled: bool,

    /// Whether metrics are sent.
    pub metrics_enabled: bool,

    /// Share of traces to send, as a decimal number from 0 to 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub sampling_rate: String,

    /// Headers of requests to the collector.
    #[serde(skip_serializing_if = "is_zero")]
    pub headers: Guarded<BTreeMap<String, String>>,

    /// Whether the collector is reached without TLS.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure: bool,

    /// Whether Prometheus can fetch metrics.
    #[serde(skip_serializing_if = "is_zero")]
    pub enable_prometheus_metrics_path: bool,

    /// Port for Prometheus. 9464 when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "port")]
    pub prometheus_port: u16,

    /// Whether Prometheus can fetch metrics from the port of the proxy too. Yes when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub metrics_on_transport_port: Option<bool>,

    /// Environment variables to add to spans.
    #[serde(skip_serializing_if = "is_zero")]
    pub environment_variables: Vec<String>,

    /// Attributes of the service.
    #[serde(skip_serializing_if = "is_zero")]
    pub custom_attributes: BTreeMap<String, String>,

    /// Whether spans have the older attributes too.
    pub use_legacy_attributes: bool,

    /// File with the certificate authorities to trust.
    #[serde(skip_serializing_if = "is_zero")]
    pub ca_cert_path: String,
}
