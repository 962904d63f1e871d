//! The two eras of MCP.

use http::HeaderMap;

use crate::headers;
use crate::message::Message;
use crate::method::Method;

/// The revision with which the modern era begins.
pub const MODERN_VERSION: &str = "2026-07-28";

/// How a request is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// There are sessions, and they begin with `initialize`.
    Legacy,
    /// Each request stands for itself.
    Modern,
}

/// The era of what was sent: of a POST by its message and headers, of anything else by its headers.
///
/// A request that tries to be modern and fails is modern: what is wrong with it is for the server to say.
pub fn era(message: Option<&Message>, headers: &HeaderMap) -> Era {
    let header = headers.get(headers::PROTOCOL_VERSION).map(http::HeaderValue::as_bytes);
    let modern_header = header == Some(MODERN_VERSION.as_bytes());
    let modern = match message {
        Some(Message::Request(call)) => {
            let signal = modern_header || call.meta.is_modern_signal();
            // There are clients that describe themselves the modern way and mean a legacy revision. Their header
            // says so, unless the message itself claims a revision.
            let denied = call.meta.version().is_none() && header.is_some() && !modern_header;
            call.method != Method::Initialize && signal && !denied
        }
        Some(Message::Notification(_) | Message::Response(_)) | None => modern_header,
    };
    if modern { Era::Modern } else { Era::Legacy }
}
