//! What `params._meta` says about a request.

use crate::envelope::Flaw;
use crate::members::{Members, Unreadable, names};
use crate::text::Text;

names! {
    mod member {
        PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion",
        CLIENT_INFO = "io.modelcontextprotocol/clientInfo",
        CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities",
        TRACEPARENT = "traceparent",
        TRACESTATE = "tracestate",
        BAGGAGE = "baggage",
    }
}

/// What decides upon the era must be clear. Whose trace it is decides nothing.
const DECISIVE: u32 =
    1 << member::PROTOCOL_VERSION | 1 << member::CLIENT_INFO | 1 << member::CLIENT_CAPABILITIES;

/// What `params._meta` says about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The revision of the protocol that the request claims to be in.
    pub protocol_version: MetaVersion,
    /// Whether there is something about the client.
    pub client_info: bool,
    /// Whether there is something about what the client can do.
    pub client_capabilities: bool,
    /// W3C trace context: whose part the request is.
    pub traceparent: Option<Text>,
    /// W3C trace context: what vendors add.
    pub tracestate: Option<Text>,
    /// W3C baggage.
    pub baggage: Option<Text>,
}

/// The revision that a request claims to be in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MetaVersion {
    /// None is claimed.
    #[default]
    Absent,
    /// This one, which may be empty.
    Text(Text),
    /// There is something, but it is no text.
    NotText,
}

impl Meta {
    pub(crate) fn of(json: Option<&str>) -> Result<Self, Flaw> {
        let Some(json) = json else { return Ok(Self::default()) };
        let members = Members::of(json, &member::NAMES)?;
        if members.is_unclear(DECISIVE) {
            return Err(Flaw::Params);
        }
        let protocol_version =
            match (members.json(member::PROTOCOL_VERSION), members.text(member::PROTOCOL_VERSION)?) {
                (None, _) => MetaVersion::Absent,
                (Some(_), Some(text)) => MetaVersion::Text(Text::from(&*text)),
                (Some(_), None) => MetaVersion::NotText,
            };
        let trace = |index| -> Result<Option<Text>, Unreadable> {
            Ok(members.text(index)?.map(|text| Text::from(&*text)))
        };
        Ok(Self {
            protocol_version,
            client_info: members.json(member::CLIENT_INFO).is_some(),
            client_capabilities: members.json(member::CLIENT_CAPABILITIES).is_some(),
            traceparent: trace(member::TRACEPARENT)?,
            tracestate: trace(member::TRACESTATE)?,
            baggage: trace(member::BAGGAGE)?,
        })
    }

    /// Whether something here is found in requests of the modern era only, however malformed.
    pub(crate) fn is_modern_signal(&self) -> bool {
        self.protocol_version != MetaVersion::Absent || self.client_info || self.client_capabilities
    }

    /// The revision that is claimed, if it says anything.
    pub(crate) fn version(&self) -> Option<&str> {
        match &self.protocol_version {
            MetaVersion::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}
