//! Putting another URL into the `endpoint` event of a stream.

use bytes::{Bytes, BytesMut};

use super::event::{Splitter, data, lines, name, without_mark};
use super::forwarded::{Forwarded, prefix};
use super::{endpoint, session_of};

/// An event that is longer is passed on as it comes.
const LIMIT: usize = 64 * 1024;

/// Reads a stream up to its first `endpoint` event and replaces the URL in that one. All else goes through as it
/// is, byte for byte.
pub struct EndpointRewriter {
    /// The path of the request that the stream answers.
    base: Box<str>,
    prefix: Option<Box<str>>,
    forwarded: Forwarded,
    splitter: Splitter,
    state: State,
    /// Whether what is read next is the beginning of the stream.
    first: bool,
}

enum State {
    /// An event whose end is not here yet.
    Reading(BytesMut),
    /// An event too long to be the one; its end is awaited.
    Passing,
    /// It was found.
    Done,
}

/// What became of a piece of a stream. First `head` is to be sent on, then `tail`; each may be empty.
#[derive(Debug)]
pub struct Rewritten {
    /// What was held back and is ready now.
    pub head: Bytes,
    /// What needs no looking at any more.
    pub tail: Bytes,
    /// What the server told the client, when this piece completes that. It is in `head`.
    pub endpoint: Option<Endpoint>,
}

/// Where the client is told to POST to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The session, as [`session_of`] will find it in the targets of POSTs.
    pub session: Box<str>,
    /// The URL as the client sees it.
    pub url: Box<str>,
}

/// The server told the client an endpoint that is no URL, that leads elsewhere or is endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's endpoint event has no URL that leads back to it")]
pub struct BadEndpoint;

impl EndpointRewriter {
    /// For the stream that answers a GET of `path`. The configured prefix, if any, beats the forwarded one.
    pub fn new(path: &str, configured_prefix: &str, forwarded: Forwarded) -> Self {
        Self {
            base: path.into(),
            prefix: prefix(configured_prefix).or_else(|| forwarded.prefix.clone()),
            forwarded,
            splitter: Splitter::new(),
            state: State::Reading(BytesMut::new()),
            first: true,
        }
    }

    /// Takes the next piece of the stream. What it holds back of an unfinished event is bounded.
    pub fn feed(&mut self, mut chunk: Bytes) -> Result<Rewritten, BadEndpoint> {
        let mut head = BytesMut::new();
        while !matches!(self.state, State::Done) {
            let Some(end) = self.splitter.end(&chunk) else {
                self.hold(&chunk, &mut head)?;
                return Ok(Rewritten { head: head.freeze(), tail: Bytes::new(), endpoint: None });
            };
            let piece = chunk.split_to(end);
            let endpoint = self.complete(&piece, &mut head)?;
            if endpoint.is_some() {
                self.state = State::Done;
                return Ok(Rewritten { head: head.freeze(), tail: chunk, endpoint });
            }
        }
        Ok(Rewritten { head: Bytes::new(), tail: chunk, endpoint: None })
    }

    /// What is left when the stream ends within an event.
    pub fn finish(self) -> Bytes {
        match self.state {
            State::Reading(held) => held.freeze(),
            State::Passing | State::Done => Bytes::new(),
        }
    }

    fn hold(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), BadEndpoint> {
        let State::Reading(held) = &mut self.state else {
            out.extend_from_slice(chunk);
            return Ok(());
        };
        held.extend_from_slice(chunk);
        if held.len() > LIMIT {
            if name(without_mark(held)) == Some(b"endpoint") {
                return Err(BadEndpoint);
            }
            out.unsplit(held.split());
            self.state = State::Passing;
        }
        Ok(())
    }

    /// Takes the last piece of an event.
    fn complete(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<Option<Endpoint>, BadEndpoint> {
        let first = std::mem::take(&mut self.first);
        let State::Reading(held) = &mut self.state else {
            out.extend_from_slice(piece);
            self.state = State::Reading(BytesMut::new());
            return Ok(None);
        };
        held.extend_from_slice(piece);
        let whole = held.split().freeze();
        let event = if first { without_mark(&whole) } else { &whole };
        let url = if name(event) == Some(b"endpoint") { data(event) } else { None };
        let Some(url) = url else {
            out.extend_from_slice(&whole);
            return Ok(None);
        };
        let endpoint = self.endpoint(&url)?;
        out.extend_from_slice(whole.get(..whole.len() - event.len()).unwrap_or_default());
        replace_data(event, &endpoint.url, out);
        Ok(Some(endpoint))
    }

    fn endpoint(&self, data: &[u8]) -> Result<Endpoint, BadEndpoint> {
        // Line feeds stay: where there are several data lines, there is no URL.
        let reference = std::str::from_utf8(data).map_err(|_| BadEndpoint)?.trim_matches([' ', '\t']);
        let target = endpoint::target(reference, &self.base).ok_or(BadEndpoint)?;
        let session = session_of(&target).map_err(|_| BadEndpoint)?;
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let url = match (&self.forwarded.host, self.forwarded.scheme) {
            (None, _) => format!("{prefix}{target}"),
            (Some(host), None) => format!("//{host}{prefix}{target}"),
            (Some(host), Some(scheme)) => format!("{scheme}://{host}{prefix}{target}"),
        };
        Ok(Endpoint { session, url: url.into() })
    }
}

/// The event with another URL in its only data line.
fn replace_data(event: &[u8], url: &str, out: &mut BytesMut) {
    for line in lines(event) {
        if line.value("data").is_some() {
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(url.as_bytes());
        } else {
            out.extend_from_slice(line.content);
        }
        out.extend_from_slice(line.end);
    }
}
