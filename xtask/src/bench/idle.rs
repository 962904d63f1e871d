//! The server whose proxy is looked at while it has nothing to do: sessions in Redis, metrics on, traces off.

use anyhow::Result;
use kube::Api;
use serde_json::{Value, json};
use tests_fixture::{apply, mcp_server};
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
    let more = json!({
        "proxyPort": port, "telemetryConfigRef": {"name": "metrics"},
        "sessionStorage": {"provider": "redis", "address": redis},
    });
    Ok(mcp_server(image, &more))
}
