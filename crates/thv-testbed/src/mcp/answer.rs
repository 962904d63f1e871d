//! Answers and their bodies.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::mpsc;

use super::message::Error;
use super::state::State;

pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;
pub(super) type Answer = Response<Body>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// An answer with a body that is known to its end.
pub(super) fn whole(status: StatusCode, kind: HeaderValue, body: impl Into<Bytes>) -> Answer {
    let body = Full::new(body.into()).map_err(|never: Infallible| match never {});
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// An answer with a JSON document.
pub(super) fn json(status: StatusCode, document: &Value) -> Answer {
    whole(status, JSON, document.to_string())
}

/// An answer with nothing in it.
pub(super) fn empty(status: StatusCode) -> Answer {
    let mut answer =
        Response::new(Full::default().map_err(|never: Infallible| match never {}).boxed_unsync());
    *answer.status_mut() = status;
    answer
}

/// An answer for people.
pub(super) fn text(status: StatusCode, text: &'static str) -> Answer {
    whole(status, HeaderValue::from_static("text/plain"), text)
}

/// 405.
pub(super) fn not_allowed(allowed: &'static str) -> Answer {
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "not here");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// An error as an answer of its own.
pub(super) fn refusal(status: StatusCode, id: Option<&Value>, error: &Error) -> Answer {
    json(status, &error.document(id))
}

/// An answer whose events come as they are sent after the first, until all senders are gone.
pub(super) fn events(
    first: Option<Bytes>,
    mut events: mpsc::Receiver<Bytes>,
    guard: impl Send + 'static,
) -> Answer {
    let events = stream::poll_fn(move |context| events.poll_recv(context));
    let frames = stream::iter(first).chain(events).map(move |bytes| {
        // It goes when the stream goes.
        let _held = &guard;
        Ok(Frame::data(bytes))
    });
    let mut answer = Response::new(StreamBody::new(frames).boxed_unsync());
    answer.headers_mut().insert(CONTENT_TYPE, EVENTS);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// One event with a message.
pub(super) fn event(id: Option<u64>, message: &Value) -> Bytes {
    match id {
        Some(id) => format!("id: {id}\nevent: message\ndata: {message}\n\n").into(),
        None => format!("event: message\ndata: {message}\n\n").into(),
    }
}

/// The same answer, but the connection ends in the middle of it.
pub(super) fn cut(answer: Answer) -> Answer {
    let (mut head, body) = answer.into_parts();
    let length = http_body::Body::size_hint(&body).exact();
    if let Some(length) = length {
        // The client is to know that something is missing.
        head.headers.insert(CONTENT_LENGTH, length.into());
    }
    let half = body.into_data_stream().take(1).map(|part| {
        let part = part?;
        Ok(Frame::data(part.slice(..part.len() / 2)))
    });
    let end = stream::once(async {
        // What was sent before is to reach the client before the end does.
        tokio::task::yield_now().await;
        Err(io::Error::other("cut by a test"))
    });
    Response::from_parts(head, StreamBody::new(half.chain(end)).boxed_unsync())
}

/// Counts a stream for as long as it is open.
pub(super) struct Open(Arc<State>);

impl Open {
    pub(super) fn new(state: &Arc<State>) -> Self {
        state.count(|counts| counts.open_streams += 1);
        Self(state.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.count(|counts| counts.open_streams -= 1);
    }
}
