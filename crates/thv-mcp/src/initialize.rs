//! What it takes to begin a session anew in the client's name.

use bytes::BytesMut;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::envelope::{Envelope, params};
use crate::headers::Media;
use crate::sse::{Splitter, data, without_mark};
use crate::text::Text;

/// The notification that completes a handshake.
pub const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Longer answers to `initialize` are not read.
pub const ANSWER_LIMIT: usize = 1024 * 1024;

/// The revision of the protocol that an `initialize` request asks for.
pub fn requested_version(body: &[u8]) -> Option<Text> {
    let version = Envelope::of(body).ok()?.params.text(params::PROTOCOL_VERSION).ok()?;
    version.map(|version| Text::from(&*version))
}

/// What a server answered to `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The revision of the protocol that the server chose.
    pub protocol_version: Text,
}

/// Why an answer is no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is neither JSON nor a stream of events.
    #[error("the answer to initialize is neither JSON nor a stream of events")]
    Media,
    /// It is longer than [`ANSWER_LIMIT`].
    #[error("the answer to initialize is too long")]
    TooLong,
    /// The server refused, with an error.
    #[error("the server refused to initialize")]
    Refused,
    /// It ended without an answer, or the answer has no revision.
    #[error("the server did not answer initialize as MCP has it")]
    NotAnAnswer,
}

/// Reads the answer to `initialize`, whichever of the two forms it has, as it comes.
pub struct AnswerReader {
    /// Nothing for plain JSON, which has its end where the body has it.
    splitter: Option<Splitter>,
    held: BytesMut,
    read: usize,
    first: bool,
}

impl AnswerReader {
    /// For a body of that kind.
    pub fn new(media: Media) -> Result<Self, Unusable> {
        let splitter = match media {
            Media::Json => None,
            Media::EventStream => Some(Splitter::new()),
            Media::Other => return Err(Unusable::Media),
        };
        Ok(Self { splitter, held: BytesMut::new(), read: 0, first: true })
    }

    /// Takes the next piece of the body, and gives the answer if it is complete; then nothing more is needed.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Result<Option<Answer>, Unusable> {
        self.read = self.read.saturating_add(chunk.len());
        if self.read > ANSWER_LIMIT {
            return Err(Unusable::TooLong);
        }
        while let Some(end) = self.splitter.as_mut().and_then(|splitter| splitter.end(chunk)) {
            let (piece, rest) = chunk.split_at_checked(end).unwrap_or((chunk, &[]));
            self.held.extend_from_slice(piece);
            let whole = self.held.split();
            let event = if std::mem::take(&mut self.first) { without_mark(&whole) } else { &whole };
            if let Some(answer) = data(event).and_then(|data| answer(&data)) {
                return answer.map(Some);
            }
            chunk = rest;
        }
        self.held.extend_from_slice(chunk);
        Ok(None)
    }

    /// The body is complete.
    pub fn finish(self) -> Result<Answer, Unusable> {
        // An event without its end is no event.
        let plain = self.splitter.is_none().then_some(self.held);
        plain.and_then(|body| answer(&body)).unwrap_or(Err(Unusable::NotAnAnswer))
    }
}

/// The answer that a message is. Nothing when it is another kind of message, of which streams may have some.
fn answer(message: &[u8]) -> Option<Result<Answer, Unusable>> {
    #[derive(Deserialize)]
    struct Response {
        method: Option<IgnoredAny>,
        result: Option<Initialized>,
        error: Option<IgnoredAny>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: Option<String>,
    }

    let response: Response = serde_json::from_slice(message).ok()?;
    match response {
        Response { method: Some(_), .. } => None,
        Response { error: Some(_), .. } => Some(Err(Unusable::Refused)),
        Response { result, .. } => {
            let version = result.and_then(|result| result.protocol_version);
            Some(
                version
                    .map(|version| Answer { protocol_version: version.as_str().into() })
                    .ok_or(Unusable::NotAnAnswer),
            )
        }
    }
}
