//! Bodies of answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use thv_mcp::{Cause, Error, Id};

use super::ending::Ending;
use super::events::Events;
use super::inbound::Due;
use super::life::{Life, Phase};
use super::tenure::Tenure;
use super::upstream::{Answer, Broken};

/// The body of an answer to a client.
pub(super) struct Reply {
    content: Content,
    /// Until the last byte, the client waits for it.
    due: Option<Due>,
}

enum Content {
    Whole(Bytes),
    Stream(Box<Stream>),
}

/// What becomes of a client's stream when the backend's is lost.
pub(super) enum Loss {
    /// The client sees what we see: a connection that is cut.
    Cut,
    /// It ends. Whoever listens comes back.
    End,
    /// The client is told, in the stream itself.
    Tell(Id),
}

/// An answer of the backend on its way to the client.
pub(super) struct Stream {
    pub answer: Answer,
    /// Of the older transport.
    pub events: Option<Box<Events>>,
    pub tenure: Option<Tenure>,
    pub loss: Loss,
    /// In which phase of the process it has to end.
    pub until: Phase,
    pub life: Arc<Life>,
    pub ending: Option<Box<Ending>>,
    /// The last word has been said, and it was ours.
    pub over: bool,
}

impl Reply {
    pub(super) const fn whole(bytes: Bytes) -> Self {
        Self { content: Content::Whole(bytes), due: None }
    }

    pub(super) fn stream(stream: Stream) -> Self {
        Self { content: Content::Stream(Box::new(stream)), due: None }
    }

    /// The client waits until this is gone.
    pub(super) fn hold(&mut self, due: Due) {
        self.due = Some(due);
    }

    /// What is written down goes along with the answer, and is written when that has ended.
    pub(super) fn accompany(&mut self, ending: Box<Ending>) {
        match &mut self.content {
            Content::Whole(_) => drop(ending),
            Content::Stream(stream) => stream.ending = Some(ending),
        }
    }
}

impl Stream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if self.life.phase() >= self.until {
            return Poll::Ready(None);
        }
        let polled = match &mut self.events {
            None => Pin::new(&mut self.answer).poll_frame(cx),
            Some(events) => events.poll_frame(&mut self.answer, &mut self.tenure, cx),
        };
        match polled {
            Poll::Pending => {}
            Poll::Ready(Some(Err(broken))) => return Poll::Ready(self.lost(broken)),
            ready @ Poll::Ready(_) => return ready,
        }
        let is_gone = self.tenure.as_mut().is_some_and(|tenure| tenure.poll_gone(cx).is_ready());
        if is_gone { Poll::Ready(self.lost(Broken)) } else { Poll::Pending }
    }

    fn lost(&mut self, broken: Broken) -> Option<Result<Frame<Bytes>, Broken>> {
        match std::mem::replace(&mut self.loss, Loss::End) {
            Loss::Cut => Some(Err(broken)),
            Loss::End => None,
            Loss::Tell(id) => {
                self.over = true;
                Some(Ok(Frame::data(last_word(&id))))
            }
        }
    }
}

/// An event that answers the request. The empty lines before it end whatever event was cut.
fn last_word(id: &Id) -> Bytes {
    let error = Error::internal(Cause::BackendLost).body(Some(id));
    [b"\n\nevent: message\ndata: ", &*error, b"\n\n"].concat().into()
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match &mut self.get_mut().content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Stream(stream) if stream.over => Poll::Ready(None),
            Content::Stream(stream) => stream.poll_next(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_empty(),
            Content::Stream(stream) => stream.events.is_none() && stream.answer.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(stream) if stream.events.is_none() => stream.answer.size_hint(),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}
