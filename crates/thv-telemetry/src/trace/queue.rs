//! Spans on their way to the collector.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::collector::Route;
use crate::metrics::Numbers;

/// Spans that can wait.
const WAITING: usize = 2048;
/// Spans that are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others to be sent with.
const LINGER: Duration = Duration::from_secs(5);

/// The end of the queue that spans are put into.
#[derive(Debug)]
pub(super) struct Queue {
    spans: mpsc::Sender<SpanData>,
    numbers: Arc<Numbers>,
}

/// The other end.
pub(crate) struct Sending {
    spans: mpsc::Receiver<SpanData>,
    route: Route,
    resource: ResourceAttributesWithSchema,
    numbers: Arc<Numbers>,
}

/// Both ends.
pub(super) fn queue(
    route: Route,
    resource: ResourceAttributesWithSchema,
    numbers: &Arc<Numbers>,
) -> (Queue, Sending) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let queue = Queue { spans: sender, numbers: Arc::clone(numbers) };
    (queue, Sending { spans: receiver, route, resource, numbers: Arc::clone(numbers) })
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        // A request never waits for a collector.
        if self.spans.try_send(span).is_err() {
            lose(&self.numbers, 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

impl Sending {
    /// Sends spans until told to stop, and then those that are left.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        let mut batch = Vec::new();
        let mut stopping = false;
        while !stopping {
            stopping = tokio::select! {
                biased;
                _ = &mut stop => true,
                count = self.spans.recv_many(&mut batch, BATCH) => count == 0,
            };
            if !stopping {
                stopping = self.linger(&mut batch, &mut stop).await;
            }
            self.send(&mut batch).await;
        }
        self.spans.close();
        while self.spans.recv_many(&mut batch, BATCH).await > 0 {
            self.send(&mut batch).await;
        }
    }

    /// Waits until the batch is full or old. Returns whether it is time to stop.
    async fn linger(&mut self, batch: &mut Vec<SpanData>, stop: &mut oneshot::Receiver<()>) -> bool {
        let old = sleep(LINGER);
        tokio::pin!(old);
        while batch.len() < BATCH {
            let room = BATCH - batch.len();
            tokio::select! {
                biased;
                _ = &mut *stop => return true,
                () = &mut old => return false,
                count = self.spans.recv_many(batch, room) => if count == 0 {
                    return true;
                },
            }
        }
        false
    }

    async fn send(&mut self, batch: &mut Vec<SpanData>) {
        let batch = std::mem::take(batch);
        if batch.is_empty() {
            return;
        }
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        match self.route.send(body).await {
            None => lose(&self.numbers, count),
            Some(answer) => {
                let answer = ExportTraceServiceResponse::decode(answer).unwrap_or_default();
                let rejected = answer.partial_success.map_or(0, |partial| partial.rejected_spans);
                lose(&self.numbers, u64::try_from(rejected).unwrap_or_default().min(count));
            }
        }
    }
}

fn lose(numbers: &Numbers, count: u64) {
    numbers.standing.spans_lost.fetch_add(count, Ordering::Relaxed);
}
