//! The streamable-http transport, and its Legacy era.

use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answer::{self, Answer, Open, event};
use super::message::{
    Error, INVALID_REQUEST, Message, Request, SERVER_ERROR, SESSION_NOT_FOUND, UNSUPPORTED_VERSION, document,
};
use super::methods::{self, Context, LEGACY};
use super::modern;
use super::options::{Answers, Eras};
use super::route::{Exchange, header};
use super::session::Session;
use super::state::State;

const SESSION: &str = "mcp-session-id";
pub(super) const VERSION: &str = "mcp-protocol-version";

const VERBS: &str = "GET, POST, DELETE";

/// How many events of an answer may wait for the client.
const AHEAD: usize = 16;

pub(super) async fn answer(exchange: Exchange) -> Answer {
    if exchange.head.uri.path() != exchange.state.options.path {
        return answer::text(StatusCode::NOT_FOUND, "nothing is here");
    }
    let (eras, is_modern) = (exchange.state.options.eras, modern::is_meant(&exchange));
    match (eras, is_modern) {
        (Eras::Both | Eras::Modern, true) => modern::answer(exchange).await,
        (Eras::Both | Eras::Legacy, false) => legacy(exchange).await,
        (Eras::Legacy, true) => unsupported(&exchange, &too_new()),
        (Eras::Modern, false) => unsupported(&exchange, &too_old()),
    }
}

fn unsupported(exchange: &Exchange, error: &Error) -> Answer {
    let id = match &exchange.message {
        Some(Ok(Message::Request(request))) => Some(&request.id),
        _ => None,
    };
    answer::refusal(StatusCode::BAD_REQUEST, id, error)
}

/// How servers refuse a version that were written before it.
fn too_new() -> Error {
    Error::new(SERVER_ERROR, "Bad Request: Unsupported protocol version")
}

fn too_old() -> Error {
    let supported = json!({"supported": [modern::VERSION]});
    Error::new(UNSUPPORTED_VERSION, "this version is not spoken here").with(supported)
}

async fn legacy(exchange: Exchange) -> Answer {
    if let Some(version) = exchange.header(VERSION)
        && !LEGACY.contains(&version)
    {
        return unsupported(&exchange, &too_new());
    }
    match exchange.head.method {
        Method::GET => listen(&exchange),
        Method::DELETE => delete(&exchange),
        Method::POST => post(exchange).await,
        _ => answer::not_allowed(VERBS),
    }
}

/// Why a POST is refused that does not say what it has, or does not take what it may get.
pub(super) fn unacceptable(headers: &HeaderMap) -> Option<Answer> {
    if !header(headers, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("application/json")) {
        return Some(answer::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }
    let accepted: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let takes = |kind: &str| accepted.iter().any(|value| value.contains(kind) || value.contains("*/*"));
    if takes("application/json") && takes("text/event-stream") {
        return None;
    }
    Some(answer::text(StatusCode::NOT_ACCEPTABLE, "accept application/json and text/event-stream"))
}

/// What is known of the session of a request.
enum Lookup {
    /// It is there, or there are none.
    Found(Option<Arc<Session>>),
    /// The request names none.
    Missing,
    /// It is not known here.
    Lost,
}

fn find(state: &State, headers: &HeaderMap) -> Lookup {
    if !state.options.has_sessions {
        return Lookup::Found(None);
    }
    match header(headers, SESSION) {
        None => Lookup::Missing,
        Some(id) => state.session(id).map_or(Lookup::Lost, |session| Lookup::Found(Some(session))),
    }
}

/// What a request gets whose session was not found.
fn lost(state: &State, lookup: &Lookup, id: Option<&Value>) -> Option<Answer> {
    match lookup {
        Lookup::Found(_) => None,
        Lookup::Missing => {
            let error = Error::new(INVALID_REQUEST, "Bad Request: Mcp-Session-Id header is required");
            Some(answer::refusal(StatusCode::BAD_REQUEST, id, &error))
        }
        Lookup::Lost => {
            let status = state.controls().lost;
            Some(answer::refusal(status, id, &Error::new(SESSION_NOT_FOUND, "Session not found")))
        }
    }
}

async fn post(exchange: Exchange) -> Answer {
    let Exchange { state, head, message } = exchange;
    if let Some(refused) = unacceptable(&head.headers) {
        return refused;
    }
    let message = match message {
        Some(Ok(message)) => message,
        Some(Err(error)) => return answer::refusal(StatusCode::BAD_REQUEST, None, &error),
        None => return answer::not_allowed(VERBS),
    };
    let id = match &message {
        Message::Request(request) if request.method == "initialize" => return initialize(&state, request),
        Message::Request(request) => Some(&request.id),
        Message::Notification(_) | Message::Response => None,
    };
    let session = match find(&state, &head.headers) {
        Lookup::Found(session) => session,
        lookup => return lost(&state, &lookup, id).unwrap_or_else(|| answer::not_allowed(VERBS)),
    };
    match message {
        Message::Request(request) => {
            let is_ready = session.as_ref().is_none_or(|session| session.is_ready());
            if state.options.is_strict && !is_ready && request.method != "ping" {
                let error = Error::new(INVALID_REQUEST, "Server not initialized");
                return answer::refusal(StatusCode::BAD_REQUEST, Some(&request.id), &error);
            }
            run(Context { state, session, headers: head.headers, related: None }, request).await
        }
        Message::Notification(method) => {
            if let Some(session) = session.filter(|_| method == "notifications/initialized") {
                session.initialized();
            }
            answer::empty(StatusCode::ACCEPTED)
        }
        Message::Response => answer::empty(StatusCode::ACCEPTED),
    }
}

fn initialize(state: &State, request: &Request) -> Answer {
    let document = document(&request.id, Ok(methods::initialize(state, &request.params)));
    let mut answer = match state.options.answers {
        Answers::Json => answer::json(StatusCode::OK, &document),
        Answers::Events => answer::whole(StatusCode::OK, answer::EVENTS, event(None, &document)),
    };
    if state.options.has_sessions
        && let Ok(id) = HeaderValue::from_str(state.make_session().id())
    {
        answer.headers_mut().insert(SESSION, id);
    }
    answer
}

/// Answers a request that was found to be in order.
async fn run(mut context: Context, request: Request) -> Answer {
    let Request { id, method, params } = request;
    match context.state.options.answers {
        Answers::Json => {
            let outcome = methods::call(&context, &method, &params).await;
            answer::json(StatusCode::OK, &document(&id, outcome))
        }
        Answers::Events => {
            let (sender, receiver) = mpsc::channel(AHEAD);
            context.related = Some(sender.clone());
            tokio::spawn(async move {
                let work = async {
                    let outcome = methods::call(&context, &method, &params).await;
                    // A client that is gone needs no answer.
                    let _ = sender.send(event(None, &document(&id, outcome))).await;
                };
                tokio::select! {
                    () = work => {}
                    () = sender.closed() => {}
                }
            });
            answer::events(None, receiver, ())
        }
    }
}

/// The stream that a client asks for, for messages that answer nothing.
fn listen(exchange: &Exchange) -> Answer {
    let (state, headers) = (&exchange.state, &exchange.head.headers);
    if !exchange.header(ACCEPT.as_str()).is_some_and(|kind| kind.contains("text/event-stream")) {
        return answer::text(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream");
    }
    match find(state, headers) {
        Lookup::Found(Some(session)) => {
            let after = exchange.header("last-event-id").and_then(|id| id.parse().ok());
            answer::events(None, session.open(after), Open::new(state))
        }
        lookup => lost(state, &lookup, None).unwrap_or_else(|| answer::not_allowed("POST")),
    }
}

fn delete(exchange: &Exchange) -> Answer {
    let state = &exchange.state;
    if state.controls().refuses_delete {
        return answer::not_allowed("GET, POST");
    }
    match find(state, &exchange.head.headers) {
        Lookup::Found(Some(session)) => {
            session.end();
            if state.remove_session(session.id()) {
                state.count(|counts| counts.sessions_deleted += 1);
            }
            answer::empty(StatusCode::NO_CONTENT)
        }
        lookup => lost(state, &lookup, None).unwrap_or_else(|| answer::not_allowed("POST")),
    }
}
