//! `/healthz`, `/readyz` and `/metrics`.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::metrics::Metrics;

/// So many may be connected at once.
const CONNECTIONS: usize = 64;
/// How long whoever is connected may take to ask.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long we wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether the operator is ready: its caches are full, and it works or stands by.
#[derive(Clone)]
pub struct Readiness(Arc<Mutex<Option<String>>>);

impl Default for Readiness {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some("the operator is starting".to_owned()))))
    }
}

impl Readiness {
    /// It is, from now on.
    pub fn set(&self) {
        *self.obstacle() = None;
    }

    /// It is not, for this reason.
    pub fn waits_for(&self, what: impl Into<String>) {
        *self.obstacle() = Some(what.into());
    }

    fn obstacle(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
            (Self::Health(ready), "/readyz") => match ready.obstacle().clone() {
                None => (StatusCode::OK, "ok".to_owned()),
                Some(obstacle) => (StatusCode::SERVICE_UNAVAILABLE, obstacle),
            },
            (Self::Metrics(metrics), "/metrics") => (StatusCode::OK, metrics.text()),
            _ => (StatusCode::NOT_FOUND, "not found".to_owned()),
        }
    }

    /// Answers for as long as it is polled.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        tracing::info!(address = %listener.local_addr()?, "listening");
        let connections = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            // Nobody can take all that the process may open: others wait until one has gone.
            let Ok(permit) = connections.clone().acquire_owned().await else { return Ok(()) };
            let socket = match listener.accept().await {
                Ok((socket, _)) => socket,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let endpoint = self.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let (status, text) = endpoint.answer(request.uri().path());
                    let mut response = Response::new(Full::new(Bytes::from(text)));
                    *response.status_mut() = status;
                    async move { Ok::<_, Infallible>(response) }
                });
                let mut connection = hyper::server::conn::http1::Builder::new();
                connection.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
                // A prober that hangs up is its own affair.
                let _ = connection.serve_connection(TokioIo::new(socket), service).await;
                drop(permit);
            });
        }
    }
}
