//! Requests as they go to the backend, and answers as they come to the client.

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use thv_config::Transport;
use thv_mcp::headers::{LAST_EVENT_ID, METHOD, NAME, SESSION_ID};
use thv_telemetry::Trace;

use super::policy::Permit;
use super::proxy::{Caller, Proxy};
use super::upstream::{Payload, Remote, Upstream};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HTTP: HeaderValue = HeaderValue::from_static("http");
const HTTPS: HeaderValue = HeaderValue::from_static("https");

/// A request to the backend, which may have to be sent more than once.
pub(super) struct Outbound {
    method: Method,
    target: PathAndQuery,
    headers: HeaderMap,
    body: Bytes,
}

impl Outbound {
    /// What was permitted, in the proxy's name.
    pub(super) fn new(proxy: &Proxy, caller: &Caller, permit: &mut Permit, trace: Option<&Trace>) -> Self {
        let Permit { head, body, .. } = permit;
        let mut headers = std::mem::take(&mut head.headers);
        let host = headers.remove(header::HOST);
        strip(&mut headers, is_of_the_client);
        headers.insert(FORWARDED_FOR, caller.address.clone());
        if let Some(remote) = proxy.upstream.elsewhere() {
            // A server that is told another host than its own redirects there.
            let secure = *remote.scheme() == Scheme::HTTPS;
            headers.insert(FORWARDED_PROTO, if secure { HTTPS } else { HTTP });
            for (name, value) in &proxy.chain.forward {
                headers.insert(name.clone(), value.clone());
            }
        } else {
            headers.insert(FORWARDED_PROTO, HTTP);
            if let Some(host) = host {
                headers.insert(FORWARDED_HOST, host);
            }
        }
        if let Some(host) = proxy.upstream.host() {
            headers.insert(header::HOST, host.clone());
        }
        if let Some(trace) = trace {
            trace.inject(&mut headers);
        }
        let target = target(proxy, &head.method, &head.uri);
        Self { method: head.method.clone(), target, headers, body: body.clone() }
    }

    /// Another request on the way to this one's end: the same headers, apart from what describes the message and from
    /// how the client likes its answers packed. That answer is for us.
    pub(super) fn beside(&self, method: Method, body: Bytes) -> Self {
        let mut headers = self.headers.clone();
        for name in [header::ACCEPT_ENCODING, header::CONTENT_LENGTH, LAST_EVENT_ID, METHOD, NAME] {
            headers.remove(name);
        }
        if !body.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let both = HeaderValue::from_static("application/json, text/event-stream");
            headers.insert(header::ACCEPT, both);
        }
        Self { method, target: self.target.clone(), headers, body }
    }

    pub(super) const fn method(&self) -> &Method {
        &self.method
    }

    pub(super) const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(super) const fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    pub(super) const fn target(&self) -> &PathAndQuery {
        &self.target
    }

    /// Follows a redirect.
    pub(super) fn aim(&mut self, target: PathAndQuery) {
        self.target = target;
    }

    /// The session that the backend knows it by, or none.
    pub(super) fn in_session(&mut self, id: Option<HeaderValue>) {
        match id {
            Some(id) => self.headers.insert(SESSION_ID, id),
            None => self.headers.remove(SESSION_ID),
        };
    }

    /// The request, once more.
    pub(super) fn request(&self, upstream: &Upstream) -> Box<Request<Payload>> {
        let mut request = Box::new(Request::new(Payload::new(self.body.clone())));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        *request.uri_mut() = match upstream.elsewhere() {
            None => Uri::from(self.target.clone()),
            Some(remote) => {
                let (uri, credentials) = remote.address(self.target.clone());
                if let Some(credentials) = credentials {
                    request.headers_mut().insert(header::PROXY_AUTHORIZATION, credentials);
                }
                uri
            }
        };
        request
    }
}

/// Path and query at the backend.
fn target(proxy: &Proxy, method: &Method, uri: &Uri) -> PathAndQuery {
    let asked = || uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    let Some(remote) = proxy.upstream.elsewhere() else { return asked() };
    // Of the older transport, the URL is that of the stream. Where messages go, the server says on it.
    let is_message = proxy.transport == Transport::Sse && *method == Method::POST;
    let path = remote.path().filter(|_| !is_message).unwrap_or_else(|| uri.path());
    joined(path, remote, uri.query()).unwrap_or_else(asked)
}

fn joined(path: &str, remote: &Remote, query: Option<&str>) -> Option<PathAndQuery> {
    let queries: Vec<&str> =
        [remote.query(), query].into_iter().flatten().filter(|query| !query.is_empty()).collect();
    if queries.is_empty() {
        return path.parse().ok();
    }
    format!("{path}?{}", queries.join("&")).parse().ok()
}

/// Whether a header of a request says something about the connection to us, or claims what we say ourselves.
fn is_of_the_client(name: &HeaderName) -> bool {
    is_of_a_connection(name)
        || matches!(name.as_str(), "expect" | "forwarded")
        || name.as_str().starts_with("x-forwarded-")
}

/// Whether a header says something about one connection only.
pub(super) fn is_of_a_connection(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "http2-settings"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

/// Removes such headers, and those that Connection names.
pub(super) fn strip(headers: &mut HeaderMap, which: fn(&HeaderName) -> bool) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let mut doomed: Vec<HeaderName> = named.collect();
    doomed.extend(headers.keys().filter(|name| which(name)).cloned());
    for name in doomed {
        headers.remove(name);
    }
}
