//! Answers of the backend, made ready for the client.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, header};
use hyper::body::Body;
use thv_mcp::headers::{Media, SESSION_ID};
use thv_mcp::{Id, Message};
use thv_session::Key;

use crate::http::events::Events;
use crate::http::life::Phase;
use crate::http::outbound::{is_of_a_connection, strip};
use crate::http::policy::Permit;
use crate::http::proxy::Proxy;
use crate::http::reply::{Loss, Reply, Stream};
use crate::http::tenure::Tenure;
use crate::http::upstream::Answer;

/// What is known about a request when its answer comes.
pub(super) struct Delivery<'a> {
    method: &'a Method,
    id: Option<&'a Id>,
    /// Nobody expects the answer to end.
    is_standing: bool,
    /// What the client calls the session. Whatever else the backend calls it is between it and us.
    pub shown: Option<HeaderValue>,
    pub session: Option<Key>,
    pub events: Option<Box<Events>>,
}

impl<'a> Delivery<'a> {
    /// Outside of any session.
    pub(super) fn plain(permit: &'a Permit) -> Self {
        let method = &permit.head.method;
        let id = permit.message.as_ref().and_then(Message::id);
        let call = permit.message.as_ref().and_then(Message::call);
        let listens = call.is_some_and(|call| call.method == thv_mcp::Method::SubscriptionsListen);
        let is_standing = listens || *method == Method::GET;
        Self { method, id, is_standing, shown: None, session: None, events: None }
    }

    /// In a session.
    pub(super) fn of_session(permit: &'a Permit, key: Key, shown: HeaderValue) -> Self {
        Self { shown: Some(shown), session: Some(key), ..Self::plain(permit) }
    }

    pub(super) fn deliver(self, proxy: &Proxy, response: Response<Answer>) -> Response<Reply> {
        let (mut head, answer) = response.into_parts();
        strip(&mut head.headers, is_of_a_connection);
        match self.shown {
            Some(shown) if head.headers.contains_key(SESSION_ID) => {
                head.headers.insert(SESSION_ID, shown);
            }
            _ => {
                head.headers.remove(SESSION_ID);
            }
        }
        if answer.is_end_stream() {
            return Response::from_parts(head, Reply::whole(Bytes::new()));
        }
        let is_stream = Media::of(&head.headers) == Media::EventStream;
        let is_plain = !head.headers.contains_key(header::CONTENT_ENCODING);
        let loss = match (is_stream, self.method, self.id) {
            (true, &Method::GET, _) => Loss::End,
            (true, _, Some(id)) if is_plain => Loss::Tell(id.clone()),
            _ => Loss::Cut,
        };
        let until = match (&self.events, is_stream && self.is_standing) {
            (Some(_), _) => Phase::Ending,
            (None, true) => Phase::Closing,
            (None, false) => Phase::Over,
        };
        if self.events.is_some() {
            head.headers.remove(header::CONTENT_LENGTH);
        }
        let tenure = self.session.map(|key| Tenure::new(Arc::clone(&proxy.sessions), key));
        let life = Arc::clone(&proxy.life);
        let stream =
            Stream { answer, events: self.events, tenure, loss, until, life, ending: None, over: false };
        Response::from_parts(head, Reply::stream(stream))
    }
}
