//! JSON-RPC, as far as a server needs it.

use serde_json::{Map, Value, json};

pub(super) const SERVER_ERROR: i64 = -32000;
pub(super) const SESSION_NOT_FOUND: i64 = -32001;
pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const MISSING_CAPABILITY: i64 = -32021;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const PARSE_ERROR: i64 = -32700;

/// What a client has sent.
pub(super) enum Message {
    Request(Request),
    Notification(String),
    Response,
}

/// What wants an answer.
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// What went wrong.
#[derive(Debug)]
pub(super) struct Error {
    pub(super) code: i64,
    message: String,
    data: Option<Value>,
}

impl Error {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// As a whole document.
    pub(super) fn document(&self, id: Option<&Value>) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(data), Some(error)) = (&self.data, error.as_object_mut()) {
            error.insert("data".to_owned(), data.clone());
        }
        let mut document = json!({"jsonrpc": "2.0", "error": error});
        if let (Some(id), Some(document)) = (id, document.as_object_mut()) {
            document.insert("id".to_owned(), id.clone());
        }
        document
    }
}

impl Message {
    pub(super) fn read(body: &[u8]) -> Result<Self, Error> {
        let invalid = |why: &str| Error::new(INVALID_REQUEST, why);
        let document: Value =
            serde_json::from_slice(body).map_err(|error| Error::new(PARSE_ERROR, error.to_string()))?;
        let Value::Object(mut document) = document else {
            return Err(invalid("one message at a time"));
        };
        if document.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("this is not JSON-RPC 2.0"));
        }
        let id = document.remove("id");
        let method = match document.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return Err(invalid("a method is a text")),
            None if id.is_some() => return Ok(Self::Response),
            None => return Err(invalid("neither a call nor an answer")),
        };
        let params = match document.remove("params") {
            Some(Value::Object(params)) => params,
            None => Map::new(),
            Some(_) => return Err(invalid("parameters have names")),
        };
        match id {
            None => Ok(Self::Notification(method)),
            Some(id @ (Value::String(_) | Value::Number(_))) => {
                Ok(Self::Request(Request { id, method, params }))
            }
            Some(_) => Err(invalid("an id is a text or a number")),
        }
    }

    /// The name under which it is counted.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Request(request) => &request.method,
            Self::Notification(method) => method,
            Self::Response => "response",
        }
    }
}

/// The document that answers a request.
pub(super) fn document(id: &Value, outcome: Result<Value, Error>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => error.document(Some(id)),
    }
}
