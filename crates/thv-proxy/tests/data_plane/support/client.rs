//! HTTP as tests want it: every header visible, nothing done behind their back.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(crate) fn cause(&self) -> String {
        self.json()["error"]["data"]["cause"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn session(&self) -> String {
        self.headers["mcp-session-id"].to_str().unwrap().to_owned()
    }
}

/// An answer on its way.
pub(crate) struct Streaming {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
}

impl Streaming {
    /// What comes next, or nothing at a proper end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        loop {
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("the stream hangs");
            let Some(frame) = frame else { return Ok(None) };
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
    }

    /// Reads until a text was seen, and returns everything so far.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let Some(data) = self.next().await.unwrap() else { panic!("the stream ended: {all}") };
            all.push_str(std::str::from_utf8(&data).unwrap());
        }
        all
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) -> Result<String, hyper::Error> {
        let mut all = String::new();
        while let Some(data) = self.next().await? {
            all.push_str(std::str::from_utf8(&data).unwrap());
        }
        Ok(all)
    }
}

pub(crate) async fn connect_raw(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// Sends a request over a connection of its own.
pub(crate) async fn open(address: SocketAddr, mut request: Request<Bytes>) -> hyper::Result<Streaming> {
    let stream = connect_raw(address).await;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    if !request.headers().contains_key(http::header::HOST) {
        let host = HeaderValue::from_str(&address.to_string()).unwrap();
        request.headers_mut().insert(http::header::HOST, host);
    }
    let response =
        timeout(PATIENCE, sender.send_request(request.map(Full::new))).await.expect("no answer")?;
    let (head, body): (http::response::Parts, Incoming) = Response::into_parts(response);
    Ok(Streaming { status: head.status, headers: head.headers, body })
}

#[expect(clippy::disallowed_methods, reason = "it is limited")]
pub(crate) async fn send(address: SocketAddr, request: Request<Bytes>) -> Reply {
    let Streaming { status, headers, body } = open(address, request).await.unwrap();
    let body = timeout(PATIENCE, Limited::new(body, 64 << 20).collect()).await.expect("no end").unwrap();
    Reply { status, headers, body: body.to_bytes() }
}

/// A POST of JSON, with headers as `name: value`.
pub(crate) fn json(path: &str, headers: &[&str], body: &Value) -> Request<Bytes> {
    let mut request = Request::new(Bytes::from(body.to_string()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = path.parse().unwrap();
    add(
        request.headers_mut(),
        &["content-type: application/json", "accept: application/json, text/event-stream"],
    );
    add(request.headers_mut(), headers);
    request
}

fn add(map: &mut HeaderMap, headers: &[&str]) {
    for header in headers {
        let (name, value) = header.split_once(": ").unwrap();
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        if name == http::header::CONTENT_TYPE {
            map.remove(&name);
        }
        map.append(name, HeaderValue::from_str(value).unwrap());
    }
}

pub(crate) async fn post(address: SocketAddr, headers: &[&str], body: &Value) -> Reply {
    send(address, json("/mcp", headers, body)).await
}

fn bare(method: Method, path: &str, headers: &[&str]) -> Request<Bytes> {
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().unwrap();
    add(request.headers_mut(), headers);
    request
}

pub(crate) fn get(path: &str, headers: &[&str]) -> Request<Bytes> {
    let mut request = bare(Method::GET, path, &["accept: text/event-stream"]);
    add(request.headers_mut(), headers);
    request
}

pub(crate) fn delete(path: &str, headers: &[&str]) -> Request<Bytes> {
    bare(Method::DELETE, path, headers)
}
