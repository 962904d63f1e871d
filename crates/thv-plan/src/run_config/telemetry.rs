//! Where traces and metrics go.

use thv_api::kinds::{MCPTelemetryConfigSpec, OpenTelemetry};
use thv_config::telemetry::TelemetryConfig;

use super::paths;
use crate::resolve::Telemetry;

/// Where traces and metrics go.
pub(crate) fn telemetry(telemetry: &Telemetry) -> TelemetryConfig {
    let Telemetry { config, service_name, namespace: _, ca_bundle } = telemetry;
    let MCPTelemetryConfigSpec { open_telemetry, prometheus } = &config.spec;
    let common = TelemetryConfig {
        service_name: service_name.clone(),
        enable_prometheus_metrics_path: prometheus.as_ref().is_some_and(|prometheus| prometheus.enabled),
        ..TelemetryConfig::default()
    };
    let Some(otel) = open_telemetry.as_ref().filter(|otel| otel.enabled) else { return common };
    let OpenTelemetry {
        enabled: _,
        endpoint,
        insecure,
        headers,
        // The pod has them in its environment.
        sensitive_headers: _,
        resource_attributes,
        metrics,
        tracing,
        use_legacy_attributes,
        // Resolved by itself.
        ca_bundle_ref: _,
    } = otel;
    TelemetryConfig {
        endpoint: endpoint.as_deref().map(without_scheme).unwrap_or_default(),
        tracing_enabled: tracing.as_ref().is_some_and(|tracing| tracing.enabled),
        metrics_enabled: metrics.as_ref().is_some_and(|metrics| metrics.enabled),
        sampling_rate: tracing.as_ref().map(|tracing| rate(&tracing.sampling_rate)).unwrap_or_default(),
        headers: headers.clone().unwrap_or_default().into(),
        insecure: *insecure,
        custom_attributes: resource_attributes.clone().unwrap_or_default(),
        use_legacy_attributes: *use_legacy_attributes,
        ca_cert_path: ca_bundle.as_ref().map(|bundle| paths::otel_ca(bundle).path()).unwrap_or_default(),
        ..common
    }
}

fn without_scheme(endpoint: &str) -> String {
    let bare = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
    bare.unwrap_or(endpoint).to_owned()
}

/// A share in its shortest form.
fn rate(text: &str) -> String {
    text.parse::<f64>().map(|rate| rate.clamp(0.0, 1.0).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_in_their_shortest_form() {
        for (text, short) in [("0.10", "0.1"), ("1.0", "1"), ("0", "0"), ("0.05", "0.05"), ("7", "1")] {
            assert_eq!(rate(text), short);
        }
    }

    #[test]
    fn endpoints_lose_their_scheme() {
        for text in ["https://c:4318", "http://c:4318", "c:4318"] {
            assert_eq!(without_scheme(text), "c:4318");
        }
    }
}
