//! The least that a reverse proxy does, as a measure for ours: it reads no body, knows no session, and rewrites only
//! the host. `thv-pass-through <address to listen on> <address of the server>`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Request, Response};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// The server, and connections to it that wait for work.
struct Upstream {
    address: String,
    host: HeaderValue,
    idle: Mutex<Vec<SendRequest<Incoming>>>,
}

/// A body on its way through, which gives its connection back when it has ended.
struct Through {
    body: Incoming,
    has_ended: bool,
    sender: Option<SendRequest<Incoming>>,
    upstream: Arc<Upstream>,
}

impl Body for Through {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.has_ended |= matches!(frame, Poll::Ready(None));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take().filter(|_| self.has_ended || self.body.is_end_stream()) {
            self.upstream.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (listen, address) = arguments.next().zip(arguments.next()).context("give two addresses")?;
    let host = HeaderValue::from_str(&address)?;
    let upstream = Arc::new(Upstream { address, host, idle: Mutex::default() });
    let threads = std::thread::available_parallelism()?.get().min(4);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await?;
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let upstream = upstream.clone();
            let service = service_fn(move |request| pass(upstream.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(TokioIo::new(socket), service));
        }
    })
}

async fn pass(upstream: Arc<Upstream>, mut request: Request<Incoming>) -> Result<Response<Through>> {
    request.headers_mut().insert(HOST, upstream.host.clone());
    request.headers_mut().remove(CONNECTION);
    let mut sender = loop {
        let idle = upstream.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut sender) = idle else { break connect(&upstream.address).await? };
        // One that has been closed meanwhile is of no use.
        if sender.ready().await.is_ok() {
            break sender;
        }
    };
    let answer = sender.send_request(request).await?;
    Ok(answer.map(|body| Through { body, has_ended: false, sender: Some(sender), upstream }))
}

async fn connect(address: &str) -> Result<SendRequest<Incoming>> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
