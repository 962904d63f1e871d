//! A collector: takes OTLP over HTTP, with or without TLS, and remembers it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// What was taken.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

#[derive(Default)]
struct Shared {
    taken: Mutex<Vec<Taken>>,
    refusals: Mutex<usize>,
    connections: AtomicUsize,
    /// How many were taken.
    count: watch::Sender<usize>,
}

/// A collector that ends with the test.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(authority: Option<&Authority>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let acceptor = authority.map(|authority| TlsAcceptor::from(authority.server()));
        let task = tokio::spawn(accept(listener, acceptor, Arc::clone(&shared)));
        Self { address, shared, task }
    }

    /// As `host:port`.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers so many requests with 503.
    pub(crate) fn refuse(&self, times: usize) {
        *self.shared.refusals.lock().unwrap() = times;
    }

    pub(crate) fn requests(&self) -> usize {
        self.shared.taken.lock().unwrap().len()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits until so many requests were taken.
    pub(crate) async fn wait_for(&self, requests: usize) {
        let mut count = self.shared.count.subscribe();
        let enough = count.wait_for(|count| *count >= requests);
        tokio::time::timeout(crate::SOON, enough).await.unwrap().unwrap();
    }

    /// How many spans were taken.
    pub(crate) fn spans(&self) -> usize {
        let taken = self.shared.taken.lock().unwrap();
        let decoded =
            taken.iter().map(|taken| ExportTraceServiceRequest::decode(taken.body.clone()).unwrap());
        decoded.map(|request| request.resource_spans[0].scope_spans[0].spans.len()).sum()
    }

    fn only(&self) -> Taken {
        let taken = self.shared.taken.lock().unwrap();
        assert_eq!(taken.len(), 1);
        taken[0].clone()
    }

    pub(crate) fn only_traces(&self) -> (Taken, ExportTraceServiceRequest) {
        let taken = self.only();
        let decoded = ExportTraceServiceRequest::decode(taken.body.clone()).unwrap();
        (taken, decoded)
    }

    pub(crate) fn only_metrics(&self) -> (Taken, ExportMetricsServiceRequest) {
        let taken = self.only();
        let decoded = ExportMetricsServiceRequest::decode(taken.body.clone()).unwrap();
        (taken, decoded)
    }
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
        tokio::spawn(async move {
            match acceptor {
                None => serve(stream, shared).await,
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream, shared).await;
                    }
                }
            }
        });
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) {
    let answer = service_fn(|request| answer(request, &shared));
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    #[expect(clippy::disallowed_methods, reason = "limited")]
    let body = Limited::new(body, 1 << 20).collect().await.unwrap().to_bytes();
    let path = head.uri.path().to_owned();
    let count = {
        let mut taken = shared.taken.lock().unwrap();
        taken.push(Taken { path, headers: head.headers, body });
        taken.len()
    };
    shared.count.send_replace(count);
    let mut response = Response::new(Full::default());
    let mut refusals = shared.refusals.lock().unwrap();
    if *refusals > 0 {
        *refusals -= 1;
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response.headers_mut().insert("retry-after", "0".parse().unwrap());
    }
    Ok(response)
}

/// A certificate authority, with its certificate in a file.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: tempfile::NamedTempFile,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), issuer.pem()).unwrap();
        Self { issuer, file }
    }

    pub(crate) fn path(&self) -> String {
        self.file.path().to_str().unwrap().to_owned()
    }

    fn server(&self) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            );
        Arc::new(config.unwrap())
    }
}

/// Names and values of attributes, numbers as text.
pub(crate) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes
        .iter()
        .map(|attribute| {
            let value = match attribute.value.as_ref().unwrap().value.as_ref().unwrap() {
                Value::StringValue(text) => text.clone(),
                Value::IntValue(number) => number.to_string(),
                Value::DoubleValue(number) => number.to_string(),
                other => panic!("{other:?}"),
            };
            (attribute.key.clone(), value)
        })
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
