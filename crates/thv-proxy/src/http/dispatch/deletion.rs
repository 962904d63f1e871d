//! The end of a session, as its client wants it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode};

use super::at;
use super::delivery::Delivery;
use super::session::{Held, find};
use crate::http::clock::now;
use crate::http::outbound::Outbound;
use crate::http::policy::Permit;
use crate::http::proxy::Proxy;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::upstream::Use;

/// Ends the session at the backend and here. A backend that is not there any more has forgotten it already, and one
/// that refuses (405) wants it to go on.
pub(super) async fn dispatch(
    proxy: &Proxy,
    permit: &Permit,
    mut out: Outbound,
    id: HeaderValue,
) -> Result<Response<Reply>, Refusal> {
    let held = find(proxy, permit, id).await?;
    out.in_session(Some(held.at_backend()));
    let pool = proxy.upstream.named(held.record.metadata.pod.as_deref());
    let answer = match &pool {
        Some(pool) => at(proxy, pool, &mut out, Use::Exchange).await.ok(),
        None => None,
    };
    let status = answer.as_ref().map(Response::status);
    if status.is_none_or(|status| status.is_success() || status == StatusCode::NOT_FOUND) {
        proxy.sessions.remove(held.key).await.map_err(|_| Refusal::store())?;
        if let Some(pool) = &pool {
            pool.sessions.ended(age(&held));
        }
    }
    let Some(answer) = answer else {
        let mut gone = Response::new(Reply::whole(Bytes::new()));
        *gone.status_mut() = StatusCode::NO_CONTENT;
        return Ok(gone);
    };
    let mut delivery = Delivery::plain(permit);
    delivery.shown = Some(held.id);
    Ok(delivery.deliver(proxy, answer))
}

/// How long ago a session began.
fn age(held: &Held) -> Duration {
    Duration::try_from(now().duration_since(held.record.created_at)).unwrap_or_default()
}
