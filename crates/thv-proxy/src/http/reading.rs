//! Bodies of requests: read once, bounded each and together.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::refusal::Refusal;
use super::settings::Times;

/// Room for the bodies of all requests in flight.
#[derive(Debug)]
pub(super) struct Room {
    bytes: Semaphore,
    whole: usize,
}

/// The part of it that one body takes, until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Taken<'a>(Option<SemaphorePermit<'a>>);

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        let whole = bytes.min(Semaphore::MAX_PERMITS);
        Self { bytes: Semaphore::new(whole), whole }
    }

    /// How many bytes are taken.
    pub(super) fn taken(&self) -> usize {
        self.whole.saturating_sub(self.bytes.available_permits())
    }

    /// Takes room for so many more bytes, for which it waits a while if there is none.
    async fn take<'a>(&'a self, more: usize, taken: &mut Taken<'a>, times: &Times) -> Result<(), Refusal> {
        let more = u32::try_from(more).map_err(|_| too_large())?;
        let permit = match self.bytes.try_acquire_many(more) {
            Ok(permit) => permit,
            Err(_) => match timeout(times.room, self.bytes.acquire_many(more)).await {
                Ok(Ok(permit)) => permit,
                Ok(Err(_)) | Err(_) => return Err(Refusal::overloaded()),
            },
        };
        match &mut taken.0 {
            Some(before) => before.merge(permit),
            none => *none = Some(permit),
        }
        Ok(())
    }
}

/// Reads a body to its end. Most come in one piece, which is not copied.
pub(super) async fn read<'a>(
    room: &'a Room,
    body: Incoming,
    limit: usize,
    times: &Times,
) -> Result<(Bytes, Taken<'a>), Refusal> {
    let mut taken = Taken::default();
    let length = body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if let Some(length) = length {
        if length > limit {
            return Err(too_large());
        }
        room.take(length, &mut taken, times).await?;
    }
    let bytes = timeout(times.body, pieces(room, body, limit, length, &mut taken, times)).await;
    let bytes = bytes.unwrap_or_else(|_| {
        Err(Refusal::invalid(StatusCode::REQUEST_TIMEOUT, "The body of the request took too long").closing())
    })?;
    Ok((bytes, taken))
}

async fn pieces<'a>(
    room: &'a Room,
    mut body: Incoming,
    limit: usize,
    length: Option<usize>,
    taken: &mut Taken<'a>,
    times: &Times,
) -> Result<Bytes, Refusal> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let cut =
            |_| Refusal::invalid(StatusCode::BAD_REQUEST, "The body of the request was cut off").closing();
        // Trailers are nothing that anybody here understands.
        let Ok(piece) = frame.map_err(cut)?.into_data() else { continue };
        if first.len() + all.len() + piece.len() > limit {
            return Err(too_large());
        }
        if length.is_none() {
            room.take(piece.len(), taken, times).await?;
        }
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.reserve(length.unwrap_or(first.len() + piece.len()));
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

fn too_large() -> Refusal {
    Refusal::invalid(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large").closing()
}
