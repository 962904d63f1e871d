//! The way of a request through the server.

use std::io;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;

use super::answer::{self, Answer};
use super::message::{Error, Message};
use super::options::Transport;
use super::state::{Fault, Seen, State};
use super::{sse, streamable};

/// The largest request that is read.
const LIMIT: usize = 64 * 1024 * 1024;
/// Where probes look.
const HEALTH: &str = "/health";

/// A request that was read.
pub(super) struct Exchange {
    pub(super) state: Arc<State>,
    pub(super) head: Parts,
    /// Nothing if it is no POST.
    pub(super) message: Option<Result<Message, Error>>,
}

impl Exchange {
    /// The only value of a header, if it is a text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head.headers, name)
    }
}

pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// An error ends the connection with no answer.
pub(super) async fn handle(state: Arc<State>, request: Request<Incoming>) -> Result<Answer, io::Error> {
    let (head, body) = request.into_parts();
    if head.uri.path() == HEALTH {
        return Ok(answer::text(StatusCode::OK, "ok"));
    }
    #[expect(clippy::disallowed_methods, reason = "limited")]
    let body = match Limited::new(body, LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return Ok(answer::text(StatusCode::PAYLOAD_TOO_LARGE, "too large, or cut")),
    };
    let message = (head.method == Method::POST).then(|| Message::read(&body));
    let name = match &message {
        None => head.method.as_str(),
        Some(Ok(message)) => message.name(),
        Some(Err(_)) => "malformed",
    };
    state.receive(name, || Seen {
        verb: head.method.clone(),
        path: head.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        headers: head.headers.clone(),
        method: match &message {
            Some(Ok(Message::Request(_) | Message::Notification(_))) => Some(name.to_owned()),
            Some(Ok(Message::Response) | Err(_)) | None => None,
        },
        body: body.clone(),
    });
    let fault = state.strike(name);
    match fault {
        Some(Fault::CutBefore) => return Err(io::Error::other("cut by a test")),
        Some(Fault::Status(status)) => return Ok(answer::text(status, "refused by a test")),
        Some(Fault::CutWithin) | None => {}
    }
    let transport = state.options.transport;
    let exchange = Exchange { state, head, message };
    let answer = match transport {
        Transport::StreamableHttp => streamable::answer(exchange).await,
        Transport::Sse => sse::answer(exchange),
    };
    Ok(if fault == Some(Fault::CutWithin) { answer::cut(answer) } else { answer })
}
