//! The server whose proxy is looked at while it has nothing to do: sessions in Redis, metrics on, traces off.

use anyhow::Result;
use kube::Api;
use serde_json::{Value, json};
use tests_fixture::apply;
use thv_api::kinds::MCPTelemetryConfig;

pub(crate) const NAME: &str = "idle";

/// Its spec, after making what that refers to. The proxy listens on `port`.
pub(crate) async fn spec(
    telemetry: &Api<MCPTelemetryConfig>,
    image: &str,
    redis: &str,
    port: u16,
) -> Result<Value> {
    let metrics = json!({
        "apiVersion": MCPTelemetryConfig::api_version_text(), "kind": "MCPTelemetryConfig",
        "metadata": {"name": "metrics"}, "spec": {"prometheus": {"enabled": true}},
    });
    apply(telemetry, &metrics).await?;
    Ok(json!({
        "image": image, "args": ["--host", "0.0.0.0"],
        "transport": "streamable-http", "mcpPort": 8080, "proxyPort": port,
        "sessionStorage": {"provider": "redis", "address": redis},
        "telemetryConfigRef": {"name": "metrics"},
    }))
}
