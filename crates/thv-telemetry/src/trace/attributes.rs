//! What a span says about a request and its answer.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version};
use opentelemetry::{KeyValue, Value};

use super::text::{ATTRIBUTE, arguments, shorten};
use crate::metrics::{known_version, network_transport};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// A request, as a span tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The HTTP method.
    pub verb: &'a Method,
    /// Path and query.
    pub uri: &'a Uri,
    /// `http` or `https`, as the client used it.
    pub scheme: &'a str,
    /// Host and port, as the client named them.
    pub host: Option<&'a str>,
    /// The HTTP version.
    pub version: Version,
    /// All headers. User agent, session id and protocol version are taken from them.
    pub headers: &'a HeaderMap,
    /// Bytes of the body, if known.
    pub body: Option<u64>,
    /// Who asked.
    pub client: Option<SocketAddr>,
    /// What was asked.
    pub content: Content<'a>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A message that was understood.
    Message(Message<'a>),
    /// The opening of a stream of the older transport.
    Stream,
    /// Anything else.
    Other,
}

/// A message, as a span tells of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    /// The MCP method.
    pub method: &'a str,
    /// The id, as JSON.
    pub id: Option<&'a str>,
    /// What the method is about.
    pub resource: Option<&'a str>,
    /// Name of the client, if the message says it.
    pub client: Option<&'a str>,
    /// Arguments of a tool, as JSON. Only worth finding if the span is sampled.
    pub arguments: Option<&'a str>,
}

/// An answer, as a span tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// The HTTP status.
    pub status: StatusCode,
    /// Bytes of the body, if known.
    pub body: Option<u64>,
    /// How long it took.
    pub duration: Duration,
}

/// What does not change from span to span.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) server: String,
    pub(super) transport: String,
    /// Whether the older names are wanted as well.
    pub(super) legacy: bool,
    /// `environment.<VARIABLE>`.
    pub(super) environment: Vec<KeyValue>,
}

/// The name of a span.
pub(super) fn name(asked: &Asked<'_>) -> String {
    match asked.content {
        Content::Stream => "sse.connection_established".to_owned(),
        Content::Other => {
            let path = shorten(asked.uri.path(), ATTRIBUTE);
            format!("{} {path}", asked.verb)
        }
        Content::Message(Message { method, resource, .. }) => {
            let method = shorten(method, ATTRIBUTE);
            match resource.filter(|resource| !resource.is_empty()) {
                Some(resource) => format!("{method} {}", shorten(resource, ATTRIBUTE)),
                None => method.into_owned(),
            }
        }
    }
}

/// Attributes, each under its name and, where wanted, its older name.
struct Attributes {
    list: Vec<KeyValue>,
    legacy: bool,
}

impl Attributes {
    fn add(&mut self, name: &'static str, older: &'static str, value: impl Into<Value>) {
        let value = value.into();
        if self.legacy && !older.is_empty() {
            self.list.push(KeyValue::new(older, value.clone()));
        }
        if !name.is_empty() {
            self.list.push(KeyValue::new(name, value));
        }
    }

    fn text(&mut self, name: &'static str, older: &'static str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.add(name, older, shorten(value, ATTRIBUTE).into_owned());
        }
    }

    fn number(&mut self, name: &'static str, older: &'static str, value: Option<u64>) {
        if let Some(value) = value.and_then(|value| i64::try_from(value).ok()) {
            self.add(name, older, value);
        }
    }
}

/// What a span says about a request.
pub(super) fn of_request(asked: &Asked<'_>, constant: &Constant) -> Vec<KeyValue> {
    let Asked { verb, uri, scheme, host, version, headers, body, client, content } = *asked;
    let mut list = Attributes { list: Vec::with_capacity(32), legacy: constant.legacy };
    let header = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let full = format!("{scheme}://{}{target}", host.unwrap_or_default());
    list.text("http.request.method", "http.method", Some(verb.as_str()));
    list.text("url.full", "http.url", Some(&full));
    list.text("url.scheme", "http.scheme", Some(scheme));
    list.text("url.path", "http.target", Some(uri.path()));
    list.text("url.query", "http.query", uri.query());
    list.text("server.address", "http.host", host);
    list.text("user_agent.original", "http.user_agent", header(&USER_AGENT));
    list.number("http.request.body.size", "http.request_content_length", body);
    list.text("mcp.session.id", "", header(&SESSION));
    list.text("mcp.protocol.version", "", header(&PROTOCOL));
    list.text("mcp.server.name", "", Some(&constant.server));
    list.text("", "mcp.transport", Some(&constant.transport));
    list.add("network.transport", "", network_transport(&constant.transport));
    list.add("network.protocol.name", "", "http");
    list.add("network.protocol.version", "", known_version(version));
    if constant.transport == "sse" {
        list.add("mcp.backend.protocol.version", "", "1.1");
    }
    if let Some(client) = client {
        list.add("client.address", "", client.ip().to_string());
        list.add("client.port", "", i64::from(client.port()));
    }
    if let Content::Message(message) = content {
        of_message(&message, &mut list);
    }
    list.list.extend(constant.environment.iter().cloned());
    list.list
}

fn of_message(message: &Message<'_>, list: &mut Attributes) {
    let Message { method, id, resource, client, arguments: json } = *message;
    list.text("mcp.method.name", "mcp.method", Some(method));
    list.add("rpc.system.name", "rpc.system", "jsonrpc");
    list.add("", "rpc.service", "mcp");
    list.add("jsonrpc.protocol.version", "", "2.0");
    let id = id.map(plain);
    list.text("jsonrpc.request.id", "mcp.request.id", id.as_deref());
    list.text("", "mcp.resource.id", resource);
    list.text("mcp.client.name", "", client);
    match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            list.text("mcp.resource.uri", "", resource);
        }
        "tools/call" => {
            list.add("gen_ai.operation.name", "", "execute_tool");
            list.text("gen_ai.tool.name", "mcp.tool.name", resource);
            let arguments = json.and_then(arguments);
            list.text("gen_ai.tool.call.arguments", "mcp.tool.arguments", arguments.as_deref());
        }
        "prompts/get" => list.text("gen_ai.prompt.name", "mcp.prompt.name", resource),
        _ => {}
    }
}

/// An id without its quotes.
fn plain(json: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// What a span says about an answer.
pub(super) fn of_answer(answered: &Answered, constant: &Constant) -> Vec<KeyValue> {
    let Answered { status, body, duration } = *answered;
    let mut list = Attributes { list: Vec::with_capacity(6), legacy: constant.legacy };
    list.add("http.response.status_code", "http.status_code", i64::from(status.as_u16()));
    list.number("http.response.body.size", "http.response_content_length", body);
    list.add("", "http.duration_ms", duration.as_secs_f64() * 1000.0);
    if status.is_server_error() {
        list.add("error.type", "", status.as_str().to_owned());
    }
    list.list
}
