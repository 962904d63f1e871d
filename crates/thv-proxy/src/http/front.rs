//! From a listener to the last answer.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Map};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use thv_config::Transport;
use thv_session::Sessions;
use thv_telemetry::{Metrics, Tracing};
use thv_workload::Instances;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::chain::Chain;
use super::handle::handle;
use super::identity::Identity;
use super::inbound::{Inbound, Traffic};
use super::life::{Life, Phase};
use super::proxy::{Caller, Proxy};
use super::reading::Room;
use super::reaper::Reaper;
use super::reply::Reply;
use super::settings::Settings;
use super::single_flight::SingleFlight;
use super::upstream::{RemoteError, Upstream, prepare};

/// The longest head of a request.
const HEAD: usize = 64 << 10;
/// How long before everything is over the last streams are told.
const LAST_CALL: Duration = Duration::from_secs(2);
/// For what is left to do after the last connection.
const TIDYING: Duration = Duration::from_secs(1);
/// How long to leave a listener alone that cannot accept, mostly for want of file descriptors.
const BREATHER: Duration = Duration::from_millis(50);

/// Everything that a proxy is made of.
pub struct Front {
    /// How the server is spoken to.
    pub transport: Transport,
    /// Where it is.
    pub target: Target,
    /// The sessions that clients have with it.
    pub sessions: Arc<Sessions>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What makes spans, if anything does.
    pub tracing: Option<Tracing>,
    /// What requests pass through.
    pub chain: Chain,
    /// What the proxy is told about itself.
    pub settings: Settings,
    /// Whether `/metrics` is served beside everything else.
    pub metrics_on_transport_port: bool,
}

/// Where a server is.
pub enum Target {
    /// In pods that come and go.
    Backend {
        /// Those that there are.
        instances: watch::Receiver<Instances>,
        /// The URL of their Service, which is what the server is called.
        service_url: String,
    },
    /// Elsewhere.
    Remote {
        /// Its URL, which may hold a key in its query.
        url: String,
    },
}

/// Why a proxy cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// This part of the program does not do it.
    #[error("a server over {0} is not reached by HTTP")]
    Transport(Transport),
    /// There is no such URL.
    #[error("the URL of the Service is malformed: {0}")]
    Service(String),
    /// The remote server cannot be used.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The listener does not know where it listens.
    #[error("the listener cannot be used")]
    Listener(#[source] std::io::Error),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Everything that was begun was finished.
    Completely,
    /// Some answers took too long and were cut off.
    Cut,
}

/// Serves until `stop` resolves, and then until everything is finished, within the time that the settings allow.
pub async fn serve(
    listener: TcpListener,
    front: Front,
    stop: impl Future<Output = ()>,
) -> Result<Drained, ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    let (reaper, reaping) = Reaper::start(Arc::clone(&front.sessions));
    let proxy = proxy(front, address.ip().is_loopback(), reaper)?;
    let (life, times) = (Arc::clone(&proxy.life), proxy.settings.times);
    // Every connection holds one of these; when all are gone, `recv` says so.
    let (alive, mut gone) = mpsc::channel::<Infallible>(1);
    let mut stop = pin!(stop);
    let begin = loop {
        tokio::select! {
            () = &mut stop => break Instant::now(),
            accepted = listener.accept() => take(&proxy, &alive, accepted).await,
        }
    };
    life.enter(Phase::Leaving);
    tracing::info!("no longer ready; requests are still taken for a moment");
    let closing = begin + times.accept;
    loop {
        tokio::select! {
            () = sleep_until(closing) => break,
            accepted = listener.accept() => take(&proxy, &alive, accepted).await,
        }
    }
    drop((listener, alive));
    life.enter(Phase::Closing);
    let over = (begin + times.drain).max(closing);
    let last_call = over.checked_sub(LAST_CALL.min(times.drain / 8)).unwrap_or(over);
    if timeout_at(last_call, gone.recv()).await.is_err() {
        life.enter(Phase::Ending);
    }
    let drained = match timeout_at(over, gone.recv()).await {
        Ok(_) => Drained::Completely,
        Err(_) => Drained::Cut,
    };
    life.enter(Phase::Over);
    gone.recv().await;
    drop(proxy);
    // Records that stay end by themselves.
    let _ = timeout(TIDYING, reaping).await;
    Ok(drained)
}

fn proxy(front: Front, is_loopback: bool, reaper: Reaper) -> Result<Arc<Proxy>, ServeError> {
    let Front { transport, target, sessions, metrics, tracing, chain, settings, metrics_on_transport_port } =
        front;
    if transport == Transport::Stdio {
        return Err(ServeError::Transport(transport));
    }
    let upstream = match target {
        Target::Backend { instances, service_url } => {
            let upstream = Upstream::fleet(instances, service_url.clone(), &settings);
            upstream.ok_or(ServeError::Service(service_url))?
        }
        Target::Remote { url } => Upstream::remote(&url, &settings)?,
    };
    tracing::warn!("nobody has to prove who they are: every caller is the user that this process runs as");
    let proxy = Arc::new(Proxy {
        transport,
        upstream,
        sessions,
        metrics,
        tracing,
        chain,
        room: Arc::new(Room::new(settings.bodies)),
        settings,
        metrics_on_transport_port,
        is_loopback,
        everybody: Identity::local(),
        life: Arc::new(Life::new()),
        replays: SingleFlight::default(),
        reaper,
    });
    proxy.observe();
    Ok(proxy)
}

async fn take(
    proxy: &Arc<Proxy>,
    alive: &mpsc::Sender<Infallible>,
    accepted: std::io::Result<(TcpStream, std::net::SocketAddr)>,
) {
    match accepted {
        Ok((stream, peer)) => {
            tokio::spawn(converse(Arc::clone(proxy), stream, peer, alive.clone()));
        }
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            tokio::time::sleep(BREATHER).await;
        }
    }
}

/// Serves one connection to its end, and lets go of `_alive` then.
async fn converse(
    proxy: Arc<Proxy>,
    stream: TcpStream,
    peer: std::net::SocketAddr,
    _alive: mpsc::Sender<Infallible>,
) {
    if prepare(&stream).is_err() {
        // It is gone already.
        return;
    }
    let life = Arc::clone(&proxy.life);
    let traffic = Arc::new(Traffic::default());
    let inbound = Inbound::new(stream, Arc::clone(&traffic), &proxy.settings.times);
    let service = Requests(Arc::new(Caller::new(proxy, peer, traffic)));
    let mut builder = Builder::new();
    // Both timeouts are `Inbound`'s.
    builder.max_header_size(HEAD).header_read_timeout(None);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(inbound), service));
    loop {
        let mut changed = pin!(life.changed());
        changed.as_mut().enable();
        let phase = life.phase();
        if phase >= Phase::Closing {
            connection.as_mut().graceful_shutdown();
        }
        if phase == Phase::Over {
            return;
        }
        // A change wakes the task once, and then the phase itself is looked at: that is cheaper than to ask for a
        // change every time that the connection has something to do.
        let mut asked = false;
        let ended = std::future::poll_fn(|cx| {
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(true);
            }
            if !std::mem::replace(&mut asked, true) && changed.as_mut().poll(cx).is_ready() {
                return Poll::Ready(false);
            }
            if life.phase() == phase { Poll::Pending } else { Poll::Ready(false) }
        });
        if ended.await {
            return;
        }
    }
}

/// The requests of one connection.
struct Requests(Arc<Caller>);

impl Service<Request<Incoming>> for Requests {
    type Response = Response<Reply>;
    type Error = Infallible;
    /// A box, because hyper keeps room for a future as long as the connection lives, and most of that is idle.
    type Future =
        Map<BoxFuture<'static, Response<Reply>>, fn(Response<Reply>) -> Result<Response<Reply>, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        handle(&self.0, request).map(Ok)
    }
}
