//! One HTTP connection to a backend.
//!
//! Whoever uses a connection also drives it: there is no task behind it. A request therefore costs no change of
//! tasks, an idle stream costs no task, and dropping an answer closes its connection on the spot.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::task::AtomicWaker;
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;

use super::link::Link;

/// What goes to a backend: the bytes that the client sent, or none.
///
/// They are in a box because a connection has room for 32 requests, as long as it is open.
pub(in crate::http) struct Payload(Option<Box<Bytes>>);

impl Payload {
    pub(in crate::http) fn new(bytes: Bytes) -> Self {
        Self((!bytes.is_empty()).then(|| Box::new(bytes)))
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(*bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Tells a connection that nobody is at its other end any more. TCP may never say so.
#[derive(Default)]
pub(super) struct Alarm {
    raised: AtomicBool,
    waker: AtomicWaker,
}

impl Alarm {
    pub(super) fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// How a request came to nothing. It has no `Debug`: requests hold credentials.
pub(super) enum Cut {
    /// The connection was closed before any of it was written.
    Unsent(Box<Request<Payload>>),
    /// The backend may have seen it.
    Sent,
}

/// A connection.
pub(super) struct Wire {
    sender: SendRequest<Payload>,
    /// Gone as soon as there is no more use in driving it.
    connection: Option<Connection<TokioIo<Link>, Payload>>,
    alarm: Arc<Alarm>,
}

impl Wire {
    pub(super) async fn over(link: Link, builder: &Builder, alarm: Arc<Alarm>) -> hyper::Result<Box<Self>> {
        let (sender, connection) = builder.handshake(TokioIo::new(link)).await?;
        Ok(Box::new(Self { sender, connection: Some(connection), alarm }))
    }

    /// Lets the connection do its work. Afterwards it wakes the caller's task when there is more to do.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        self.alarm.waker.register(cx.waker());
        let Some(connection) = &mut self.connection else { return };
        if self.alarm.raised.load(Ordering::Acquire) || Pin::new(connection).poll(cx).is_ready() {
            self.connection = None;
        }
    }

    /// Whether another request may go over it.
    pub(super) fn is_idle(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }

    pub(super) const fn is_over(&self) -> bool {
        self.connection.is_none()
    }

    /// Sends a request, and waits for the head of the answer.
    pub(super) async fn send(&mut self, request: Box<Request<Payload>>) -> Result<Response<Incoming>, Cut> {
        // What this waits for can only come from `drive`, which is called first and in the same task. It needs no
        // waker, and must not be held up by tokio's budget, which would want to wake it. It has room for the request,
        // and is in a box because the future of whoever calls this would have room for it several times.
        let mut response = Box::pin(tokio::task::unconstrained(self.sender.try_send_request(*request)));
        let outcome = std::future::poll_fn(|cx| {
            self.drive(cx);
            let ready = response.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if ready.is_pending() && self.is_over() { Poll::Ready(None) } else { ready.map(Some) }
        });
        match outcome.await {
            Some(Ok(response)) => Ok(response),
            Some(Err(mut error)) => Err(match error.take_message() {
                Some(request) => Cut::Unsent(Box::new(request)),
                None => Cut::Sent,
            }),
            None => Err(Cut::Sent),
        }
    }
}
