//! The Modern era of streamable-http: no handshake, no sessions, every request says all about itself.

use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::answer::{self, Answer, Open, event};
use super::message::{
    Error, HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, Message, Request,
    UNSUPPORTED_VERSION, document,
};
use super::methods::{self, Context, LEGACY};
use super::options::{Answers, Eras};
use super::route::{Exchange, header};
use super::state::State;
use super::streamable::{self, unacceptable};

pub(super) const VERSION: &str = "2026-07-28";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What exists only where there are sessions.
const GONE: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
/// Results that must say for how long they hold.
const CACHEABLE: [&str; 5] =
    ["tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"];

/// Whether a request is of this era, by its header or else by what it says about itself.
pub(super) fn is_meant(exchange: &Exchange) -> bool {
    let version = exchange.header(streamable::VERSION);
    match &exchange.message {
        Some(Ok(Message::Request(request))) if request.method == "initialize" => false,
        Some(Ok(Message::Request(request))) => {
            version == Some(VERSION) || (version.is_none() && meta(&request.params, META_VERSION).is_some())
        }
        _ => version == Some(VERSION),
    }
}

fn meta<'a>(params: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    params.get("_meta")?.get(key)
}

pub(super) async fn answer(exchange: Exchange) -> Answer {
    let Exchange { state, head, message } = exchange;
    if head.method != Method::POST {
        return answer::not_allowed("POST");
    }
    if let Some(refused) = unacceptable(&head.headers) {
        return refused;
    }
    let request = match message {
        Some(Ok(Message::Request(request))) => request,
        Some(Ok(Message::Notification(_) | Message::Response)) | None => {
            return answer::empty(StatusCode::ACCEPTED);
        }
        Some(Err(error)) => return answer::refusal(StatusCode::BAD_REQUEST, None, &error),
    };
    if let Err(error) = check(&head.headers, &request) {
        return answer::refusal(StatusCode::BAD_REQUEST, Some(&request.id), &error);
    }
    match request.method.as_str() {
        "server/discover" => json_answer(&state, &request, Ok(discover(&state))),
        "subscriptions/listen" => listen(&state, &request),
        method if GONE.contains(&method) => {
            let error = Error::new(METHOD_NOT_FOUND, format!("there is no method {method}"));
            json_answer(&state, &request, Err(error))
        }
        method => {
            let context = Context { state, session: None, headers: head.headers, related: None };
            let outcome = methods::call(&context, method, &request.params).await;
            json_answer(&context.state, &request, outcome.map(|result| complete(method, result)))
        }
    }
}

/// Whether a request says all about itself, and its headers say the same.
fn check(headers: &HeaderMap, request: &Request) -> Result<(), Error> {
    let mismatch = |name: &str, body: &str| {
        let data = json!({"header": header(headers, name).unwrap_or_default(), "body": body});
        Error::new(HEADER_MISMATCH, format!("{name} and the body do not say the same")).with(data)
    };
    let Some(version) = meta(&request.params, META_VERSION).and_then(Value::as_str) else {
        return Err(Error::new(INVALID_PARAMS, "the request does not say which version it is of"));
    };
    if version != VERSION {
        let supported = json!({"supported": [VERSION], "requested": version});
        return Err(Error::new(UNSUPPORTED_VERSION, "this version is not spoken here").with(supported));
    }
    if header(headers, streamable::VERSION) != Some(version) {
        return Err(mismatch(streamable::VERSION, version));
    }
    if !meta(&request.params, META_CAPABILITIES).is_some_and(Value::is_object) {
        let required = json!({"requiredCapabilities": {}});
        return Err(
            Error::new(MISSING_CAPABILITY, "the request does not say what its client can do").with(required)
        );
    }
    if header(headers, "mcp-method") != Some(&request.method) {
        return Err(mismatch("mcp-method", &request.method));
    }
    let key = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = request.params.get(key).and_then(Value::as_str).unwrap_or_default();
    // None of our names needs to be encoded.
    if header(headers, "mcp-name") != Some(name) {
        return Err(mismatch("mcp-name", name));
    }
    Ok(())
}

fn discover(state: &State) -> Value {
    let versions = match state.options.eras {
        Eras::Both => [&[VERSION], &LEGACY[..]].concat(),
        Eras::Legacy => LEGACY.to_vec(),
        Eras::Modern => vec![VERSION],
    };
    json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": methods::capabilities(),
        "ttlMs": 0, "cacheScope": "private", "_meta": {META_SERVER: methods::server_info(state)},
    })
}

/// A result with what this era wants in it.
fn complete(method: &str, mut result: Value) -> Value {
    if let Some(result) = result.as_object_mut() {
        result.insert("resultType".to_owned(), json!("complete"));
        if CACHEABLE.contains(&method) {
            result.insert("ttlMs".to_owned(), json!(0));
            result.insert("cacheScope".to_owned(), json!("private"));
        }
    }
    result
}

fn json_answer(state: &State, request: &Request, outcome: Result<Value, Error>) -> Answer {
    let status = match &outcome {
        Err(error) if error.code == METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        Ok(_) | Err(_) => StatusCode::OK,
    };
    let document = document(&request.id, outcome);
    match state.options.answers {
        Answers::Events if status == StatusCode::OK => {
            answer::whole(status, answer::EVENTS, event(None, &document))
        }
        Answers::Json | Answers::Events => answer::json(status, &document),
    }
}

/// A subscription: a stream that begins with what it will tell, and lasts until the client has enough.
fn listen(state: &Arc<State>, request: &Request) -> Answer {
    let accepted = request.params.get("notifications").and_then(|wanted| wanted.get("toolsListChanged"));
    let params = json!({
        "_meta": {META_SUBSCRIPTION: request.id},
        "notifications": accepted.map_or(json!({}), |wanted| json!({"toolsListChanged": wanted})),
    });
    let method = "notifications/subscriptions/acknowledged";
    let first = event(None, &json!({"jsonrpc": "2.0", "method": method, "params": params}));
    answer::events(Some(first), state.subscribe(&request.id), Open::new(state))
}

/// Tells all subscribers that the tools have changed, whether or not they have.
pub(super) fn announce(state: &State) {
    state.subscribers(|id, stream: &mpsc::Sender<_>| {
        let params = json!({"_meta": {META_SUBSCRIPTION: id}});
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params});
        // A subscriber that is too far behind misses some.
        let _ = stream.try_send(event(None, &message));
    });
}
