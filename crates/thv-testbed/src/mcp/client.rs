//! A client that asks for little, so that many of them can be busy at once: one connection, at most one session, and
//! requests that were made before.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::modern;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LEGACY: &str = "2025-11-25";

/// One connection to a server or proxy.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    uri: Uri,
    headers: HeaderMap,
}

/// A call of a tool, made once and sent often.
#[derive(Clone, Debug)]
pub struct Call {
    body: Bytes,
    headers: HeaderMap,
    /// The answer has at least so many bytes.
    least: usize,
}

/// A stream of events that stays open.
pub struct Listening {
    body: Incoming,
    _sender: SendRequest<Full<Bytes>>,
}

impl Call {
    /// A call within a session, whose answer has at least `least` bytes.
    pub fn legacy(tool: &str, arguments: &Value, least: usize) -> Self {
        let params = json!({"name": tool, "arguments": arguments});
        Self { body: call(&params), headers: version(LEGACY), least }
    }

    /// A call that needs no session.
    pub fn modern(tool: &'static str, arguments: &Value, least: usize) -> Self {
        let prefix = "io.modelcontextprotocol/";
        let meta = json!({
            format!("{prefix}protocolVersion"): modern::VERSION, format!("{prefix}clientCapabilities"): {},
            format!("{prefix}clientInfo"): {"name": "client", "version": "1"},
        });
        let mut headers = version(modern::VERSION);
        headers.insert("mcp-method", HeaderValue::from_static("tools/call"));
        headers.insert("mcp-name", HeaderValue::from_static(tool));
        Self { body: call(&json!({"name": tool, "arguments": arguments, "_meta": meta})), headers, least }
    }
}

fn version(version: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(VERSION, HeaderValue::from_static(version))])
}

fn call(params: &Value) -> Bytes {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string().into()
}

impl Client {
    /// Connects to `http://<address><path>`.
    pub async fn connect(url: &str) -> Result<Self> {
        let uri: Uri = url.parse()?;
        let authority = uri.authority().context("a URL without a host")?.as_str();
        let address: SocketAddr = authority.parse().with_context(|| format!("{authority} is no address"))?;
        let socket = TcpStream::connect(address).await.with_context(|| format!("cannot reach {url}"))?;
        socket.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(socket)).await?;
        tokio::spawn(connection);
        let headers = HeaderMap::from_iter([
            (HOST, HeaderValue::from_str(authority)?),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
        ]);
        Ok(Self { sender, uri: uri.path().parse()?, headers })
    }

    /// Begins a session, which all that follows belongs to.
    pub async fn initialize(&mut self) -> Result<()> {
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "client", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.headers.remove(SESSION);
        let mut answer = self.send(Method::POST, &HeaderMap::new(), body.to_string().into()).await?;
        ensure!(answer.status() == StatusCode::OK, "initialize was answered with {}", answer.status());
        let session = answer.headers_mut().remove(SESSION).context("initialize gave no session")?;
        drain(answer).await?;
        self.headers.insert(SESSION, session);
        let body = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let answer = self.send(Method::POST, &version(LEGACY), body).await?;
        ensure!(answer.status() == StatusCode::ACCEPTED, "initialized was answered with {}", answer.status());
        drain(answer).await.map(drop)
    }

    /// The session, to go on with it on another connection.
    pub fn session(&self) -> Option<HeaderValue> {
        self.headers.get(SESSION).cloned()
    }

    /// Goes on with a session.
    pub fn resume(&mut self, session: HeaderValue) {
        self.headers.insert(SESSION, session);
    }

    /// Calls a tool; how large the answer was.
    pub async fn call(&mut self, call: &Call) -> Result<usize> {
        let answer = self.send(Method::POST, &call.headers, call.body.clone()).await?;
        let status = answer.status();
        let size = drain(answer).await?;
        if status != StatusCode::OK || size < call.least {
            bail!("a call was answered with {status} and {size} bytes");
        }
        Ok(size)
    }

    /// Ends the session.
    pub async fn delete(&mut self) -> Result<()> {
        let answer = self.send(Method::DELETE, &version(LEGACY), Bytes::new()).await?;
        ensure!(answer.status().is_success(), "DELETE was answered with {}", answer.status());
        self.headers.remove(SESSION);
        drain(answer).await.map(drop)
    }

    /// Opens the stream of the session, on this connection.
    pub async fn listen(mut self) -> Result<Listening> {
        let answer = self.send(Method::GET, &version(LEGACY), Bytes::new()).await?;
        ensure!(answer.status() == StatusCode::OK, "GET was answered with {}", answer.status());
        Ok(Listening { body: answer.into_body(), _sender: self.sender })
    }

    async fn send(&mut self, verb: Method, more: &HeaderMap, body: Bytes) -> Result<Response<Incoming>> {
        self.sender.ready().await.context("the connection was closed")?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = verb;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        for (name, value) in more {
            request.headers_mut().insert(name, value.clone());
        }
        Ok(self.sender.send_request(request).await?)
    }
}

impl Listening {
    /// What comes next; nothing at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        let Some(frame) = self.body.frame().await else { return Ok(None) };
        Ok(Some(frame?.into_data().unwrap_or_default()))
    }
}

/// Reads a body to its end without keeping it.
async fn drain(answer: Response<Incoming>) -> Result<usize> {
    let mut body = answer.into_body();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        size += frame?.data_ref().map_or(0, Bytes::len);
    }
    Ok(size)
}

/// What becomes of a session that was used.
#[derive(Clone, Copy)]
enum Fate {
    Delete,
    Keep,
}

/// Makes, uses and deletes this many sessions, `at_once` of them at a time on connections that serve many.
pub async fn churn(url: &str, count: usize, at_once: usize) -> Result<()> {
    use_sessions(url, count, at_once, Fate::Delete).await.map(drop)
}

/// Makes and uses sessions in the same way, and leaves them.
pub async fn leave_sessions(url: &str, count: usize, at_once: usize) -> Result<Vec<HeaderValue>> {
    use_sessions(url, count, at_once, Fate::Keep).await
}

/// Returns the sessions that are still there.
async fn use_sessions(url: &str, count: usize, at_once: usize, fate: Fate) -> Result<Vec<HeaderValue>> {
    let call = Call::legacy("counter", &json!({}), 1);
    let workers = (0..at_once).map(|worker| {
        let call = &call;
        async move {
            let mut client = Client::connect(url).await?;
            let mut kept = Vec::new();
            for _ in (worker..count).step_by(at_once) {
                client.initialize().await?;
                client.call(call).await?;
                match fate {
                    Fate::Delete => client.delete().await?,
                    Fate::Keep => kept.extend(client.session()),
                }
            }
            anyhow::Ok(kept)
        }
    });
    Ok(futures::future::try_join_all(workers).await?.concat())
}
