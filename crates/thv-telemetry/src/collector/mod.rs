//! The collector: where spans and metrics are sent by OTLP, as protobuf over HTTP.

mod connection;
mod endpoint;
mod trust;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use rustls::pki_types::ServerName;
use thv_config::telemetry::TelemetryConfig;
use tokio::time::{sleep, timeout};

use self::connection::{Broken, Connection, Destination};
pub use self::endpoint::BadEndpoint;
use self::endpoint::Endpoint;
pub use self::trust::BadTrust;

/// For one attempt, from connecting to the end of the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// The longest pause that a collector may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why a collector cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum BadCollector {
    /// Its endpoint.
    #[error("endpoint: {0}")]
    Endpoint(#[from] BadEndpoint),
    /// One of the headers to send. Its value is not shown.
    #[error("header {0:?} cannot be sent: its name or value is not allowed in HTTP")]
    Header(String),
    /// Whom to trust.
    #[error(transparent)]
    Trust(#[from] BadTrust),
    /// The name to verify.
    #[error("{0:?} is not a name that a certificate can have")]
    Name(String),
}

/// Why something was not taken.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late,
    #[error("status {}", .0.as_u16())]
    Status(StatusCode, Option<Duration>),
}

impl NotTaken {
    /// How long to wait before the next attempt, if one makes sense.
    fn pause(&self, planned: Duration) -> Option<Duration> {
        match self {
            // Certificates do not change within seconds.
            Self::Broken(Broken::Trust(_)) => None,
            Self::Broken(_) | Self::Late => Some(planned),
            Self::Status(status, asked) => matches!(status.as_u16(), 429 | 502 | 503 | 504)
                .then(|| asked.unwrap_or(planned).min(LONGEST_PAUSE)),
        }
    }
}

/// Where and how to send.
#[derive(Clone)]
pub(crate) struct Collector {
    destination: Arc<Destination>,
    headers: Arc<HeaderMap>,
}

impl Collector {
    /// The collector of a configuration.
    pub(crate) fn new(config: &TelemetryConfig) -> Result<Self, BadCollector> {
        let endpoint = Endpoint::parse(&config.endpoint, config.insecure)?;
        let tls = if endpoint.tls {
            let name = ServerName::try_from(endpoint.host.clone());
            let name = name.map_err(|_| BadCollector::Name(endpoint.host.clone()))?;
            Some((trust::client_config(&config.ca_cert_path)?, name))
        } else {
            None
        };
        Ok(Self {
            destination: Arc::new(Destination { endpoint, tls }),
            headers: Arc::new(headers(&config.headers)?),
        })
    }

    /// The way there for one signal.
    pub(crate) fn route(&self, signal: &'static str) -> Result<Route, BadCollector> {
        let path = self.destination.endpoint.path(signal)?;
        Ok(Route { collector: self.clone(), signal, path, connection: Connection::default(), failing: false })
    }
}

fn headers(configured: &BTreeMap<String, String>) -> Result<HeaderMap, BadCollector> {
    let mut headers = HeaderMap::with_capacity(configured.len() + 2);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("toolhive-rs/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in configured {
        let bad = || BadCollector::Header(name.clone());
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name.parse::<HeaderName>().map_err(|_| bad())?, value);
    }
    Ok(headers)
}

/// The way to the collector for one signal. It has a connection of its own, so that a slow signal delays no other.
pub(crate) struct Route {
    collector: Collector,
    signal: &'static str,
    path: PathAndQuery,
    connection: Connection,
    /// Whether the last sending failed, so that logs say only when this changes.
    failing: bool,
}

impl Route {
    /// Sends, again if that makes sense. Returns what was answered, or nothing if it was not taken.
    pub(crate) async fn send(&mut self, body: Vec<u8>) -> Option<Bytes> {
        let body = Bytes::from(body);
        let mut pauses = PAUSES.into_iter();
        loop {
            let failure = match self.attempt(body.clone()).await {
                Ok(answer) => {
                    if std::mem::take(&mut self.failing) {
                        tracing::info!(signal = self.signal, "the collector takes telemetry again");
                    }
                    return Some(answer);
                }
                Err(failure) => failure,
            };
            if let Some(pause) = pauses.next().and_then(|planned| failure.pause(planned)) {
                sleep(pause).await;
                continue;
            }
            if !std::mem::replace(&mut self.failing, true) {
                tracing::warn!(signal = self.signal, reason = %failure, "telemetry is lost: the collector does not take it");
            }
            return None;
        }
    }

    async fn attempt(&mut self, body: Bytes) -> Result<Bytes, NotTaken> {
        let Collector { destination, headers } = &self.collector;
        let request = connection::request(destination, &self.path, headers, body);
        let answer = timeout(PATIENCE, self.connection.send(destination, request));
        let answer = answer.await.map_err(|_| NotTaken::Late)??;
        if answer.status().is_success() {
            return Ok(answer.into_body());
        }
        Err(NotTaken::Status(answer.status(), retry_after(&answer)))
    }
}

fn retry_after(answer: &Response<Bytes>) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
