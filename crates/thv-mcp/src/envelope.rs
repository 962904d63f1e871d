//! The strict reading of an envelope.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize as _, Deserializer as _};
use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::depth;
use crate::error::{Error, codes};
use crate::members::{Members, Name, Object, Spelling, Unreadable, names};
use crate::message::{Call, Id, Message};
use crate::meta::Meta;
use crate::method::Method;
use crate::resource::Resource;

/// Why a body is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON.
    #[error("the body is not JSON")]
    Syntax,
    /// It is an array, whatever is in it.
    #[error("JSON-RPC batch requests are not supported (batching was removed in MCP revision 2025-06-18)")]
    Batch,
    /// It is JSON, but no message or not clearly one.
    #[error("invalid JSON-RPC 2.0 message: {0}")]
    Envelope(Flaw),
}

/// What is wrong with an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is no object.
    #[error("not an object")]
    NotAnObject,
    /// Objects and arrays are nested too deeply.
    #[error("nested too deeply")]
    TooDeep,
    /// A member of the envelope stands twice, or in another spelling.
    #[error("a member is there twice, or in another case")]
    Repeated,
    /// A member of `params` that decides something stands twice or in another spelling, or `params` is no object.
    #[error("params is not an object, or says something twice or in another case")]
    Params,
    /// A text that decides something is no Unicode.
    #[error("a text is not Unicode")]
    Unreadable,
    /// The version is missing or another.
    #[error("jsonrpc is not \"2.0\"")]
    Version,
    /// The id is missing in an answer, or neither a string nor an integer.
    #[error("the id is neither a string nor an integer")]
    Id,
    /// The method is empty or no text.
    #[error("the method is not a text")]
    Method,
    /// It asks and answers, or does neither.
    #[error("neither a request nor a notification nor a response")]
    Kind,
}

impl From<Unreadable> for Flaw {
    fn from(Unreadable: Unreadable) -> Self {
        Self::Unreadable
    }
}

impl Malformed {
    /// What the sender is told. There is no id in it: that of a body which is not clear is not clear either.
    pub fn error(&self) -> Error {
        let code = match self {
            Self::Syntax => codes::PARSE_ERROR,
            Self::Batch | Self::Envelope(_) => codes::INVALID_REQUEST,
        };
        Error::new(code, self.to_string())
    }
}

/// Reads a message once and for all.
///
/// It takes one pass over the body, and copies nothing but the few small texts that end up in the message. A
/// member that stands twice or in another case is refused where something is decided by it: readers differ in
/// which one they believe, and the server must not act on another one than we decided on. So is it with texts that
/// are no Unicode. Whatever else is in the body, the arguments above all, is only checked to be JSON.
pub fn decode(body: &[u8]) -> Result<Message, Malformed> {
    Envelope::of(body)?.message().map_err(Malformed::Envelope)
}

names! {
    mod member {
        JSONRPC = "jsonrpc",
        ID = "id",
        METHOD = "method",
        PARAMS = "params",
        RESULT = "result",
        ERROR = "error",
    }
}

names! {
    /// The members of `params` that something is decided by, here or in a policy.
    pub(crate) mod params {
        META = "_meta",
        NAME = "name",
        URI = "uri",
        ARGUMENTS = "arguments",
        CURSOR = "cursor",
        LEVEL = "level",
        REF = "ref",
        MESSAGE = "message",
        MODEL_PREFERENCES = "modelPreferences",
        SYSTEM_PROMPT = "systemPrompt",
        TASK_ID = "taskId",
        PROGRESS_TOKEN = "progressToken",
        REQUEST_ID = "requestId",
        ELICITATION_ID = "elicitationId",
        METHOD = "method",
        CLIENT_INFO = "clientInfo",
        PROTOCOL_VERSION = "protocolVersion",
        TASK = "task",
    }
}

/// What was found in `params`.
pub(crate) type Params<'a> = Members<'a, { params::NAMES.len() }>;

/// An envelope of which only the syntax is known to be right.
pub(crate) struct Envelope<'a> {
    members: Members<'a, { member::NAMES.len() }>,
    pub(crate) params: Params<'a>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn of(body: &'a [u8]) -> Result<Self, Malformed> {
        let first = body.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        if first == Some(&b'[') {
            return Err(Malformed::Batch);
        }
        let text = std::str::from_utf8(body).map_err(|_| Malformed::Syntax)?;
        if depth::is_excessive(body) {
            return Err(Malformed::Envelope(Flaw::TooDeep));
        }
        let mut json = Deserializer::from_str(text);
        if first != Some(&b'{') {
            IgnoredAny::deserialize(&mut json).and_then(|_| json.end()).map_err(|_| Malformed::Syntax)?;
            return Err(Malformed::Envelope(Flaw::NotAnObject));
        }
        let envelope =
            json.deserialize_map(EnvelopeVisitor).and_then(|envelope| json.end().map(|()| envelope));
        envelope.map_err(|error| match error.classify() {
            // The only thing that can be of a wrong type: everything else is taken as it comes.
            Category::Data => Malformed::Envelope(Flaw::Params),
            Category::Io | Category::Syntax | Category::Eof => Malformed::Syntax,
        })
    }

    fn message(&self) -> Result<Message, Flaw> {
        if self.members.is_unclear(u32::MAX) {
            return Err(Flaw::Repeated);
        }
        if self.members.text(member::JSONRPC)?.as_deref() != Some("2.0") {
            return Err(Flaw::Version);
        }
        let there = |index| self.members.json(index).filter(|json| *json != "null");
        let id = there(member::ID).map(Id::of).transpose()?;
        let answers = there(member::RESULT).is_some() || there(member::ERROR).is_some();
        if self.members.json(member::METHOD).is_none() {
            // A result may well be null; an answer without an id answers nothing.
            let answers = answers || self.members.json(member::RESULT).is_some();
            return if answers { id.map(Message::Response).ok_or(Flaw::Id) } else { Err(Flaw::Kind) };
        }
        if answers {
            return Err(Flaw::Kind);
        }
        let method = self.members.text(member::METHOD)?.filter(|method| !method.is_empty());
        let call = self.call(id, Method::from(&*method.ok_or(Flaw::Method)?))?;
        Ok(if call.id.is_some() { Message::Request(call) } else { Message::Notification(call) })
    }

    fn call(&self, id: Option<Id>, method: Method) -> Result<Call, Flaw> {
        // Of a method that we do not know, nobody here reads more than this.
        let decisive = if matches!(method, Method::Other(_)) { 1 << params::META } else { u32::MAX };
        if self.params.is_unclear(decisive) {
            return Err(Flaw::Params);
        }
        let resource = Resource::of(&method, &self.params)?;
        let meta = Meta::of(self.params.json(params::META))?;
        let as_task = self.params.json(params::TASK).is_some_and(|json| json != "null");
        Ok(Call { id, method, resource, meta, as_task })
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an envelope")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope { members: Members::NONE, params: Params::NONE };
        while let Some(spelling) = map.next_key_seed(Name(&member::NAMES))? {
            let json = if spelling == Spelling::Exact(member::PARAMS) {
                envelope.params = map.next_value_seed(Object(&params::NAMES))?;
                ""
            } else {
                map.next_value::<&RawValue>()?.get()
            };
            envelope.members.meet(spelling, json);
        }
        Ok(envelope)
    }
}
