//! The way to the backend.
//!
//! A [`Pool`] holds the connections to one place; a [`Fleet`] knows the instances of a backend, each with a pool of
//! its own, and chooses among them; a [`Remote`] is a server elsewhere.

mod fleet;
mod link;
mod pool;
mod remote;
mod tally;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request, Response, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use thv_workload::Instances;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(in crate::http) use self::fleet::{Fleet, Load};
pub(in crate::http) use self::link::prepare;
pub(in crate::http) use self::pool::{Answer, Broken, Failure, Pool, Use};
pub(in crate::http) use self::remote::Remote;
pub use self::remote::RemoteError;
pub(in crate::http) use self::wire::Payload;

use self::fleet::Habits;
use self::pool::{Patience, Place};
use self::tally::Tally;
use super::settings::{Settings, Times};

/// How long a connection to a server elsewhere is kept. Making one is dear, and load balancers are patient.
const REMOTE_IDLE: Duration = Duration::from_mins(1);
/// For the proxy and the TLS handshake, beside the connection itself.
const REMOTE_HANDSHAKE: Duration = Duration::from_secs(10);
/// How long to wait before asking an instance again that refused a connection, and how long at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Where requests go.
pub(in crate::http) enum Upstream {
    Fleet { fleet: Fleet, url: String, host: HeaderValue },
    Remote { pool: Arc<Pool>, _sweeper: JoinSet<()> },
}

impl Upstream {
    pub(in crate::http) fn fleet(
        instances: watch::Receiver<Instances>,
        url: String,
        settings: &Settings,
    ) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let host = HeaderValue::from_str(uri.authority()?.as_str()).ok()?;
        let Times { connect, reuse, farewell, .. } = settings.times;
        let patience = Patience { connect, idle: reuse };
        let fleet = Fleet::new(instances, Habits { patience, farewell, ttl: settings.session_ttl });
        Some(Self::Fleet { fleet, url, host })
    }

    pub(in crate::http) fn remote(url: &str, settings: &Settings) -> Result<Self, RemoteError> {
        let Times { connect, .. } = settings.times;
        let remote = Remote::new(url, &Matcher::from_env(), connect)?;
        let patience = Patience { connect: connect + REMOTE_HANDSHAKE, idle: REMOTE_IDLE };
        let tally = Tally::new(settings.session_ttl);
        let pool = Pool::new(Arc::from(""), Place::Remote(Box::new(remote)), patience, tally);
        let mut sweeper = JoinSet::new();
        let swept = Arc::clone(&pool);
        sweeper.spawn(async move {
            let mut ticks = tokio::time::interval(REMOTE_IDLE);
            loop {
                ticks.tick().await;
                swept.sweep();
            }
        });
        Ok(Self::Remote { pool, _sweeper: sweeper })
    }

    /// What records of sessions hold: the Service's URL, or the origin of a remote server.
    pub(in crate::http) fn url(&self) -> String {
        match self {
            Self::Fleet { url, .. } => url.clone(),
            Self::Remote { pool, .. } => pool.remote().map(Remote::origin).unwrap_or_default(),
        }
    }

    /// What the backend is called in requests.
    pub(in crate::http) fn host(&self) -> Option<&HeaderValue> {
        match self {
            Self::Fleet { host, .. } => Some(host),
            Self::Remote { pool, .. } => pool.remote().map(Remote::host),
        }
    }

    /// The server elsewhere, if that is what it is.
    pub(in crate::http) fn elsewhere(&self) -> Option<&Remote> {
        match self {
            Self::Fleet { .. } => None,
            Self::Remote { pool, .. } => pool.remote(),
        }
    }

    /// The instance that a session is at. A server elsewhere is one instance that never goes away.
    pub(in crate::http) fn named(&self, name: Option<&str>) -> Option<Arc<Pool>> {
        match self {
            Self::Fleet { fleet, .. } => fleet.named(name?),
            Self::Remote { pool, .. } => Some(Arc::clone(pool)),
        }
    }

    /// How many instances take work. Nobody knows it of a server elsewhere.
    pub(in crate::http) fn ready(&self) -> Option<usize> {
        match self {
            Self::Fleet { fleet, .. } => Some(fleet.ready()),
            Self::Remote { .. } => None,
        }
    }

    /// Sends a request to the least loaded instance. If none takes it, waits for one as long as `patience` allows: a
    /// container that counts as ready may well not listen yet.
    pub(in crate::http) async fn send(
        &self,
        mut request: Box<Request<Payload>>,
        load: Load,
        purpose: Use,
        patience: Duration,
    ) -> Result<Response<Answer>, Failure> {
        let fleet = match self {
            Self::Fleet { fleet, .. } => fleet,
            Self::Remote { pool, .. } => return pool.send(request, purpose).await,
        };
        let mut deadline = None;
        let (mut pause, longest) = PAUSES;
        let mut refused = Vec::new();
        loop {
            if let Some(pool) = fleet.best(load, &refused) {
                match pool.send(request, purpose).await {
                    Err(Failure::Unreachable(back)) => {
                        request = back;
                        refused.push(pool);
                    }
                    outcome => return outcome,
                }
                continue;
            }
            let now = Instant::now();
            let deadline = *deadline.get_or_insert(now + patience);
            if now >= deadline {
                return Err(Failure::Unreachable(request));
            }
            fleet.changed(deadline.min(now + pause)).await;
            pause = (pause * 2).min(longest);
            refused.clear();
        }
    }
}
