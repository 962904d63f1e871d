//! What is written down about a request when it is over.

use std::sync::Arc;
use std::time::Instant;

use http::{Method, Request, StatusCode, Version};
use thv_mcp::Message;
use thv_telemetry::{Active, Answered, Connection, Finished, Metrics, Trace};

/// A request that is counted, and traced perhaps. It is over when this is dropped, after the last byte of the answer.
pub(super) struct Ending {
    metrics: Arc<Metrics>,
    _open: Active,
    began: Instant,
    verb: Method,
    version: Version,
    /// Streams of the older transport are counted when they open.
    is_stream: bool,
    pub message: Option<Message>,
    pub trace: Option<Trace>,
    pub status: StatusCode,
    pub length: Option<u64>,
}

impl Ending {
    /// In a box: it goes along with the answer, and requests that are not counted need no room for it.
    pub(super) fn of<B>(request: &Request<B>, metrics: &Arc<Metrics>) -> Box<Self> {
        let is_stream = *request.method() == Method::GET && request.uri().path().ends_with("/sse");
        let kind = if is_stream { Connection::Stream } else { Connection::Request };
        Box::new(Self {
            metrics: Arc::clone(metrics),
            _open: metrics.request_started(kind),
            began: Instant::now(),
            verb: request.method().clone(),
            version: request.version(),
            is_stream,
            message: None,
            trace: None,
            status: StatusCode::INTERNAL_SERVER_ERROR,
            length: None,
        })
    }

    pub(super) const fn began(&self) -> Instant {
        self.began
    }

    pub(super) const fn is_stream(&self) -> bool {
        self.is_stream
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let duration = self.began.elapsed();
        let call = self.message.as_ref().and_then(Message::call);
        if !self.is_stream {
            self.metrics.finished(&Finished {
                verb: &self.verb,
                status: self.status,
                version: self.version,
                method: call.map(|call| call.method.as_str()),
                resource: call.map(|call| call.resource.label()),
                duration,
            });
        }
        if let Some(trace) = self.trace.take() {
            trace.end(&Answered { status: self.status, body: self.length, duration });
        }
    }
}
