//! From a permit to an answer.

mod deletion;
mod delivery;
mod initialize;
mod replay;
mod session;
mod sse;

use http::{HeaderValue, Method, Response, StatusCode};
use thv_config::Transport;
use thv_mcp::headers::SESSION_ID;
use thv_mcp::{Era, Message};
use thv_telemetry::Trace;

use self::delivery::Delivery;
use super::outbound::Outbound;
use super::policy::Permit;
use super::proxy::{Caller, Proxy};
use super::redirect;
use super::refusal::Refusal;
use super::reply::Reply;
use super::upstream::{Answer, Failure, Load, Pool, Use};

/// Sends on what was permitted.
pub(super) async fn dispatch(
    caller: &Caller,
    permit: &mut Permit,
    trace: Option<&Trace>,
) -> Result<Response<Reply>, Refusal> {
    let proxy = &*caller.proxy;
    if proxy.transport == Transport::Sse {
        return Box::pin(sse::dispatch(caller, permit, trace)).await;
    }
    let id = match permit.era {
        Era::Modern => None,
        Era::Legacy => session_id(permit)?,
    };
    let mut out = Outbound::new(proxy, caller, permit, trace);
    let is_initialize = permit.era == Era::Legacy && method(permit) == Some(&thv_mcp::Method::Initialize);
    match id {
        _ if is_initialize => Box::pin(initialize::dispatch(proxy, permit, out)).await,
        Some(id) if permit.head.method == Method::DELETE => {
            Box::pin(deletion::dispatch(proxy, permit, out, id)).await
        }
        Some(id) => session::dispatch(proxy, permit, out, id).await,
        None => {
            out.in_session(None);
            anywhere(proxy, permit, out).await
        }
    }
}

/// The session that a request claims to belong to. Two claims are none.
fn session_id(permit: &Permit) -> Result<Option<HeaderValue>, Refusal> {
    let mut ids = permit.head.headers.get_all(SESSION_ID).iter();
    match (ids.next(), ids.next()) {
        (id, None) => Ok(id.cloned()),
        _ => Err(Refusal::invalid(StatusCode::BAD_REQUEST, "Mcp-Session-Id is there more than once")),
    }
}

fn method(permit: &Permit) -> Option<&thv_mcp::Method> {
    permit.message.as_ref().and_then(Message::call).map(|call| &call.method)
}

/// What the connection is for at first. The second time, nothing is spared.
fn purpose(permit: &Permit) -> Use {
    if permit.head.method == Method::GET { Use::Standing } else { Use::Exchange }
}

/// Whether it does no harm to send it again when nobody knows whether it arrived.
fn is_repeatable(permit: &Permit) -> bool {
    match (&permit.head.method, &permit.message) {
        (&Method::POST, Some(Message::Request(call))) => call.method.repeatable(),
        (&Method::POST, _) => false,
        (method, _) => method.is_safe(),
    }
}

/// To any instance: nobody expects it to remember anything.
async fn anywhere(proxy: &Proxy, permit: &Permit, mut out: Outbound) -> Result<Response<Reply>, Refusal> {
    let response = match first(proxy, &mut out, Load::Requests, purpose(permit)).await {
        Err(Failure::Lost) if is_repeatable(permit) => {
            first(proxy, &mut out, Load::Requests, Use::Exchange).await
        }
        outcome => outcome,
    };
    Ok(Delivery::plain(permit).deliver(proxy, response.map_err(refused)?))
}

/// To the best instance, waiting for one if it is worth it.
async fn first(
    proxy: &Proxy,
    out: &mut Outbound,
    load: Load,
    purpose: Use,
) -> Result<Response<Answer>, Failure> {
    let waits = *out.method() == Method::POST || proxy.transport == Transport::Sse;
    let patience = if waits { proxy.settings.times.backend } else { std::time::Duration::ZERO };
    let response = proxy.upstream.send(out.request(&proxy.upstream), load, purpose, patience).await?;
    if response.status().is_redirection() {
        Box::pin(follow(proxy, out, purpose, response)).await
    } else {
        Ok(response)
    }
}

/// To one instance.
async fn at(
    proxy: &Proxy,
    pool: &std::sync::Arc<Pool>,
    out: &mut Outbound,
    purpose: Use,
) -> Result<Response<Answer>, Failure> {
    let response = pool.send(out.request(&proxy.upstream), purpose).await?;
    if response.status().is_redirection() {
        Box::pin(follow(proxy, out, purpose, response)).await
    } else {
        Ok(response)
    }
}

/// Follows redirects within the instance that answers.
async fn follow(
    proxy: &Proxy,
    out: &mut Outbound,
    purpose: Use,
    mut response: Response<Answer>,
) -> Result<Response<Answer>, Failure> {
    for _ in 0..redirect::MOST {
        let scheme = proxy.upstream.elsewhere().map_or(&http::uri::Scheme::HTTP, |remote| remote.scheme());
        let host = proxy.upstream.host().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let (status, headers) = (response.status(), response.headers());
        let Some(target) = redirect::followed(status, headers, scheme, host, out.target()) else { break };
        out.aim(target);
        let pool = std::sync::Arc::clone(response.body().pool());
        drop(response);
        response = pool.send(out.request(&proxy.upstream), purpose).await?;
    }
    Ok(response)
}

fn refused(failure: Failure) -> Refusal {
    match failure {
        Failure::Unreachable(_) => Refusal::unreachable(),
        Failure::Lost => Refusal::lost(),
    }
}
