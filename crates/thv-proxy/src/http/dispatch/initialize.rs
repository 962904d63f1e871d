//! The beginning of a session.

use http::{HeaderValue, Method, Response, StatusCode};
use thv_mcp::headers::SESSION_ID;
use thv_session::{Created, INIT_BODY_LIMIT, Key, Kind, Metadata, Record};

use super::delivery::Delivery;
use super::{at, first, refused};
use crate::http::clock::now;
use crate::http::outbound::Outbound;
use crate::http::policy::Permit;
use crate::http::proxy::Proxy;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::upstream::{Answer, Load, Use};

/// Sends `initialize` on, and remembers the session that the backend opens before the client hears of it.
pub(super) async fn dispatch(
    proxy: &Proxy,
    permit: &Permit,
    mut out: Outbound,
) -> Result<Response<Reply>, Refusal> {
    // A session that cannot be stored is not worth opening.
    proxy.sessions.ready_for_writes().await.map_err(|_| Refusal::store())?;
    out.in_session(None);
    let response = first(proxy, &mut out, Load::Sessions, Use::Exchange).await.map_err(refused)?;
    let Some(id) = opened(&response) else {
        return Ok(Delivery::plain(permit).deliver(proxy, response));
    };
    let pool = response.body().pool();
    let text = id.to_str().unwrap_or_default();
    let init_body = if permit.body.len() <= INIT_BODY_LIMIT {
        std::str::from_utf8(&permit.body).ok().map(str::to_owned)
    } else {
        None
    };
    let metadata = Metadata {
        backend_url: Some(proxy.upstream.url()),
        init_body,
        owner: Some(*permit.who.owner()),
        pod: Some(pool.name().to_string()).filter(|name| !name.is_empty()),
        ..Metadata::default()
    };
    let record = Record::new(Key::of(text), Kind::Mcp, now(), metadata);
    let key = record.key;
    let refusal = match proxy.sessions.create(record).await {
        Ok(Created::Created(_)) => {
            pool.sessions.started();
            return Ok(Delivery::of_session(permit, key, id).deliver(proxy, response));
        }
        Ok(Created::Exists) => {
            tracing::warn!("the backend opened a session under a name that is taken");
            Refusal::taken()
        }
        Err(error) => {
            tracing::warn!(%error, "a session could not be stored");
            Refusal::store()
        }
    };
    abandon(proxy, &response, &out, id.clone()).await;
    Err(refusal)
}

/// The session that an answer opens.
pub(super) fn opened(response: &Response<Answer>) -> Option<HeaderValue> {
    let mut ids = response.headers().get_all(SESSION_ID).iter();
    let (Some(id), None) = (ids.next(), ids.next()) else { return None };
    let usable = response.status() == StatusCode::OK && id.to_str().is_ok_and(|id| !id.is_empty());
    usable.then(|| id.clone())
}

/// Closes a session at the backend that nobody will use. If that fails, the backend forgets it some day.
pub(super) async fn abandon(proxy: &Proxy, response: &Response<Answer>, out: &Outbound, id: HeaderValue) {
    let mut end = out.beside(Method::DELETE, bytes::Bytes::new());
    end.in_session(Some(id));
    let pool = std::sync::Arc::clone(response.body().pool());
    let closing = at(proxy, &pool, &mut end, Use::Exchange);
    if !matches!(tokio::time::timeout(proxy.settings.times.connect, closing).await, Ok(Ok(_))) {
        tracing::debug!("a session that nobody uses could not be closed at the backend");
    }
}
