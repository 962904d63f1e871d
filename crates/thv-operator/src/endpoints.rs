//! `/healthz`, `/readyz` and `/metrics`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::metrics::Metrics;

/// Whether the operator is ready: its caches are full, and it works or stands by.
#[derive(Clone, Default)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// It is, from now on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What an endpoint answers to.
#[derive(Clone)]
pub enum Endpoint {
    /// Probes.
    Health(Readiness),
    /// Prometheus.
    Metrics(Arc<Metrics>),
}

impl Endpoint {
    fn answer(&self, path: &str) -> (StatusCode, String) {
        match (self, path) {
            (Self::Health(_), "/healthz") => (StatusCode::OK, "ok".to_owned()),
            (Self::Health(ready), "/readyz") if ready.get() => (StatusCode::OK, "ok".to_owned()),
            (Self::Health(_), "/readyz") => {
                (StatusCode::SERVICE_UNAVAILABLE, "the caches are not complete yet".to_owned())
            }
            (Self::Metrics(metrics), "/metrics") => (StatusCode::OK, metrics.text()),
            _ => (StatusCode::NOT_FOUND, "not found".to_owned()),
        }
    }

    /// Serves at an address for as long as it is polled.
    pub async fn serve(self, address: SocketAddr) -> std::io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        tracing::info!(address = %listener.local_addr()?, "listening");
        loop {
            let (socket, _) = listener.accept().await?;
            let endpoint = self.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let (status, text) = endpoint.answer(request.uri().path());
                    let mut response = Response::new(Full::new(Bytes::from(text)));
                    *response.status_mut() = status;
                    async move { Ok::<_, Infallible>(response) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                // A prober that hangs up is its own affair.
                let _ = connection.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    }
}
