//! What a configuration asks for, started and stopped together.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use thv_config::telemetry::TelemetryConfig;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::collector::{BadCollector, Collector};
use crate::metrics::Metrics;
use crate::push::Pushing;
use crate::service::Service;
use crate::trace::{Tracing, resource};

/// How often metrics are sent, unless `OTEL_METRIC_EXPORT_INTERVAL` says otherwise.
const PERIOD: Duration = Duration::from_mins(1);

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Nothing would ever be sent there.
    #[error(
        "telemetry has an endpoint, and both tracingEnabled and metricsEnabled are false: enable one or remove the endpoint"
    )]
    NothingToSend,
    /// The collector cannot be used.
    #[error("telemetry: {0}")]
    Collector(#[from] BadCollector),
}

/// Traces and metrics that are sent to a collector. Without an endpoint it is empty and costs nothing.
#[derive(Debug, Default)]
pub struct Telemetry {
    tracing: Option<Tracing>,
    senders: Vec<Sender>,
}

/// A task that sends, and how to stop it. When it is dropped the task sends what is left and ends.
#[derive(Debug)]
struct Sender {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Sender {
    fn start<F: Future<Output = ()> + Send + 'static>(run: impl FnOnce(oneshot::Receiver<()>) -> F) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop, task: tokio::spawn(run(stopped)) }
    }
}

impl Telemetry {
    /// Starts what is configured. The collector need not be there yet. Needs a runtime.
    ///
    /// Metrics are told what the service is in any case.
    pub fn start(
        config: &TelemetryConfig,
        service: &Service<'_>,
        metrics: &Metrics,
    ) -> Result<Self, TelemetryError> {
        let attributes = service.attributes(config);
        metrics.describe(attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if config.endpoint.is_empty() {
            return Ok(Self::default());
        }
        if !config.tracing_enabled && !config.metrics_enabled {
            return Err(TelemetryError::NothingToSend);
        }
        let collector = Collector::new(config)?;
        let mut telemetry = Self::default();
        if config.tracing_enabled {
            let route = collector.route("traces")?;
            let (tracing, sending) = Tracing::new(config, service, route, metrics.numbers());
            telemetry.tracing = Some(tracing);
            telemetry.senders.push(Sender::start(|stop| sending.run(stop)));
        }
        if config.metrics_enabled {
            let pushing = Pushing {
                route: collector.route("metrics")?,
                resource: ResourceAttributesWithSchema::from(&resource(attributes)),
                numbers: Arc::clone(metrics.numbers()),
                period: period(service),
                since: opentelemetry::time::now(),
            };
            telemetry.senders.push(Sender::start(|stop| pushing.run(stop)));
        }
        Ok(telemetry)
    }

    /// What makes spans, if traces are configured.
    pub fn tracing(&self) -> Option<Tracing> {
        self.tracing.clone()
    }

    /// Sends what is left, as far as that is possible within this time.
    pub async fn stop(self, within: Duration) {
        let (stops, tasks): (Vec<_>, Vec<_>) =
            self.senders.into_iter().map(|sender| (sender.stop, sender.task)).unzip();
        for stop in stops {
            // One that is gone has ended already.
            let _ = stop.send(());
        }
        let aborts: Vec<_> = tasks.iter().map(JoinHandle::abort_handle).collect();
        let all = async {
            for task in tasks {
                let _ = task.await;
            }
        };
        if timeout(within, all).await.is_err() {
            aborts.iter().for_each(tokio::task::AbortHandle::abort);
            tracing::warn!("telemetry is lost: the collector did not take the last of it in time");
        }
    }
}

fn period(service: &Service<'_>) -> Duration {
    let configured = (service.environment)("OTEL_METRIC_EXPORT_INTERVAL");
    let milliseconds = configured.and_then(|text| text.trim().parse().ok()).filter(|number| *number > 0);
    milliseconds.map_or(PERIOD, Duration::from_millis)
}
