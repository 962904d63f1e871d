//! Metrics on their way to the collector, from the same numbers that Prometheus fetches.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use prost::Message;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use crate::collector::Route;
use crate::metrics::table::{Kind, Row, TABLE};
use crate::metrics::{BOUNDS, Distribution, Numbers, Value};
use crate::trace::SCOPE;

const CUMULATIVE: i32 = AggregationTemporality::Cumulative as i32;

/// Sends metrics every now and then.
pub(crate) struct Pushing {
    pub(crate) route: Route,
    pub(crate) resource: ResourceAttributesWithSchema,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) period: Duration,
    /// When counting began.
    pub(crate) since: SystemTime,
}

impl Pushing {
    /// Sends until told to stop, and then once more.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        let mut ticks = interval(self.period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first one comes at once, when there is nothing to tell yet.
        ticks.tick().await;
        loop {
            let stopping = tokio::select! {
                biased;
                _ = &mut stop => true,
                _ = ticks.tick() => false,
            };
            let body = self.request(opentelemetry::time::now()).encode_to_vec();
            // Totals are sent, so that what was not taken is in the next one.
            self.route.send(body).await;
            if stopping {
                return;
            }
        }
    }

    fn request(&self, now: SystemTime) -> ExportMetricsServiceRequest {
        let moment = Moment { since: nanoseconds(self.since), now: nanoseconds(now) };
        let metrics = TABLE.iter().filter_map(|row| moment.metric(row, &self.numbers)).collect();
        let scope = InstrumentationScope {
            name: SCOPE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let resource = Resource { attributes: self.resource.attributes.0.clone(), ..Resource::default() };
        ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(resource),
                scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics, schema_url: String::new() }],
                schema_url: String::new(),
            }],
        }
    }
}

/// The time that numbers are about, in nanoseconds since 1970.
#[derive(Clone, Copy)]
struct Moment {
    since: u64,
    now: u64,
}

impl Moment {
    fn metric(self, row: &Row, numbers: &Numbers) -> Option<Metric> {
        let (mut points, mut distributions) = (Vec::new(), Vec::new());
        numbers.each(row.metric, &mut |labels, value| match value {
            Value::Whole(number) => points.push(self.point(labels, number_data_point::Value::AsInt(number))),
            Value::Real(number) => {
                points.push(self.point(labels, number_data_point::Value::AsDouble(number)));
            }
            Value::Distribution(distribution) => distributions.push(self.distribution(labels, &distribution)),
        });
        if points.is_empty() && distributions.is_empty() {
            return None;
        }
        let sum = |is_monotonic, data_points| {
            metric::Data::Sum(Sum { data_points, aggregation_temporality: CUMULATIVE, is_monotonic })
        };
        let data = match row.kind {
            Kind::Counter => sum(true, points),
            Kind::UpDown => sum(false, points),
            Kind::Gauge => metric::Data::Gauge(Gauge { data_points: points }),
            Kind::Histogram => metric::Data::Histogram(Histogram {
                data_points: distributions,
                aggregation_temporality: CUMULATIVE,
            }),
            // The resource says the same.
            Kind::Info => return None,
        };
        Some(Metric {
            name: row.name.to_owned(),
            description: row.help.to_owned(),
            unit: row.measure.opentelemetry().to_owned(),
            metadata: Vec::new(),
            data: Some(data),
        })
    }

    fn point(self, labels: &[(&str, &str)], value: number_data_point::Value) -> NumberDataPoint {
        NumberDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: self.since,
            time_unix_nano: self.now,
            value: Some(value),
            ..NumberDataPoint::default()
        }
    }

    fn distribution(self, labels: &[(&str, &str)], distribution: &Distribution) -> HistogramDataPoint {
        HistogramDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: self.since,
            time_unix_nano: self.now,
            count: distribution.count(),
            sum: Some(distribution.sum),
            bucket_counts: distribution.counts.to_vec(),
            explicit_bounds: BOUNDS.to_vec(),
            ..HistogramDataPoint::default()
        }
    }
}

fn attributes(labels: &[(&str, &str)]) -> Vec<KeyValue> {
    let text = |value: &str| AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    labels
        .iter()
        .map(|(key, value)| KeyValue {
            key: (*key).to_owned(),
            value: Some(text(value)),
            ..KeyValue::default()
        })
        .collect()
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
