//! A client of one session, which counts what it is told rather than making the best of it.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// How long an answer may take. What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// No answer in these tests is larger.
const LARGEST: usize = 1 << 20;

const PROTOCOL: &str = "2025-11-25";

/// A session with an MCP server.
pub(crate) struct Client {
    http: Http<HttpConnector, Full<Bytes>>,
    url: String,
    session: Option<String>,
}

/// An answer that came, whatever it says.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) message: Value,
}

impl Client {
    /// Begins a session.
    pub(crate) async fn connect(url: &str) -> Result<Self> {
        let http = Http::builder(TokioExecutor::new()).build_http();
        let mut client = Self { http, url: url.to_owned(), session: None };
        let params = json!({
            "protocolVersion": PROTOCOL, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let response = client.send(Method::POST, Some(&body)).await?;
        let session = response.headers().get("mcp-session-id").cloned();
        let answer = read(response).await?;
        ensure!(answer.status == StatusCode::OK, "no session: {answer:?}");
        client.session = Some(session.context("the server gave no session")?.to_str()?.to_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let accepted = client.send(Method::POST, Some(&initialized)).await?;
        ensure!(accepted.status() == StatusCode::ACCEPTED, "not initialized: {}", accepted.status());
        Ok(client)
    }

    /// The same session over a connection of its own.
    pub(crate) fn again(&self) -> Self {
        let http = Http::builder(TokioExecutor::new()).build_http();
        Self { http, url: self.url.clone(), session: self.session.clone() }
    }

    /// The session, as the client knows it.
    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// Calls a tool, and returns the text of its answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<String> {
        let answer = self.try_call(tool, arguments).await?;
        let text = answer.message.pointer("/result/content/0/text").and_then(Value::as_str);
        match text {
            Some(text) if answer.status == StatusCode::OK => Ok(text.to_owned()),
            _ => bail!("{tool} failed: {answer:?}"),
        }
    }

    /// Calls a tool, and returns whatever comes back. No answer at all is an error.
    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Answer> {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let exchange = async { read(self.send(Method::POST, Some(&body)).await?).await };
        tokio::time::timeout(PATIENCE, exchange).await.with_context(|| format!("{tool} hangs"))?
    }

    /// Ends the session.
    pub(crate) async fn end(self) -> Result<StatusCode> {
        Ok(self.send(Method::DELETE, None).await?.status())
    }

    async fn send(&self, method: Method, body: Option<&Value>) -> Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", PROTOCOL);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        Ok(self.http.request(request.body(Full::from(body))?).await?)
    }
}

/// The message in an answer: a body of JSON, or the last event of a stream.
async fn read(response: Response<Incoming>) -> Result<Answer> {
    let status = response.status();
    let is_stream = response
        .headers()
        .get("content-type")
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    #[expect(clippy::disallowed_methods, reason = "it is limited")]
    let body = Limited::new(response.into_body(), LARGEST).collect().await;
    let body = body.map_err(|error| anyhow!("the answer broke off: {error}"))?.to_bytes();
    let text = std::str::from_utf8(&body)?;
    let last_event = || text.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
    let json = if is_stream { last_event() } else { Some(text) };
    let message = match json.map(str::trim).filter(|text| !text.is_empty()) {
        Some(json) => serde_json::from_str(json).with_context(|| format!("{status}: {text}"))?,
        None => Value::Null,
    };
    Ok(Answer { status, message })
}
