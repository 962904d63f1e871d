//! One connection to the collector, kept while it lasts.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::endpoint::Endpoint;

/// What is read of an answer. Collectors say little.
const ANSWER: usize = 64 * 1024;

/// Why nothing was answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    #[error("there is no trust between us and the collector: {0}")]
    Trust(io::Error),
    #[error("the connection broke: {0}")]
    Http(#[from] hyper::Error),
    #[error("the answer cannot be read: {0}")]
    Answer(Box<dyn std::error::Error + Send + Sync>),
}

/// Where to and how.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) endpoint: Endpoint,
    /// Nothing when the collector is reached without TLS.
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// A connection that is made when needed.
#[derive(Debug, Default)]
pub(super) struct Connection {
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// Sends a request and reads the whole answer.
    pub(super) async fn send(
        &mut self,
        to: &Destination,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Broken> {
        let mut sender = match self.idle().await {
            Some(sender) => sender,
            None => connect(to).await?,
        };
        let (head, body) = sender.send_request(request).await?.into_parts();
        #[expect(clippy::disallowed_methods, reason = "limited")]
        let body = Limited::new(body, ANSWER).collect().await.map_err(Broken::Answer)?.to_bytes();
        self.open = Some(sender);
        Ok(Response::from_parts(head, body))
    }

    /// The connection of the last request, unless the collector has closed it meanwhile.
    async fn idle(&mut self) -> Option<SendRequest<Full<Bytes>>> {
        let mut sender = self.open.take()?;
        sender.ready().await.is_ok().then_some(sender)
    }
}

async fn connect(to: &Destination) -> Result<SendRequest<Full<Bytes>>, Broken> {
    let stream = TcpStream::connect((to.endpoint.host.as_str(), to.endpoint.port)).await?;
    match &to.tls {
        None => converse(stream).await,
        Some((config, name)) => {
            let connector = TlsConnector::from(Arc::clone(config));
            let stream =
                connector.connect(name.clone(), stream).await.map_err(|error| match error.kind() {
                    io::ErrorKind::InvalidData => Broken::Trust(error),
                    _ => Broken::Connect(error),
                })?;
            converse(stream).await
        }
    }
}

async fn converse<S>(stream: S) -> Result<SendRequest<Full<Bytes>>, Broken>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the sender; what goes wrong is seen there.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// The headers of every request.
pub(super) fn request(
    to: &Destination,
    path: &http::uri::PathAndQuery,
    headers: &HeaderMap,
    body: Bytes,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = http::Uri::from(path.clone());
    request.headers_mut().clone_from(headers);
    if let Ok(host) = http::HeaderValue::from_str(&to.endpoint.authority) {
        request.headers_mut().insert(http::header::HOST, host);
    }
    request
}
