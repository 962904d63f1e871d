//! What others get to see of the proxy: metrics to fetch, and metrics and traces that are sent.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use thv_config::middleware::{Middleware, TelemetryParameters};
use thv_config::telemetry::TelemetryConfig;
use thv_telemetry::{Metrics, Service, Telemetry};
use tokio::task::JoinHandle;

use super::diagnostics;
use super::start::Start;

/// For the last of the telemetry. Draining ends before the grace period of the pod by about that.
const LAST: Duration = Duration::from_secs(2);

/// What others get to see.
pub(super) struct Observing {
    /// The numbers.
    pub(super) metrics: Arc<Metrics>,
    /// What is sent.
    pub(super) telemetry: Telemetry,
    /// Whether metrics can be fetched where clients connect to.
    pub(super) on_transport_port: bool,
    diagnostics: Option<JoinHandle<()>>,
}

impl Observing {
    /// Starts what the configuration asks for.
    pub(super) async fn start(start: &Start) -> Result<Self> {
        let Start { config, middlewares, .. } = start;
        let asked_for = middlewares.iter().find_map(|middleware| match middleware {
            Middleware::Telemetry(parameters) => Some(parameters),
            _ => None,
        });
        let TelemetryParameters { config: telemetry, server_name, transport } =
            asked_for.cloned().unwrap_or_default();
        let server = if server_name.is_empty() { &config.name } else { &server_name };
        let transport = transport.unwrap_or(config.transport);
        let metrics = Arc::new(Metrics::new(server, transport.as_str()));
        let Some(telemetry) = telemetry else {
            return Ok(Self {
                metrics,
                telemetry: Telemetry::default(),
                on_transport_port: false,
                diagnostics: None,
            });
        };
        let environment = |name: &str| std::env::var(name).ok();
        let version = env!("CARGO_PKG_VERSION");
        let service = Service { server, transport: transport.as_str(), version, environment: &environment };
        let sent = Telemetry::start(&telemetry, &service, &metrics)?;
        let TelemetryConfig {
            enable_prometheus_metrics_path: fetched,
            prometheus_port,
            metrics_on_transport_port,
            ..
        } = telemetry;
        let diagnostics =
            if fetched { Some(diagnostics(&config.host, prometheus_port, &metrics).await?) } else { None };
        let on_transport_port = fetched && metrics_on_transport_port.unwrap_or(true);
        Ok(Self { metrics, telemetry: sent, on_transport_port, diagnostics })
    }

    /// Sends what is left.
    pub(super) async fn stop(self) {
        self.telemetry.stop(LAST).await;
        if let Some(diagnostics) = self.diagnostics {
            diagnostics.abort();
        }
    }
}

async fn diagnostics(host: &str, port: u16, metrics: &Arc<Metrics>) -> Result<JoinHandle<()>> {
    let listener =
        diagnostics::listen(host, port).await.context("cannot listen for those who fetch metrics")?;
    let metrics = Arc::clone(metrics);
    Ok(tokio::spawn(async move {
        diagnostics::serve(listener, metrics).await;
    }))
}
