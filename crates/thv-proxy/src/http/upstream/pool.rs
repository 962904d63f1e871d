//! Connections to one place.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::Builder;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::link::{Link, prepare};
use super::remote::Remote;
use super::tally::Tally;
use super::wire::{Alarm, Cut, Payload, Wire};

/// How much is read at once from a stream that stands open: it is mostly silent, and there are many of them. A head
/// that is longer does not fit.
const STANDING_READ: usize = 1 << 10;

/// Where a pool's connections go.
pub(super) enum Place {
    Pod(SocketAddr),
    Remote(Box<Remote>),
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Use {
    /// One answer, and then the next request.
    Exchange,
    /// A stream that stands open for as long as the client wants, with little memory: an answer with a long head is
    /// lost, and has to be asked for once more as an exchange.
    Standing,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a connection to come up.
    pub connect: Duration,
    /// How long a connection is kept for another request.
    pub idle: Duration,
}

/// Why there is no answer. It has no `Debug`: requests hold credentials.
pub(in crate::http) enum Failure {
    /// No connection could be made; the request is as it was.
    Unreachable(Box<Request<Payload>>),
    /// The connection was cut after the request had been sent.
    Lost,
}

struct Parked {
    wire: Box<Wire>,
    since: Instant,
}

/// The connections to one place, and what this replica has going on there.
pub(in crate::http) struct Pool {
    name: Arc<str>,
    place: Place,
    patience: Patience,
    idle: Mutex<Vec<Parked>>,
    /// Of every connection, in use or not, so that all can be ended.
    alarms: Mutex<Vec<Weak<Alarm>>>,
    /// How many answers are on their way.
    busy: AtomicUsize,
    /// Sessions that this replica started there.
    pub(in crate::http) sessions: Tally,
    ended: AtomicBool,
}

impl Pool {
    pub(super) fn new(name: Arc<str>, place: Place, patience: Patience, sessions: Tally) -> Arc<Self> {
        Arc::new(Self {
            name,
            place,
            patience,
            idle: Mutex::default(),
            alarms: Mutex::default(),
            busy: AtomicUsize::new(0),
            sessions,
            ended: AtomicBool::new(false),
        })
    }

    /// The instance: `thv_pod` of the sessions there. Empty for a remote server.
    pub(in crate::http) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    pub(super) fn remote(&self) -> Option<&Remote> {
        match &self.place {
            Place::Pod(_) => None,
            Place::Remote(remote) => Some(remote),
        }
    }

    /// Sends a request and waits for the head of the answer.
    pub(in crate::http) async fn send(
        self: &Arc<Self>,
        mut request: Box<Request<Payload>>,
        purpose: Use,
    ) -> Result<Response<Answer>, Failure> {
        let busy = Busy::at(self);
        if purpose == Use::Exchange {
            // Each turn takes one out of the pool, so that there is an end to it.
            while let Some(mut wire) = self.take() {
                match wire.send(request).await {
                    Ok(response) => return Ok(Answer::new(response, wire, busy)),
                    Err(Cut::Unsent(back)) => request = back,
                    Err(Cut::Sent) => return Err(Failure::Lost),
                }
            }
        }
        // In a box, since it is rare and large.
        let mut wire = match timeout(self.patience.connect, Box::pin(self.connect(purpose))).await {
            Ok(Ok(wire)) => wire,
            Ok(Err(error)) => {
                tracing::debug!(backend = %self.name, %error, "cannot connect");
                return Err(Failure::Unreachable(request));
            }
            Err(_) => {
                tracing::debug!(backend = %self.name, "connecting takes too long");
                return Err(Failure::Unreachable(request));
            }
        };
        match wire.send(request).await {
            Ok(response) => Ok(Answer::new(response, wire, busy)),
            Err(Cut::Unsent(request)) => Err(Failure::Unreachable(request)),
            Err(Cut::Sent) => Err(Failure::Lost),
        }
    }

    /// Nobody is there any more: everything under way fails now.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        drop(std::mem::take(&mut *held(&self.idle)));
        let alarms = std::mem::take(&mut *held(&self.alarms));
        for alarm in alarms.iter().filter_map(Weak::upgrade) {
            alarm.raise();
        }
    }

    /// Closes connections that have been idle for too long.
    pub(super) fn sweep(&self) {
        let Some(oldest) = Instant::now().checked_sub(self.patience.idle) else { return };
        held(&self.idle).retain(|parked| parked.since > oldest);
    }

    /// The connection that was used last. One that has been idle for long may be about to be closed by the
    /// backend, at the very moment at which a request is on its way.
    fn take(&self) -> Option<Box<Wire>> {
        let mut idle = held(&self.idle);
        let parked = idle.pop()?;
        if parked.since.elapsed() < self.patience.idle {
            return Some(parked.wire);
        }
        // Those below were used even earlier.
        let stale = std::mem::take(&mut *idle);
        drop(idle);
        drop((parked, stale));
        None
    }

    fn park(&self, wire: Box<Wire>) {
        if !self.ended.load(Ordering::Acquire) {
            held(&self.idle).push(Parked { wire, since: Instant::now() });
        }
    }

    async fn connect(&self, purpose: Use) -> io::Result<Box<Wire>> {
        let link = match &self.place {
            Place::Pod(address) => {
                let stream = TcpStream::connect(address).await?;
                prepare(&stream)?;
                Link::Plain(stream)
            }
            Place::Remote(remote) => remote.connect().await?,
        };
        let mut builder = Builder::new();
        if purpose == Use::Standing {
            builder.read_buf_exact_size(Some(STANDING_READ));
        }
        let alarm = self.alarm();
        Wire::over(link, &builder, alarm).await.map_err(io::Error::other)
    }

    fn alarm(&self) -> Arc<Alarm> {
        let alarm = Arc::new(Alarm::default());
        let mut alarms = held(&self.alarms);
        // Those of closed connections go when there is no room, and so there are never many of them.
        if alarms.len() == alarms.capacity() {
            alarms.retain(|alarm| alarm.strong_count() > 0);
        }
        alarms.push(Arc::downgrade(&alarm));
        if self.ended.load(Ordering::Acquire) {
            alarm.raise();
        }
        alarm
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic happens under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something is going on at a place.
struct Busy(Arc<Pool>);

impl Busy {
    fn at(pool: &Arc<Pool>) -> Self {
        pool.busy.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(pool))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The connection was cut before the answer was complete.
#[derive(Debug, thiserror::Error)]
#[error("the backend closed the connection before its answer was complete")]
pub(in crate::http) struct Broken;

/// The body of an answer, as it arrives. Dropping it before its end closes the connection.
pub(in crate::http) struct Answer {
    body: Incoming,
    /// Until it is back in the pool.
    wire: Option<Box<Wire>>,
    busy: Busy,
}

impl Answer {
    fn new(response: Response<Incoming>, wire: Box<Wire>, busy: Busy) -> Response<Self> {
        let (head, body): (response::Parts, _) = response.into_parts();
        let mut answer = Self { body, wire: Some(wire), busy };
        if answer.body.is_end_stream() {
            answer.settle(None);
        }
        Response::from_parts(head, answer)
    }

    /// The instance that answers.
    pub(in crate::http) fn pool(&self) -> &Arc<Pool> {
        &self.busy.0
    }

    /// The answer is complete: the connection is free for another request, if it says so.
    fn settle(&mut self, cx: Option<&mut Context<'_>>) {
        let Some(mut wire) = self.wire.take() else { return };
        if let (false, Some(cx)) = (wire.is_idle(), cx) {
            wire.drive(cx);
        }
        if wire.is_idle() {
            self.busy.0.park(wire);
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        // The body is filled by `drive` alone, which is called in between, and needs no waker of its own.
        let mut silent = Context::from_waker(Waker::noop());
        let mut polled = Pin::new(&mut this.body).poll_frame(&mut silent);
        if let (Poll::Pending, Some(wire)) = (&polled, &mut this.wire) {
            wire.drive(cx);
            polled = Pin::new(&mut this.body).poll_frame(&mut silent);
            if polled.is_pending() && wire.is_over() {
                this.wire = None;
                return Poll::Ready(Some(Err(Broken)));
            }
        }
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(frame))) => {
                if this.body.is_end_stream() {
                    this.settle(Some(cx));
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => {
                this.wire = None;
                Poll::Ready(Some(Err(Broken)))
            }
            Poll::Ready(None) => {
                this.settle(Some(cx));
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
