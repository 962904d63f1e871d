//! What is counted of every request.

use std::collections::HashSet;
use std::hash::{Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use hashbrown::{Equivalent, HashMap};
use http::{Method, StatusCode, Version};

use super::family::Family;
use super::histogram::Histogram;
use super::label::{self, OTHER};

/// Resources that get a label of their own.
const RESOURCES: usize = 1_000;
/// MCP methods that get one. A client can make methods up.
const METHODS: usize = 100;
/// Combinations of everything. Beyond them, resources are no longer told apart.
const COMBINATIONS: usize = 8_192;

/// A request that ended.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The HTTP method.
    pub verb: &'a Method,
    /// The status that was answered.
    pub status: StatusCode,
    /// The HTTP version of the request.
    pub version: Version,
    /// The MCP method, if the body was understood.
    pub method: Option<&'a str>,
    /// What the MCP method is about: the name of a tool or prompt, the URI of a resource and so on.
    pub resource: Option<&'a str>,
    /// How long it took.
    pub duration: Duration,
}

/// What tells one combination from another.
#[derive(Clone, Copy, Hash)]
struct Key<'a> {
    verb: &'static str,
    status: u16,
    version: &'static str,
    /// Nothing if the body was not understood.
    method: Option<&'a str>,
    resource: &'a str,
}

/// The same with texts of its own. It has the same fields in the same order, so that both have the same hash.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OwnKey {
    verb: &'static str,
    status: u16,
    version: &'static str,
    method: Option<Box<str>>,
    resource: Box<str>,
}

impl Equivalent<OwnKey> for Key<'_> {
    fn equivalent(&self, own: &OwnKey) -> bool {
        let OwnKey { verb, status, version, method, resource } = own;
        self.status == *status
            && self.verb == *verb
            && self.version == *version
            && self.method == method.as_deref()
            && self.resource == resource.as_ref()
    }
}

/// The series that a combination counts in.
#[derive(Debug)]
struct Series {
    requests: Arc<AtomicU64>,
    duration: Arc<Histogram>,
    operation: Option<Arc<Histogram>>,
    tool: Option<Arc<AtomicU64>>,
}

/// Combinations that were seen.
#[derive(Debug, Default)]
struct Seen {
    series: HashMap<OwnKey, Series, RandomState>,
    methods: HashSet<Box<str>>,
    resources: HashSet<Box<str>>,
}

impl Seen {
    /// The combination, with `other` for what there is no more room for.
    fn fitted<'a>(&self, mut key: Key<'a>) -> Key<'a> {
        if let Some(method) = key.method
            && self.methods.len() >= METHODS
            && !self.methods.contains(method)
        {
            key.method = Some(OTHER);
        }
        let full = self.resources.len() >= RESOURCES && !self.resources.contains(key.resource);
        if !key.resource.is_empty() && (full || self.series.len() >= COMBINATIONS) {
            key.resource = OTHER;
        }
        key
    }

    fn remember(&mut self, key: Key<'_>) {
        if let Some(method) = key.method.filter(|method| *method != OTHER) {
            self.methods.insert(method.into());
        }
        if !key.resource.is_empty() && key.resource != OTHER {
            self.resources.insert(key.resource.into());
        }
    }
}

/// What is counted of every request.
#[derive(Debug)]
pub(super) struct Requests {
    server: Box<str>,
    transport: Box<str>,
    pub(super) ended: Family<AtomicU64>,
    pub(super) durations: Family<Histogram>,
    pub(super) operations: Family<Histogram>,
    pub(super) tools: Family<AtomicU64>,
    streams: OnceLock<Arc<AtomicU64>>,
    seen: RwLock<Seen>,
}

impl Requests {
    pub(super) fn new(server: &str, transport: &str) -> Self {
        Self {
            server: server.into(),
            transport: transport.into(),
            ended: Family::default(),
            durations: Family::default(),
            operations: Family::default(),
            tools: Family::default(),
            streams: OnceLock::new(),
            seen: RwLock::default(),
        }
    }

    /// Counts a request. One that is like an earlier one allocates nothing and shares its lock with others.
    pub(super) fn count(&self, finished: &Finished<'_>) {
        let Finished { verb, status, version, method, resource, duration } = *finished;
        let (mut method_room, mut resource_room) = ([0; _], [0; _]);
        let resource = resource.filter(|_| method.is_some_and(label::names_something)).unwrap_or_default();
        let key = Key {
            verb: known_verb(verb),
            status: status.as_u16(),
            version: known_version(version),
            method: method.map(|method| label::cut(method, &mut method_room)),
            resource: label::cut(resource, &mut resource_room),
        };
        if !self.count_known(key, duration) {
            self.make(key);
            self.count_known(key, duration);
        }
    }

    /// Whether the combination was there to be counted.
    fn count_known(&self, key: Key<'_>, duration: Duration) -> bool {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let Some(series) = seen.series.get(&key).or_else(|| seen.series.get(&seen.fitted(key))) else {
            return false;
        };
        let Series { requests, duration: durations, operation, tool } = series;
        requests.fetch_add(1, Ordering::Relaxed);
        durations.observe(duration);
        if let Some(operation) = operation {
            operation.observe(duration);
        }
        if let Some(tool) = tool {
            tool.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    fn make(&self, key: Key<'_>) {
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        let key = seen.fitted(key);
        if seen.series.contains_key(&key) {
            return;
        }
        seen.remember(key);
        let series = self.series(key);
        let Key { verb, status, version, method, resource } = key;
        let own = OwnKey { verb, status, version, method: method.map(Into::into), resource: resource.into() };
        seen.series.insert(own, series);
    }

    fn series(&self, key: Key<'_>) -> Series {
        let code = key.status.to_string();
        let labels =
            self.labels(key.verb, &code, outcome(key.status), key.method.unwrap_or("unknown"), key.resource);
        let named = Some(key.resource).filter(|resource| !resource.is_empty());
        let tool = named.filter(|_| key.method == Some("tools/call"));
        let prompt = named.filter(|_| key.method == Some("prompts/get"));
        Series {
            requests: self.ended.series(&labels),
            duration: self.durations.series(&labels),
            operation: key.method.map(|method| {
                let mut labels = vec![
                    ("mcp.method.name", method),
                    ("jsonrpc.protocol.version", "2.0"),
                    ("network.transport", network_transport(&self.transport)),
                    ("network.protocol.name", "http"),
                    ("network.protocol.version", key.version),
                ];
                if key.status >= 500 {
                    labels.push(("error.type", &code));
                }
                if let Some(tool) = tool {
                    labels.extend([("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", tool)]);
                }
                if let Some(prompt) = prompt {
                    labels.push(("gen_ai.prompt.name", prompt));
                }
                self.operations.series(&labels)
            }),
            tool: tool.map(|tool| {
                let status = outcome(key.status);
                self.tools.series(&[("server", &self.server), ("tool", tool), ("status", status)])
            }),
        }
    }

    /// Counts a stream that a client opened.
    pub(super) fn stream(&self) {
        let streams = self.streams.get_or_init(|| {
            self.ended.series(&self.labels("GET", "200", outcome(200), "sse_connection", ""))
        });
        streams.fetch_add(1, Ordering::Relaxed);
    }

    fn labels<'a>(
        &'a self,
        verb: &'a str,
        code: &'a str,
        status: &'a str,
        method: &'a str,
        resource: &'a str,
    ) -> [(&'static str, &'a str); 7] {
        [
            ("method", verb),
            ("status_code", code),
            ("status", status),
            ("mcp_method", method),
            ("mcp_resource_id", resource),
            ("server", &self.server),
            ("transport", &self.transport),
        ]
    }
}

fn outcome(status: u16) -> &'static str {
    if status < 400 { "success" } else { "error" }
}

/// What carries the messages to the server.
pub(crate) fn network_transport(transport: &str) -> &'static str {
    if transport == "stdio" { "pipe" } else { "tcp" }
}

/// The HTTP version, as OpenTelemetry writes it.
pub(crate) fn known_version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "0.9",
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        _ => "1.1",
    }
}

/// The HTTP method, or what OpenTelemetry writes for those that a client made up.
fn known_verb(verb: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| verb.as_str() == *known).unwrap_or("_OTHER")
}
