//! Errors as clients see them.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::message::Id;

/// Codes of JSON-RPC and MCP.
pub mod codes {
    /// The body is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The body is no message, or the message is not welcome.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Nobody knows the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong, or the metadata that the modern era requires is missing.
    pub const INVALID_PARAMS: i64 = -32602;
    /// It did not work.
    pub const INTERNAL: i64 = -32603;
    /// The session is unknown; the client initialises anew.
    pub const SESSION_NOT_FOUND: i64 = -32001;
    /// Headers and body say different things.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client does not say that it can do what the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The revision of the protocol is not supported.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// An error to answer with.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// One of [`codes`].
    pub code: i64,
    /// For people.
    pub message: Cow<'static, str>,
    /// For programs. Most errors have none, and errors are handed on from function to function.
    pub data: Option<Box<Value>>,
}

/// Why something did not work, in words that programs may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No connection to the server.
    BackendUnreachable,
    /// The server went away, and with it what it knew.
    BackendLost,
    /// Nobody can say whether the session exists.
    SessionStoreUnavailable,
    /// Too much at once.
    Overloaded,
}

impl Cause {
    /// As it stands in `data.cause`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BackendUnreachable => "backend_unreachable",
            Self::BackendLost => "backend_lost",
            Self::SessionStoreUnavailable => "session_store_unavailable",
            Self::Overloaded => "overloaded",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::BackendUnreachable => "The MCP server cannot be reached",
            Self::BackendLost => "The connection to the MCP server was lost",
            Self::SessionStoreUnavailable => "The session store is unavailable",
            Self::Overloaded => "Too many requests at once",
        }
    }
}

impl Error {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Something did not work, and that is why.
    pub fn internal(cause: Cause) -> Self {
        let data = Some(Box::new(json!({ "cause": cause.as_str() })));
        Self { data, ..Self::new(codes::INTERNAL, cause.message()) }
    }

    /// The session is unknown, or it is somebody else's, which is the same for who asks.
    pub fn session_not_found() -> Self {
        Self::new(codes::SESSION_NOT_FOUND, "Session not found")
    }

    /// The answer to the request with that id. Without one there is no `id` in it, not even null.
    pub fn body(&self, id: Option<&Id>) -> Bytes {
        #[derive(Serialize)]
        struct Answer<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a RawValue>,
            error: Body<'a>,
        }

        #[derive(Serialize)]
        struct Body<'a> {
            code: i64,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Value>,
        }

        let Self { code, message, data } = self;
        let error = Body { code: *code, message, data: data.as_deref() };
        let id = id.and_then(|id| serde_json::from_str(id.raw()).ok());
        serde_json::to_vec(&Answer { jsonrpc: "2.0", id, error }).unwrap_or_default().into()
    }
}

/// The code of the error that a server answered with, if that is what `body` is.
pub fn error_code(body: &[u8]) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Answer {
        error: Body,
    }

    #[derive(serde::Deserialize)]
    struct Body {
        code: i64,
    }

    serde_json::from_slice::<Answer>(body).ok().map(|answer| answer.error.code)
}
