//! A server that does exactly what a test says, right or wrong.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

type Body = UnsyncBoxBody<Bytes, std::io::Error>;
type Answering = dyn Fn(Request<Bytes>) -> BoxFuture<'static, Response<Body>> + Send + Sync;

/// A request that came in.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) verb: Method,
    pub(crate) path: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Heard {
    pub(crate) fn method(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["method"].as_str().map_or_else(|| self.verb.to_string(), str::to_owned)
    }
}

/// A server that does what it is told.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    listening: JoinHandle<()>,
}

/// An answer with headers as `name: value`.
pub(crate) fn respond(status: u16, headers: &[&str], body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync();
    let mut response = Response::builder().status(status);
    for header in headers {
        let (name, value) = header.split_once(": ").unwrap();
        response = response.header(name, value);
    }
    response.body(body).unwrap()
}

/// An answer that is cut off after its first piece, when that has arrived.
pub(crate) fn cut(headers: &[&str], first: &'static str, arrived: Arc<Notify>) -> Response<Body> {
    let first = futures::stream::iter([Ok(Frame::data(Bytes::from_static(first.as_bytes())))]);
    let end = futures::stream::once(async move {
        arrived.notified().await;
        Err(std::io::Error::other("cut on purpose"))
    });
    let body = http_body_util::StreamBody::new(first.chain(end)).boxed_unsync();
    respond(200, headers, "").map(|_| body)
}

impl Stub {
    pub(crate) async fn start<F, A>(answer: F) -> Self
    where
        F: Fn(Request<Bytes>) -> A + Send + Sync + 'static,
        A: Future<Output = Response<Body>> + Send + 'static,
    {
        let answering: Arc<Answering> = Arc::new(move |request| Box::pin(answer(request)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        let listening = tokio::spawn(async move {
            // Connections end with the server.
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (answering, hears) = (Arc::clone(&answering), Arc::clone(&hears));
                let service =
                    service_fn(move |request| hear(Arc::clone(&answering), Arc::clone(&hears), request));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Self { address, heard, listening }
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// The methods of all requests, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.heard().iter().map(Heard::method).collect()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

#[expect(clippy::disallowed_methods, reason = "it is limited")]
async fn hear(
    answering: Arc<Answering>,
    hears: Arc<Mutex<Vec<Heard>>>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, 64 << 20).collect().await.map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    let path = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let (verb, headers) = (head.method.clone(), head.headers.clone());
    hears.lock().unwrap().push(Heard { verb, path, headers, body: body.clone() });
    Ok(answering(Request::from_parts(head, body)).await)
}
