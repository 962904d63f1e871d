//! The older transport: a stream, and messages beside it.

use std::sync::Arc;

use http::{Method, Response, StatusCode, header};
use thv_mcp::headers::Media;
use thv_mcp::sse::{EndpointRewriter, Forwarded, session_of};
use thv_session::Key;
use thv_telemetry::Trace;

use super::delivery::Delivery;
use super::session::owned;
use super::{anywhere, at, first, is_repeatable, refused};
use crate::http::events::Events;
use crate::http::outbound::Outbound;
use crate::http::policy::Permit;
use crate::http::proxy::{Caller, Proxy};
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::upstream::{Failure, Load, Use};

pub(super) async fn dispatch(
    caller: &Caller,
    permit: &mut Permit,
    trace: Option<&Trace>,
) -> Result<Response<Reply>, Refusal> {
    let trusted = caller.proxy.settings.trust_forwarded;
    let forwarded = if trusted { Forwarded::trusted(&permit.head.headers) } else { Forwarded::default() };
    let mut out = Outbound::new(&caller.proxy, caller, permit, trace);
    // Here a session is named by the URL. What a server that speaks both transports would do with this header,
    // nobody has checked.
    out.in_session(None);
    match permit.head.method {
        Method::GET => stream(&caller.proxy, permit, out, forwarded).await,
        Method::POST => message(&caller.proxy, permit, out).await,
        _ => anywhere(&caller.proxy, permit, out).await,
    }
}

/// Opens a stream. Its session exists from when the server has said where messages go.
async fn stream(
    proxy: &Arc<Proxy>,
    permit: &Permit,
    mut out: Outbound,
    forwarded: Forwarded,
) -> Result<Response<Reply>, Refusal> {
    proxy.sessions.ready_for_writes().await.map_err(|_| Refusal::store())?;
    out.headers_mut().remove(header::ACCEPT_ENCODING);
    // All answers come by this stream, large ones too.
    let response = match first(proxy, &mut out, Load::Sessions, Use::Exchange).await {
        Err(Failure::Lost) => first(proxy, &mut out, Load::Sessions, Use::Exchange).await,
        outcome => outcome,
    };
    let response = response.map_err(refused)?;
    let mut delivery = Delivery::plain(permit);
    let is_stream = Media::of(response.headers()) == Media::EventStream;
    if response.status() == StatusCode::OK && is_stream {
        if response.headers().contains_key(header::CONTENT_ENCODING) {
            tracing::warn!("the server compresses a stream although nobody asked for it");
            return Err(Refusal::lost());
        }
        let rewriter = EndpointRewriter::new(out.target().path(), &proxy.settings.endpoint_prefix, forwarded);
        delivery.events = Some(Box::new(Events::new(Arc::clone(proxy), permit.who.clone(), rewriter)));
    }
    Ok(delivery.deliver(proxy, response))
}

/// Sends a message to where its stream is.
async fn message(proxy: &Proxy, permit: &Permit, mut out: Outbound) -> Result<Response<Reply>, Refusal> {
    let target = permit.head.uri.path_and_query().map_or("/", |target| target.as_str());
    let session = session_of(target);
    let session = session
        .map_err(|_| Refusal::invalid(StatusCode::BAD_REQUEST, "The URL does not name one session"))?;
    let key = Key::of(&session);
    let record = owned(proxy, permit, key).await?;
    // The stream went with the instance.
    let pool = proxy.upstream.named(record.metadata.pod.as_deref()).ok_or_else(Refusal::no_session)?;
    let outcome = match at(proxy, &pool, &mut out, Use::Exchange).await {
        Err(Failure::Lost) if is_repeatable(permit) => at(proxy, &pool, &mut out, Use::Exchange).await,
        outcome => outcome,
    };
    Ok(Delivery::plain(permit).deliver(proxy, outcome.map_err(refused)?))
}
