//! Metrics as text, in the form that Prometheus reads.

use std::fmt::{self, Write};

use bytes::Bytes;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabel, EncodeLabelKey, EncodeLabelSet, LabelKeyEncoder, LabelSetEncoder,
    MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;

use super::table::{Kind, Row, TABLE};
use super::{Metrics, Numbers, Value};

/// The type of [`Metrics::exposition`]: `OpenMetrics`, which Prometheus has read since 2.5.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Metrics {
    /// All of them, as text of [`CONTENT_TYPE`].
    pub fn exposition(&self) -> Bytes {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        Bytes::from(text)
    }
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for row in &TABLE {
            let base = row.base();
            let unit = row.measure.prometheus();
            let metric = encoder.encode_descriptor(&base, row.help, unit.as_ref(), shape(row.kind))?;
            encode_row(self, row, metric)?;
        }
        Ok(())
    }
}

fn shape(kind: Kind) -> MetricType {
    match kind {
        Kind::Counter => MetricType::Counter,
        Kind::UpDown | Kind::Gauge => MetricType::Gauge,
        Kind::Histogram => MetricType::Histogram,
        Kind::Info => MetricType::Info,
    }
}

fn encode_row(numbers: &Numbers, row: &Row, mut metric: MetricEncoder<'_>) -> fmt::Result {
    let mut result = Ok(());
    numbers.each(row.metric, &mut |labels, value| {
        if result.is_ok() {
            result = encode_point(row.kind, &mut metric, Labels(labels), value);
        }
    });
    result
}

fn encode_point(kind: Kind, metric: &mut MetricEncoder<'_>, labels: Labels<'_>, value: Value) -> fmt::Result {
    if kind == Kind::Info {
        metric.encode_info(&labels)
    } else if labels.0.is_empty() {
        encode_value(kind, metric, value)
    } else {
        encode_value(kind, &mut metric.encode_family(&labels)?, value)
    }
}

fn encode_value(kind: Kind, point: &mut MetricEncoder<'_>, value: Value) -> fmt::Result {
    match (kind, value) {
        (Kind::Counter, Value::Whole(number)) => {
            point.encode_counter::<NoLabelSet, _, u64>(&u64::try_from(number).unwrap_or_default(), None)
        }
        (Kind::Counter, Value::Real(number)) => point.encode_counter::<NoLabelSet, _, f64>(&number, None),
        (_, Value::Whole(number)) => point.encode_gauge(&number),
        (_, Value::Real(number)) => point.encode_gauge(&number),
        (_, Value::Distribution(distribution)) => {
            let buckets: Vec<(f64, u64)> = distribution.buckets().collect();
            point.encode_histogram::<NoLabelSet>(distribution.sum, distribution.count(), &buckets, None)
        }
    }
}

/// Labels of one series.
struct Labels<'a>(&'a [(&'a str, &'a str)]);

impl EncodeLabelSet for Labels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| (Name(name), *value).encode(encoder.encode_label()))
    }
}

/// The name of a label. Prometheus knows letters, digits and underscores.
struct Name<'a>(&'a str);

impl EncodeLabelKey for Name<'_> {
    fn encode(&self, encoder: &mut LabelKeyEncoder) -> fmt::Result {
        legal(self.0).try_for_each(|character| encoder.write_char(character))
    }
}

/// A name as Prometheus has it.
pub(super) fn legal_name(name: &str) -> String {
    legal(name).collect()
}

fn legal(name: &str) -> impl Iterator<Item = char> {
    name.chars().enumerate().map(|(index, character)| {
        let fine = character.is_ascii_alphabetic() || (index > 0 && character.is_ascii_digit());
        if fine { character } else { '_' }
    })
}
