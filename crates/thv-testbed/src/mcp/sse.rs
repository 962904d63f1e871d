//! The `sse` transport of 2024-11-05: answers come by the stream that a client has opened first.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, StatusCode};

use super::answer::{self, Answer, Open};
use super::message::{Error, Message, Request, SESSION_NOT_FOUND, document};
use super::methods::{self, Context};
use super::options::Endpoint;
use super::route::Exchange;
use super::session::Session;
use super::state::State;

/// Where the stream is.
pub(super) const STREAM: &str = "/sse";
/// Where messages go.
const MESSAGES: &str = "/messages";

pub(super) fn answer(exchange: Exchange) -> Answer {
    match (exchange.head.uri.path(), &exchange.head.method) {
        (STREAM, &Method::GET) => open(&exchange),
        (MESSAGES, &Method::POST) => post(exchange),
        (STREAM, _) => answer::not_allowed("GET"),
        (MESSAGES, _) => answer::not_allowed("POST"),
        _ => answer::text(StatusCode::NOT_FOUND, "nothing is here"),
    }
}

fn open(exchange: &Exchange) -> Answer {
    let state = &exchange.state;
    let session = state.make_session();
    let endpoint = format!("{MESSAGES}?{}={}", state.options.session_parameter, session.id());
    let endpoint = match state.options.endpoint {
        Endpoint::Path => endpoint,
        Endpoint::Absolute => {
            format!("http://{}{endpoint}", exchange.header(HOST.as_str()).unwrap_or_default())
        }
    };
    let first = Bytes::from(format!("event: endpoint\ndata: {endpoint}\n\n"));
    let guard = (Life { state: state.clone(), id: session.id().to_owned() }, Open::new(state));
    answer::events(Some(first), session.open(None), guard)
}

/// A session lives as long as its stream.
struct Life {
    state: Arc<State>,
    id: String,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.state.remove_session(&self.id);
    }
}

fn post(exchange: Exchange) -> Answer {
    let Exchange { state, head, message } = exchange;
    if !head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
        return answer::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
    }
    let wanted = format!("{}=", state.options.session_parameter);
    let id = head.uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix(&wanted));
    let Some(session) = id.and_then(|id| state.session(id)) else {
        let status = state.controls().lost;
        return answer::refusal(status, None, &Error::new(SESSION_NOT_FOUND, "Session not found"));
    };
    match message {
        Some(Ok(Message::Request(request))) => {
            let context =
                Context { state, session: Some(session.clone()), headers: head.headers, related: None };
            // The answer goes by the stream, so that nobody waits for it here.
            tokio::spawn(run(context, session, request));
        }
        Some(Ok(Message::Notification(method))) => {
            if method == "notifications/initialized" {
                session.initialized();
            }
        }
        Some(Ok(Message::Response)) | None => {}
        Some(Err(error)) => return answer::refusal(StatusCode::BAD_REQUEST, None, &error),
    }
    answer::text(StatusCode::ACCEPTED, "Accepted")
}

async fn run(context: Context, session: Arc<Session>, request: Request) {
    let Request { id, method, params } = request;
    let is_ready = session.is_ready() || !context.state.options.is_strict;
    let outcome = match method.as_str() {
        "initialize" => Ok(methods::initialize(&context.state, &params)),
        "ping" => methods::call(&context, &method, &params).await,
        _ if !is_ready => Err(Error::new(super::message::INVALID_REQUEST, "Server not initialized")),
        _ => methods::call(&context, &method, &params).await,
    };
    session.send(&document(&id, outcome));
}
