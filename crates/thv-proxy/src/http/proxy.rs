//! What all requests share.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderValue;
use thv_config::Transport;
use thv_session::Sessions;
use thv_telemetry::{Gauge, Metrics, Tracing};

use super::chain::Chain;
use super::identity::Identity;
use super::inbound::Traffic;
use super::life::Life;
use super::reading::Room;
use super::reaper::Reaper;
use super::settings::Settings;
use super::single_flight::SingleFlight;
use super::upstream::Upstream;

/// A proxy in front of one server.
pub(super) struct Proxy {
    pub transport: Transport,
    pub upstream: Upstream,
    pub sessions: Arc<Sessions>,
    pub metrics: Arc<Metrics>,
    pub tracing: Option<Tracing>,
    pub chain: Chain,
    pub settings: Settings,
    pub metrics_on_transport_port: bool,
    /// Only this machine can reach it.
    pub is_loopback: bool,
    /// Whom everybody is taken for.
    pub everybody: Identity,
    pub room: Arc<Room>,
    pub life: Arc<Life>,
    pub replays: SingleFlight,
    pub reaper: Reaper,
}

impl Proxy {
    /// Has gauges read from where the numbers are.
    pub(super) fn observe(self: &Arc<Self>) {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let sessions = Arc::clone(&self.sessions);
        self.metrics.observe(Gauge::Sessions, move || number(sessions.len()));
        let sessions = Arc::clone(&self.sessions);
        self.metrics.observe(Gauge::SessionStoreAvailable, move || i64::from(sessions.available()));
        let room = Arc::clone(&self.room);
        self.metrics.observe(Gauge::RequestBodyBytes, move || number(room.taken()));
        if self.upstream.ready().is_some() {
            // The metrics outlive the proxy, which owns them.
            let proxy = Arc::downgrade(self);
            let ready = move || proxy.upgrade().and_then(|proxy| proxy.upstream.ready()).unwrap_or_default();
            self.metrics.observe(Gauge::BackendInstancesReady, move || number(ready()));
        }
    }
}

/// Who is at the other end of a connection.
pub(super) struct Caller {
    pub proxy: Arc<Proxy>,
    pub peer: std::net::SocketAddr,
    /// For `X-Forwarded-For`.
    pub address: HeaderValue,
    pub traffic: Arc<Traffic>,
}

impl Caller {
    pub(super) fn new(proxy: Arc<Proxy>, peer: std::net::SocketAddr, traffic: Arc<Traffic>) -> Self {
        let address = address(peer.ip().to_canonical());
        Self { proxy, peer, address, traffic }
    }
}

fn address(ip: IpAddr) -> HeaderValue {
    HeaderValue::try_from(ip.to_string()).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}
