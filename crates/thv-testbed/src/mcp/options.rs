//! What kind of server it is to be.

use std::net::{Ipv4Addr, SocketAddr};

/// How clients speak to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// One address for everything, since 2025-03-26.
    #[default]
    StreamableHttp,
    /// A stream and an address for messages, of 2024-11-05.
    Sse,
}

/// What a request to `streamable-http` may look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eras {
    /// With and without sessions.
    #[default]
    Both,
    /// With `initialize` and sessions, up to 2025-11-25.
    Legacy,
    /// Every request for itself, 2026-07-28.
    Modern,
}

/// How requests to `streamable-http` are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// As one JSON document.
    #[default]
    Json,
    /// As a stream of events, the last of which is the answer.
    Events,
}

/// How `sse` tells where messages go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endpoint {
    /// By a path.
    #[default]
    Path,
    /// With the scheme and the host that the client has used.
    Absolute,
}

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen. Port 0 is any.
    pub address: SocketAddr,
    /// How clients speak to it.
    pub transport: Transport,
    /// For `streamable-http`.
    pub eras: Eras,
    /// For `streamable-http`.
    pub answers: Answers,
    /// Whether `initialize` makes a session in the Legacy era.
    pub has_sessions: bool,
    /// Whether a session serves only after `notifications/initialized`.
    pub is_strict: bool,
    /// What `whoami` calls it.
    pub name: String,
    /// The path of `streamable-http`.
    pub path: String,
    /// How `sse` names the session in its address for messages.
    pub session_parameter: String,
    /// For `sse`.
    pub endpoint: Endpoint,
    /// Whether requests are kept for [`seen`](super::McpServer::seen). A long test would keep many.
    pub record: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            transport: Transport::default(),
            eras: Eras::default(),
            answers: Answers::default(),
            has_sessions: true,
            is_strict: true,
            name: "mcp-server".to_owned(),
            path: "/mcp".to_owned(),
            session_parameter: "sessionId".to_owned(),
            endpoint: Endpoint::default(),
            record: true,
        }
    }
}

impl Options {
    /// The path that a client has to know.
    pub(super) fn entrance(&self) -> &str {
        match self.transport {
            Transport::StreamableHttp => &self.path,
            Transport::Sse => super::sse::STREAM,
        }
    }
}
