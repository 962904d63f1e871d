//! The one road of a request: read, understood, decided upon, sent on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request};
use hyper::body::{Body, Incoming};
use serde::Deserialize;
use serde_json::value::RawValue;
use thv_mcp::headers::Media;
use thv_mcp::{Era, Id, Message, Method as McpMethod, decode, era};
use thv_telemetry::{Asked as Traced, Carried, Content, Trace, Tracing};

use super::dispatch::dispatch;
use super::ending::Ending;
use super::inbound::Due;
use super::origin::is_own_name;
use super::policy::{Asked, Denied, Permit, admit};
use super::proxy::{Caller, Proxy};
use super::reading::{Taken, read};
use super::refusal::Refusal;
use super::reply::Reply;
use super::surface;

/// What a server without sessions takes.
const STATELESS: &str = "POST, OPTIONS";
/// What MCP has.
const METHODS: &str = "GET, HEAD, POST, DELETE, OPTIONS";

/// Answers a request, whatever happens.
///
/// A future that is made for every request is as large as the sum of what each function on the way holds, and what
/// an async function is given it holds to its end. Hence few of them here, and large things in boxes.
pub(super) fn handle(
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> BoxFuture<'static, Response<Reply>> {
    let due = caller.traffic.answer_due();
    if let Some(response) = surface::answer(&caller.proxy, &request) {
        return Box::pin(std::future::ready(completed(caller, due, response)));
    }
    let answer = surviving(converse(Arc::clone(caller), request));
    let caller = Arc::clone(caller);
    Box::pin(answer.map(move |response| completed(&caller, due, response)))
}

/// What every answer has.
fn completed(caller: &Caller, due: Due, mut response: Response<Reply>) -> Response<Reply> {
    if caller.proxy.life.is_leaving() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.body_mut().hold(due);
    response
}

/// A bug costs the request that it is found by, and nothing else.
fn surviving(answer: impl Future<Output = Response<Reply>>) -> impl Future<Output = Response<Reply>> {
    AssertUnwindSafe(answer).catch_unwind().map(|answer| {
        answer.unwrap_or_else(|_| {
            tracing::error!("a bug: a request could not be handled");
            Refusal::bug().answer(None)
        })
    })
}

/// Answers a request for the backend, and has it counted.
fn converse(caller: Arc<Caller>, request: Request<Incoming>) -> impl Future<Output = Response<Reply>> {
    let ending = caller.proxy.chain.telemetry.then(|| Ending::of(&request, &caller.proxy.metrics));
    let (head, body) = request.into_parts();
    answer(caller, Box::new(head), body, ending)
}

async fn answer(
    caller: Arc<Caller>,
    head: Box<request::Parts>,
    body: Incoming,
    mut ending: Option<Box<Ending>>,
) -> Response<Reply> {
    let (outcome, message) = match understand(&caller.proxy, head, body).await {
        Err(denied) => (Err(denied.refusal), denied.message),
        Ok((mut permit, room)) => {
            if let Some(ending) = &mut ending {
                ending.trace = begin_trace(&caller, &permit, ending);
            }
            let trace = ending.as_ref().and_then(|ending| ending.trace.as_ref());
            let outcome = dispatch(&caller, &mut permit, trace).await;
            drop(room);
            (outcome, permit.message)
        }
    };
    let id: Option<&Id> = message.as_ref().and_then(Message::id);
    let mut response = outcome.unwrap_or_else(|refusal| refusal.answer(id));
    if let Some(mut ending) = ending {
        ending.message = message;
        ending.status = response.status();
        ending.length = response.body().size_hint().exact();
        response.body_mut().accompany(ending);
    }
    response
}

/// Reads a request and decides upon it.
async fn understand(
    proxy: &Proxy,
    head: Box<request::Parts>,
    body: Incoming,
) -> Result<(Permit, Taken<'_>), Box<Denied>> {
    gate(proxy, &head)?;
    let (bytes, message, room) = if head.method == Method::POST {
        if Media::of(&head.headers) != Media::Json {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Refusal::invalid(status, "Content-Type must be application/json").into());
        }
        let (bytes, room) = read(&proxy.room, body, proxy.chain.body_limit, &proxy.settings.times).await?;
        let message = decode(&bytes);
        let message =
            message.map_err(|malformed| Refusal::new(StatusCode::BAD_REQUEST, malformed.error()))?;
        (bytes, Some(message), room)
    } else if body.is_end_stream() {
        (bytes::Bytes::new(), None, Taken::default())
    } else {
        return Err(Refusal::invalid(StatusCode::BAD_REQUEST, "Only a POST has a body").closing().into());
    };
    let era = era(message.as_ref(), &head.headers);
    let permit = admit(Asked { head, body: bytes, message, era }, proxy.everybody.clone())?;
    Ok((permit, room))
}

/// What can be decided by the head alone.
fn gate(proxy: &Proxy, head: &request::Parts) -> Result<(), Refusal> {
    let has_no_sessions = || proxy.settings.stateless || era(None, &head.headers) == Era::Modern;
    match head.method {
        Method::GET | Method::HEAD | Method::DELETE if has_no_sessions() => {
            return Err(Refusal::method(STATELESS));
        }
        Method::GET | Method::HEAD | Method::DELETE | Method::POST | Method::OPTIONS => {}
        _ => return Err(Refusal::method(METHODS)),
    }
    let origins = &proxy.chain.origins;
    if proxy.is_loopback && !is_own_name(&head.headers, origins) {
        return Err(Refusal::invalid(StatusCode::FORBIDDEN, "Host not allowed"));
    }
    if !origins.iter().all(|origins| origins.allow(&head.headers)) {
        return Err(Refusal::invalid(StatusCode::FORBIDDEN, "Origin not allowed"));
    }
    Ok(())
}

/// The trace that a request belongs to, if traces are wanted.
fn begin_trace(caller: &Caller, permit: &Permit, ending: &Ending) -> Option<Trace> {
    let tracing: &Tracing = caller.proxy.tracing.as_ref()?;
    let Permit { head, body, message, .. } = permit;
    let call = message.as_ref().and_then(Message::call);
    let carried = call.map(|call| Carried {
        traceparent: call.meta.traceparent.as_deref(),
        tracestate: call.meta.tracestate.as_deref(),
        baggage: call.meta.baggage.as_deref(),
    });
    let mut trace = tracing.begin(&head.headers, carried.unwrap_or_default(), ending.began());
    if trace.is_sampled() {
        let content = match call {
            _ if ending.is_stream() => Content::Stream,
            None => Content::Other,
            Some(call) => Content::Message(thv_telemetry::Message {
                method: call.method.as_str(),
                id: call.id.as_ref().map(Id::raw),
                resource: Some(call.resource.as_str()),
                client: (call.method == McpMethod::Initialize).then(|| call.resource.as_str()),
                arguments: arguments(&call.method, body),
            }),
        };
        trace.asked(&Traced {
            verb: &head.method,
            uri: &head.uri,
            scheme: "http",
            host: head.headers.get(header::HOST).and_then(|host| host.to_str().ok()),
            version: head.version,
            headers: &head.headers,
            body: Some(body.len() as u64),
            client: Some(caller.peer),
            content,
        });
    }
    Some(trace)
}

/// The arguments of a tool, as they stand in the body.
fn arguments<'a>(method: &McpMethod, body: &'a [u8]) -> Option<&'a str> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }

    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: &'a RawValue,
    }

    if *method != McpMethod::ToolsCall {
        return None;
    }
    serde_json::from_slice::<Envelope<'_>>(body).ok().map(|envelope| envelope.params.arguments.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_500() {
        let response = surviving(async { panic!("for a test") }).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    }

    #[test]
    fn arguments_are_those_of_a_tool() {
        let body = br#"{"params":{"name":"x","arguments":{"a": 1}}}"#;
        assert_eq!(arguments(&McpMethod::ToolsCall, body), Some(r#"{"a": 1}"#));
        assert_eq!(arguments(&McpMethod::PromptsGet, body), None);
        assert_eq!(arguments(&McpMethod::ToolsCall, b"{}"), None);
    }
}
