//! Traces: one span for every request that is sampled, and the trace passed on for every request.

mod attributes;
mod parent;
mod queue;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, HeaderValue};
use opentelemetry::trace::{
    Span as _, SpanContext, SpanKind, Status, TraceContextExt, TraceFlags, Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::TelemetryResourceDetector;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, Span};
use thv_config::telemetry::TelemetryConfig;

use self::attributes::Constant;
pub use self::attributes::{Answered, Asked, Content, Message};
pub use self::parent::Carried;
pub(crate) use self::queue::Sending;
use crate::collector::Route;
use crate::metrics::Numbers;
use crate::service::Service;

/// Makes spans. Cheap to clone.
#[derive(Clone)]
pub struct Tracing {
    tracer: SdkTracer,
    constant: Arc<Constant>,
}

impl fmt::Debug for Tracing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracing").finish_non_exhaustive()
    }
}

impl Tracing {
    /// What makes spans, and what sends them.
    pub(crate) fn new(
        config: &TelemetryConfig,
        service: &Service<'_>,
        route: Route,
        numbers: &Arc<Numbers>,
    ) -> (Self, Sending) {
        let resource = resource(service.attributes(config));
        let (queue, sending) = queue::queue(route, ResourceAttributesWithSchema::from(&resource), numbers);
        let ratio = Sampler::TraceIdRatioBased(sampling_rate(&config.sampling_rate));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(Sampler::ParentBased(Box::new(ratio)))
            .with_span_processor(queue)
            .build();
        let constant = Constant {
            server: service.server.to_owned(),
            transport: service.transport.to_owned(),
            legacy: config.use_legacy_attributes,
            environment: config
                .environment_variables
                .iter()
                .filter_map(|name| Some((name, (service.environment)(name)?)))
                .map(|(name, value)| KeyValue::new(format!("environment.{name}"), value))
                .collect(),
        };
        (Self { tracer: provider.tracer(SCOPE), constant: Arc::new(constant) }, sending)
    }

    /// The trace of a request that came in at `began`. Nothing is recorded unless it is sampled.
    pub fn begin(&self, headers: &HeaderMap, carried: Carried<'_>, began: Instant) -> Trace {
        let parent = match parent::parent(headers, carried) {
            Some(parent) => Context::new().with_remote_span_context(parent),
            None => Context::new(),
        };
        let now = opentelemetry::time::now();
        let builder = self
            .tracer
            .span_builder("request")
            .with_kind(SpanKind::Server)
            .with_start_time(now.checked_sub(began.elapsed()).unwrap_or(now));
        let span = self.tracer.build_with_context(builder, &parent);
        let standing = if span.is_recording() {
            Standing::Sampled(Box::new(span), Arc::clone(&self.constant))
        } else {
            Standing::Unsampled(span.span_context().clone())
        };
        Trace { standing, baggage: parent::baggage(carried) }
    }
}

/// What spans are made by.
pub(crate) const SCOPE: &str = "toolhive-rs";

enum Standing {
    Unsampled(SpanContext),
    Sampled(Box<Span>, Arc<Constant>),
}

/// The trace that a request belongs to. A span that is dropped ends without an answer.
pub struct Trace {
    standing: Standing,
    /// From the message. That of the headers is passed on with them.
    baggage: Option<HeaderValue>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("context", self.context()).finish_non_exhaustive()
    }
}

impl Trace {
    /// Whether it is recorded, and details are worth the effort.
    pub fn is_sampled(&self) -> bool {
        matches!(self.standing, Standing::Sampled(..))
    }

    /// Puts the trace into the headers of a request to the backend, in place of what is there.
    pub fn inject(&self, headers: &mut HeaderMap) {
        let context = self.context();
        if !context.is_valid() {
            return;
        }
        let flags = context.trace_flags() & TraceFlags::SAMPLED;
        let traceparent = format!("00-{}-{}-{flags:02x}", context.trace_id(), context.span_id());
        if let Ok(value) = HeaderValue::try_from(traceparent) {
            headers.insert(parent::TRACEPARENT, value);
        }
        headers.remove(parent::TRACESTATE);
        let state = context.trace_state().header();
        if let Some(value) = HeaderValue::try_from(state).ok().filter(|value| !value.is_empty()) {
            headers.insert(parent::TRACESTATE, value);
        }
        if let Some(baggage) = &self.baggage {
            headers.insert(parent::BAGGAGE, baggage.clone());
        }
    }

    /// Records what was asked.
    pub fn asked(&mut self, asked: &Asked<'_>) {
        if let Standing::Sampled(span, constant) = &mut self.standing {
            span.update_name(attributes::name(asked));
            span.set_attributes(attributes::of_request(asked, constant));
        }
    }

    /// Records what was answered, and ends the span.
    pub fn end(mut self, answered: &Answered) {
        if let Standing::Sampled(span, constant) = &mut self.standing {
            span.set_attributes(attributes::of_answer(answered, constant));
            let code = answered.status.as_u16();
            span.set_status(match code {
                500.. => Status::error(format!("HTTP {code}")),
                400.. => Status::Unset,
                _ => Status::Ok,
            });
            span.end();
        }
    }

    fn context(&self) -> &SpanContext {
        match &self.standing {
            Standing::Unsampled(context) => context,
            Standing::Sampled(span, _) => span.span_context(),
        }
    }
}

/// What the service is, and what this library is.
pub(crate) fn resource(attributes: BTreeMap<String, String>) -> Resource {
    Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(attributes.into_iter().map(|(name, value)| KeyValue::new(name, value)))
        .build()
}

/// A share from 0 to 1. What cannot be read is none.
fn sampling_rate(text: &str) -> f64 {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() => rate.clamp(0.0, 1.0),
        _ => {
            if !text.is_empty() {
                tracing::warn!(
                    "samplingRate is not a number: only requests whose callers sample them are traced"
                );
            }
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_share_samples_nothing() {
        for (text, expected) in [
            ("0.05", 0.05),
            (" 1 ", 1.0),
            ("7", 1.0),
            ("-1", 0.0),
            ("", 0.0),
            ("nonsense", 0.0),
            ("NaN", 0.0),
        ] {
            assert!((sampling_rate(text) - expected).abs() < f64::EPSILON, "{text}");
        }
    }
}
