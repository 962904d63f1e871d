//! A session that its backend has lost, started anew.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode};
use http_body_util::BodyExt;
use thv_mcp::headers::{Media, PROTOCOL_VERSION};
use thv_mcp::initialize::{AnswerReader, INITIALIZED, requested_version};
use thv_session::{Record, Swap};
use thv_telemetry::Replay;

use super::initialize::{abandon, opened};
use super::session::Held;
use super::{at, first};
use crate::http::clock::now;
use crate::http::outbound::Outbound;
use crate::http::policy::Permit;
use crate::http::proxy::Proxy;
use crate::http::refusal::Refusal;
use crate::http::upstream::{Answer, Failure, Load, Use};

/// The session as it is after it was started anew, by us or by somebody else.
pub(super) async fn replay(
    proxy: &Proxy,
    permit: &Permit,
    out: &Outbound,
    held: Held,
) -> Result<Held, Refusal> {
    let Held { key, id, record: seen } = held;
    let _turn = proxy.replays.turn(key).await;
    let outcome = anew(proxy, permit, out, &seen).await;
    proxy.metrics.replayed(match &outcome {
        Ok((_, outcome)) | Err(outcome) => *outcome,
    });
    let outcome = match outcome {
        Ok((record, _)) => return Ok(Held { key, id, record }),
        Err(outcome) => outcome,
    };
    match outcome {
        Replay::Unreachable => Err(Refusal::unreachable()),
        Replay::StoreUnavailable => Err(Refusal::store()),
        Replay::Replayed | Replay::Overtaken | Replay::Impossible | Replay::Refused => {
            // It cannot be used any more. If it stays, the next request comes here again.
            if let Err(error) = proxy.sessions.remove(key).await {
                tracing::debug!(%error, "the record of a lost session stays");
            }
            Err(Refusal::no_session())
        }
    }
}

async fn anew(
    proxy: &Proxy,
    permit: &Permit,
    out: &Outbound,
    seen: &Arc<Record>,
) -> Result<(Arc<Record>, Replay), Replay> {
    let record = proxy.sessions.reread(seen.key).await.map_err(|_| Replay::StoreUnavailable)?;
    let mine = record.filter(|record| record.belongs_to(Some(permit.who.owner())));
    let record = mine.ok_or(Replay::Impossible)?;
    let place = |record: &Record| (record.metadata.pod.clone(), record.metadata.backend_sid.clone());
    if place(&record) != place(seen) && proxy.upstream.named(record.metadata.pod.as_deref()).is_some() {
        return Ok((record, Replay::Overtaken));
    }
    let held = Held { key: record.key, id: HeaderValue::from_static(""), record };
    if held.is_stateful() {
        return Err(Replay::Impossible);
    }
    let record = held.record;
    let body =
        record.metadata.init_body.as_ref().filter(|body| !body.is_empty()).ok_or(Replay::Impossible)?;
    let patience = proxy.settings.times.replay;
    let started = tokio::time::timeout(patience, start(proxy, out, Bytes::from(body.clone()))).await;
    let Started { response, id } = started.unwrap_or(Err(Replay::Unreachable))?;
    let pool = response.body().pool();

    let mut new = (*record).clone();
    new.updated_at = now();
    new.metadata.backend_sid = id.to_str().ok().map(str::to_owned);
    new.metadata.pod = Some(pool.name().to_string()).filter(|name| !name.is_empty());
    new.metadata.backend_url = Some(proxy.upstream.url());
    let outcome = match proxy.sessions.swap(&record, new).await {
        Ok(Swap::Swapped(record)) => {
            pool.sessions.started();
            return Ok((record, Replay::Replayed));
        }
        Ok(Swap::Lost(Some(winner))) if winner.belongs_to(Some(permit.who.owner())) => {
            Ok((winner, Replay::Overtaken))
        }
        Ok(Swap::Lost(_)) => Err(Replay::Impossible),
        Err(_) => Err(Replay::StoreUnavailable),
    };
    abandon(proxy, &response, out, id).await;
    outcome
}

/// A new session at the backend.
struct Started {
    /// The answer to `initialize`, for the instance that gave it.
    response: Response<Answer>,
    id: HeaderValue,
}

/// Does what the client did when it began, with what the client proves itself with now.
async fn start(proxy: &Proxy, out: &Outbound, body: Bytes) -> Result<Started, Replay> {
    let unreachable = |_: Failure| Replay::Unreachable;
    let wanted = match out.headers().get(PROTOCOL_VERSION) {
        Some(version) => version.to_str().unwrap_or_default().to_owned(),
        None => requested_version(&body).ok_or(Replay::Impossible)?.to_string(),
    };
    let mut init = out.beside(Method::POST, body);
    init.in_session(None);
    init.headers_mut().remove(PROTOCOL_VERSION);
    let mut response = first(proxy, &mut init, Load::Sessions, Use::Exchange).await.map_err(unreachable)?;
    let Some(id) = opened(&response) else {
        tracing::info!(status = response.status().as_u16(), "the backend does not start a lost session anew");
        return Err(Replay::Refused);
    };
    let version = negotiated(&mut response).await;
    if version.as_deref() != Some(&*wanted) {
        tracing::info!("the backend does not speak the version of a lost session any more");
        abandon(proxy, &response, out, id).await;
        return Err(Replay::Refused);
    }
    let mut done = out.beside(Method::POST, Bytes::from_static(INITIALIZED));
    done.in_session(Some(id.clone()));
    if let Ok(version) = HeaderValue::from_str(&wanted) {
        done.headers_mut().insert(PROTOCOL_VERSION, version);
    }
    let pool = Arc::clone(response.body().pool());
    let completed = at(proxy, &pool, &mut done, Use::Exchange).await.map_err(unreachable)?;
    if !completed.status().is_success() {
        abandon(proxy, &response, out, id).await;
        return Err(Replay::Refused);
    }
    Ok(Started { response, id })
}

/// The version that the backend chose.
async fn negotiated(response: &mut Response<Answer>) -> Option<String> {
    if response.status() != StatusCode::OK {
        return None;
    }
    let mut reader = AnswerReader::new(Media::of(response.headers())).ok()?;
    while let Some(frame) = response.body_mut().frame().await {
        let Ok(piece) = frame.ok()?.into_data() else { continue };
        if let Some(answer) = reader.feed(&piece).ok()? {
            return Some(answer.protocol_version.to_string());
        }
    }
    reader.finish().ok().map(|answer| answer.protocol_version.to_string())
}
