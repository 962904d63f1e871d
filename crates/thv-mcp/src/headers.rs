//! The headers of MCP, and whether they say what the body says.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::json;

use crate::era::Era;
use crate::error::{Error, codes};
use crate::message::Message;

/// The session that a request belongs to.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision of the protocol.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method, once more.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The name of the tool or prompt, or the URI of the resource, once more.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Where in a stream the client was when it lost it.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a body claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`
    Json,
    /// `text/event-stream`
    EventStream,
    /// Something else, or nobody knows.
    Other,
}

impl Media {
    /// By the only `Content-Type`. Parameters do not matter, nor does case.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(header::CONTENT_TYPE).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return Self::Other };
        let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if essence.eq_ignore_ascii_case(b"application/json") {
            Self::Json
        } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Self::EventStream
        } else {
            Self::Other
        }
    }
}

/// A header that contradicts the body, or itself.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderMismatch {
    header: &'static str,
    /// What header and body say. Nothing when the header is there more than once.
    said: Option<(String, String)>,
}

impl HeaderMismatch {
    /// What the client is told.
    pub fn error(&self) -> Error {
        let said = self.said.as_ref().map(|(header, body)| json!({ "header": header, "body": body }));
        Error { data: said.map(Box::new), ..Error::new(codes::HEADER_MISMATCH, self.to_string()) }
    }

    fn unlike(header: &'static str, value: &HeaderValue, body: &str) -> Self {
        let value = String::from_utf8_lossy(value.as_bytes());
        Self { header, said: Some((beginning(&value), beginning(body))) }
    }
}

/// Both sides can be long, and who is told knows them anyway.
fn beginning(text: &str) -> String {
    text.chars().take(100).collect()
}

impl fmt::Display for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = if self.said.is_some() { "does not match the body" } else { "is there more than once" };
        write!(f, "Header mismatch: {} {problem}", self.header)
    }
}

/// Without the values: names and URIs are the client's business.
impl fmt::Debug for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for HeaderMismatch {}

/// Refuses headers that some between client and server would believe one thing by, and the server another.
///
/// A header that is missing, or that repeats something which the body does not have, passes: what is required is
/// for the server to say.
pub fn check_headers<'a>(
    message: impl Into<Option<&'a Message>>,
    era: Era,
    headers: &HeaderMap,
) -> Result<(), HeaderMismatch> {
    let version = only(headers, &PROTOCOL_VERSION, "MCP-Protocol-Version")?;
    let method = only(headers, &METHOD, "Mcp-Method")?;
    let name = only(headers, &NAME, "Mcp-Name")?;
    if era == Era::Modern
        && let Some(call) = message.into().and_then(Message::call)
    {
        version.agrees_with(call.meta.version(), is)?;
        method.agrees_with(Some(call.method.as_str()), is)?;
        name.agrees_with(call.name(), is_or_encodes)?;
    }
    Ok(())
}

/// A header that is there once at most.
struct Only<'a> {
    header: &'static str,
    value: Option<&'a HeaderValue>,
}

fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    header: &'static str,
) -> Result<Only<'a>, HeaderMismatch> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(HeaderMismatch { header, said: None });
    }
    Ok(Only { header, value })
}

impl Only<'_> {
    fn agrees_with(&self, body: Option<&str>, same: fn(&[u8], &str) -> bool) -> Result<(), HeaderMismatch> {
        match (self.value, body) {
            (Some(value), Some(body)) if !same(value.as_bytes(), body) => {
                Err(HeaderMismatch::unlike(self.header, value, body))
            }
            _ => Ok(()),
        }
    }
}

fn is(value: &[u8], body: &str) -> bool {
    value == body.as_bytes()
}

/// What a header cannot carry comes in Base64 between two marks. There is one way to encode a text, so instead of
/// decoding what came, what should have come is encoded.
fn is_or_encodes(value: &[u8], body: &str) -> bool {
    let encoded = value.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?="));
    encoded.map_or_else(|| is(value, body), |encoded| encodes(encoded, body.as_bytes()))
}

fn encodes(encoded: &[u8], plain: &[u8]) -> bool {
    encoded.len() == 4 * plain.len().div_ceil(3)
        && encoded.chunks(4).zip(plain.chunks(3)).all(|(four, three)| four == base64(three))
}

/// The four letters for up to three bytes.
fn base64(three: &[u8]) -> [u8; 4] {
    let byte = |index: usize| three.get(index).copied().unwrap_or(0);
    let (first, second, third) = (byte(0), byte(1), byte(2));
    let letters =
        [first >> 2, first << 4 & 0x30 | second >> 4, second << 2 & 0x3c | third >> 6, third & 0x3f];
    let mut four = letters.map(|bits| match bits {
        0..=25 => b'A' + bits,
        26..=51 => b'a' + bits - 26,
        52..=61 => b'0' + bits - 52,
        62 => b'+',
        _ => b'/',
    });
    four.iter_mut().skip(three.len() + 1).for_each(|letter| *letter = b'=');
    four
}
