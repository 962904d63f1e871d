//! Bytes from and to a client.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::settings::Times;

/// Whether a client waits for an answer on a connection.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    due: AtomicUsize,
    /// How many requests there were so far.
    requests: AtomicUsize,
}

impl Traffic {
    /// The client waits, until what is returned is dropped.
    pub(super) fn answer_due(self: &Arc<Self>) -> Due {
        self.due.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        Due(Arc::clone(self))
    }

    fn is_answer_due(&self) -> bool {
        self.due.load(Ordering::Relaxed) > 0
    }
}

/// An answer that is due.
#[derive(Debug)]
pub(super) struct Due(Arc<Traffic>);

impl Drop for Due {
    fn drop(&mut self) {
        self.0.due.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a connection waits for from its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaiting {
    /// The first byte of a request, since then.
    Request(Instant),
    /// The rest of a head that began then, after so many requests.
    Head(Instant, usize),
    /// Nothing: it is our turn.
    Nothing,
}

/// A client's connection that does not wait for ever for a request.
///
/// hyper has a timeout for heads, but it begins when the connection becomes idle, so that a patient value for idle
/// connections would be a patient value for slow heads. Here the two are apart, and the timer is touched only when
/// it might be too late, not with every request.
pub(super) struct Inbound {
    stream: TcpStream,
    traffic: Arc<Traffic>,
    awaiting: Awaiting,
    /// For a head, and for a request.
    patience: (Duration, Duration),
    timer: Option<Pin<Box<Sleep>>>,
}

impl Inbound {
    pub(super) fn new(stream: TcpStream, traffic: Arc<Traffic>, times: &Times) -> Self {
        let patience = (times.head, times.idle);
        Self { stream, traffic, awaiting: Awaiting::Request(Instant::now()), patience, timer: None }
    }

    /// Whether a head has begun and not ended. hyper says nothing about it, but calls the service when it has ended.
    fn is_amid_head(&self) -> bool {
        matches!(self.awaiting, Awaiting::Head(_, before) if before == self.traffic.requests.load(Ordering::Relaxed))
    }

    /// Whether the client has taken too long. If not, the task is woken when it has.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if self.traffic.is_answer_due() {
            self.awaiting = Awaiting::Nothing;
            return false;
        }
        let (head, idle) = self.patience;
        let deadline = match self.awaiting {
            Awaiting::Head(since, _) if self.is_amid_head() => since + head,
            Awaiting::Request(since) => since + idle,
            Awaiting::Head(..) | Awaiting::Nothing => {
                let now = Instant::now();
                self.awaiting = Awaiting::Request(now);
                now + idle
            }
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // A timer that goes off too early is set again then.
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return true;
            }
            timer.as_mut().reset(deadline);
        }
        false
    }
}

impl AsyncRead for Inbound {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        match &polled {
            Poll::Ready(Ok(())) => {
                let begins = !this.is_amid_head() && !this.traffic.is_answer_due();
                if begins && buf.filled().len() > before {
                    let requests = this.traffic.requests.load(Ordering::Relaxed);
                    this.awaiting = Awaiting::Head(Instant::now(), requests);
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                if this.is_late(cx) {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
        }
        polled
    }
}

impl AsyncWrite for Inbound {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
