//! Requests in a session.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use thv_mcp::headers::LAST_EVENT_ID;
use thv_mcp::{Message, codes, error_code};
use thv_session::{Key, Record, Swap};

use super::delivery::Delivery;
use super::{at, is_repeatable, purpose, refused, replay};
use crate::http::clock::now;
use crate::http::outbound::{Outbound, is_of_a_connection, strip};
use crate::http::policy::Permit;
use crate::http::proxy::Proxy;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::upstream::{Answer, Failure, Pool, Use};

/// Says in a record that its backend holds something that initialising anew does not bring back.
const STATEFUL: &str = "thv_stateful";
/// How often somebody else may change a record while we want to.
const TRIES: usize = 4;
/// The longest 404 that is looked into, and how long that may take.
const MISSING: (usize, Duration) = (64 << 10, Duration::from_secs(5));

/// A session that belongs to who asks.
pub(super) struct Held {
    pub key: Key,
    /// As the client calls it.
    pub id: HeaderValue,
    pub record: Arc<Record>,
}

impl Held {
    /// As the backend calls it.
    pub(super) fn at_backend(&self) -> HeaderValue {
        let other = self.record.metadata.backend_sid.as_deref();
        other.and_then(|sid| HeaderValue::from_str(sid).ok()).unwrap_or_else(|| self.id.clone())
    }

    /// Whether it cannot be started anew without losing something.
    pub(super) fn is_stateful(&self) -> bool {
        self.record.metadata.rest.contains_key(STATEFUL)
    }
}

/// The session that a client calls so, if it is theirs.
pub(super) async fn find(proxy: &Proxy, permit: &Permit, id: HeaderValue) -> Result<Held, Refusal> {
    let key = Key::of(id.to_str().map_err(|_| Refusal::no_session())?);
    Ok(Held { key, id, record: owned(proxy, permit, key).await? })
}

/// The record, if it is theirs. Of others nobody learns that they exist.
pub(super) async fn owned(proxy: &Proxy, permit: &Permit, key: Key) -> Result<Arc<Record>, Refusal> {
    let record = proxy.sessions.find(key).await.map_err(|_| Refusal::store())?;
    let record = record.filter(|record| record.belongs_to(Some(permit.who.owner())));
    record.ok_or_else(Refusal::no_session)
}

/// Sends a request to the instance that its session is at. If the session is lost there, it is started anew once.
pub(super) async fn dispatch(
    proxy: &Proxy,
    permit: &Permit,
    mut out: Outbound,
    id: HeaderValue,
) -> Result<Response<Reply>, Refusal> {
    let mut held = find(proxy, permit, id).await?;
    let call = permit.message.as_ref().and_then(Message::call);
    if call.is_some_and(thv_mcp::Call::leaves_state) && !held.is_stateful() {
        Box::pin(remember_state(proxy, permit, &mut held)).await?;
    }
    if let Some(pool) = proxy.upstream.named(held.record.metadata.pod.as_deref()) {
        out.in_session(Some(held.at_backend()));
        match attempt(proxy, permit, &pool, &mut out).await? {
            Some(response) if response.status() != StatusCode::NOT_FOUND => {
                return Ok(Delivery::of_session(permit, held.key, held.id).deliver(proxy, response));
            }
            Some(response) => {
                if let Some(answer) = Box::pin(missing_method(response)).await {
                    return Ok(answer);
                }
            }
            None => {}
        }
    }
    Box::pin(again(proxy, permit, out, held)).await
}

/// The answer, or nothing if the session is lost.
async fn attempt(
    proxy: &Proxy,
    permit: &Permit,
    pool: &Arc<Pool>,
    out: &mut Outbound,
) -> Result<Option<Response<Answer>>, Refusal> {
    let outcome = match at(proxy, pool, out, purpose(permit)).await {
        Err(Failure::Lost) if is_repeatable(permit) => at(proxy, pool, out, Use::Exchange).await,
        outcome => outcome,
    };
    match outcome {
        Ok(response) => Ok(Some(response)),
        // Of a server elsewhere, the way there may well be what is lost.
        Err(Failure::Unreachable(_)) if proxy.upstream.elsewhere().is_none() => Ok(None),
        Err(failure) => Err(refused(failure)),
    }
}

/// A 404 that is about the method, as an answer; any other says that the session is lost.
async fn missing_method(response: Response<Answer>) -> Option<Response<Reply>> {
    let (mut head, body) = response.into_parts();
    let (limit, patience) = MISSING;
    #[expect(clippy::disallowed_methods, reason = "it is limited")]
    let body =
        tokio::time::timeout(patience, Limited::new(body, limit).collect()).await.ok()?.ok()?.to_bytes();
    if error_code(&body) != Some(codes::METHOD_NOT_FOUND) {
        return None;
    }
    strip(&mut head.headers, is_of_a_connection);
    head.headers.remove(thv_mcp::headers::SESSION_ID);
    Some(Response::from_parts(head, Reply::whole(body)))
}

/// Starts the session anew and sends the request once.
async fn again(
    proxy: &Proxy,
    permit: &Permit,
    mut out: Outbound,
    held: Held,
) -> Result<Response<Reply>, Refusal> {
    let held = replay::replay(proxy, permit, &out, held).await?;
    out.in_session(Some(held.at_backend()));
    // What the client has heard so far, it has heard from another session.
    out.headers_mut().remove(LAST_EVENT_ID);
    let pool = proxy.upstream.named(held.record.metadata.pod.as_deref()).ok_or_else(Refusal::lost)?;
    let response = at(proxy, &pool, &mut out, Use::Exchange).await.map_err(refused)?;
    Ok(Delivery::of_session(permit, held.key, held.id).deliver(proxy, response))
}

/// Writes down that the session has state, before it has.
async fn remember_state(proxy: &Proxy, permit: &Permit, held: &mut Held) -> Result<(), Refusal> {
    for _ in 0..TRIES {
        let mut record = (*held.record).clone();
        record.metadata.rest.insert(STATEFUL.to_owned(), "true".to_owned());
        record.updated_at = now();
        let swapped = proxy.sessions.swap(&held.record, record).await.map_err(|_| Refusal::store())?;
        let (done, record) = match swapped {
            Swap::Swapped(record) => (true, Some(record)),
            Swap::Lost(record) => (false, record),
        };
        let record = record.filter(|record| record.belongs_to(Some(permit.who.owner())));
        held.record = record.ok_or_else(Refusal::no_session)?;
        if done || held.is_stateful() {
            return Ok(());
        }
    }
    Err(Refusal::store())
}
