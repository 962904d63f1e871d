//! The stream of the older transport: its session begins and ends with it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::body::{Body, Frame};
use thv_mcp::sse::{Endpoint, EndpointRewriter};
use thv_session::{Created, Key, Kind, Metadata, Record, Unavailable};

use super::clock::now;
use super::identity::Identity;
use super::proxy::Proxy;
use super::tenure::Tenure;
use super::upstream::{Answer, Broken};

/// Reads a stream until the server has said where messages go; from then on the session exists.
pub(super) struct Events {
    proxy: Arc<Proxy>,
    who: Identity,
    /// Until the endpoint has been found, or cannot be any more.
    rewriter: Option<EndpointRewriter>,
    /// Ready to be sent, once the session is stored.
    ready: VecDeque<Bytes>,
    storing: Option<BoxFuture<'static, Result<Created, Unavailable>>>,
    /// Known, or being made known.
    session: Option<(Key, std::time::Instant)>,
    ended: bool,
}

impl Events {
    pub(super) fn new(proxy: Arc<Proxy>, who: Identity, rewriter: EndpointRewriter) -> Self {
        let (ready, storing) = (VecDeque::new(), None);
        Self { proxy, who, rewriter: Some(rewriter), ready, storing, session: None, ended: false }
    }

    pub(super) fn poll_frame(
        &mut self,
        answer: &mut Answer,
        tenure: &mut Option<Tenure>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            if let Some(storing) = &mut self.storing {
                let Poll::Ready(stored) = storing.as_mut().poll(cx) else { return Poll::Pending };
                self.storing = None;
                match (stored, self.session) {
                    (Ok(Created::Created(_)), Some((key, _))) => {
                        answer.pool().sessions.started();
                        *tenure = Some(Tenure::new(Arc::clone(&self.proxy.sessions), key));
                    }
                    (stored, _) => {
                        // What there is under that key is somebody else's, and stays.
                        if matches!(stored, Ok(Created::Exists)) {
                            self.session = None;
                        }
                        tracing::warn!("a stream was cut, because its session could not be stored");
                        return Poll::Ready(Some(Err(Broken)));
                    }
                }
            }
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let frame = match Pin::new(&mut *answer).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(broken))) => return Poll::Ready(Some(Err(broken))),
                Poll::Ready(None) => {
                    self.ended = true;
                    let rest = self.rewriter.take().map(EndpointRewriter::finish).unwrap_or_default();
                    self.put(rest);
                    continue;
                }
            };
            let Some(rewriter) = &mut self.rewriter else { return Poll::Ready(Some(Ok(frame))) };
            let Ok(piece) = frame.into_data() else { continue };
            let Ok(rewritten) = rewriter.feed(piece) else {
                tracing::warn!(
                    "a stream was cut, because the server told its client an endpoint that leads nowhere"
                );
                return Poll::Ready(Some(Err(Broken)));
            };
            self.put(rewritten.head);
            self.put(rewritten.tail);
            if let Some(endpoint) = rewritten.endpoint {
                self.rewriter = None;
                self.store(&endpoint, answer);
            }
        }
    }

    fn put(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.ready.push_back(piece);
        }
    }

    /// The session exists before the client can know of it.
    fn store(&mut self, endpoint: &Endpoint, answer: &Answer) {
        let key = Key::of(&endpoint.session);
        let pod = Some(answer.pool().name().to_string()).filter(|name| !name.is_empty());
        let metadata = Metadata {
            backend_url: Some(self.proxy.upstream.url()),
            owner: Some(*self.who.owner()),
            pod,
            ..Metadata::default()
        };
        let record = Record::new(key, Kind::Mcp, now(), metadata);
        let sessions = Arc::clone(&self.proxy.sessions);
        self.session = Some((key, std::time::Instant::now()));
        self.storing = Some(Box::pin(async move { sessions.create(record).await }));
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some((key, _)) = self.session {
            self.proxy.reaper.remove(key);
        }
    }
}
