//! A proxy of this test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use thv_config::Transport;
use thv_config::middleware::{AuthParameters, Middleware};
use thv_proxy::http::{Chain, Drained, Front, Settings, Target, serve};
use thv_session::{Key, Record, Sessions};
use thv_telemetry::Metrics;
use thv_workload::{Instance, Instances};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::{Reply, initialize, initialized, post};

/// What a proxy is to be like.
pub(crate) struct RigBuilder {
    transport: Transport,
    instances: Vec<Instance>,
    remote: Option<String>,
    sessions: Option<Arc<Sessions>>,
    middlewares: Vec<Middleware>,
    settings: Settings,
}

/// A running proxy.
pub(crate) struct Rig {
    pub(crate) address: SocketAddr,
    pub(crate) instances: watch::Sender<Instances>,
    pub(crate) sessions: Arc<Sessions>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<Drained>>,
}

/// An instance that is ready.
pub(crate) fn instance(ordinal: u32, address: SocketAddr) -> Instance {
    Instance {
        ordinal,
        uid: format!("uid-{ordinal}").into(),
        container: format!("containerd://{ordinal}").into(),
        address,
        ready: true,
        terminating: false,
    }
}

impl RigBuilder {
    pub(crate) fn backends(mut self, addresses: &[SocketAddr]) -> Self {
        self.instances = (0..).zip(addresses).map(|(ordinal, address)| instance(ordinal, *address)).collect();
        self
    }

    pub(crate) fn instances(mut self, instances: Vec<Instance>) -> Self {
        self.instances = instances;
        self
    }

    pub(crate) fn remote(mut self, url: &str) -> Self {
        self.remote = Some(url.to_owned());
        self
    }

    pub(crate) fn sessions(mut self, sessions: Sessions) -> Self {
        self.sessions = Some(Arc::new(sessions));
        self
    }

    pub(crate) fn with(mut self, middleware: Middleware) -> Self {
        self.middlewares.push(middleware);
        self
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub(crate) async fn start(self) -> Rig {
        let Self { transport, instances, remote, sessions, middlewares, settings } = self;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sessions = sessions.unwrap_or_else(|| Arc::new(Sessions::in_memory(settings.session_ttl)));
        let (sender, receiver) = watch::channel(Instances::from(instances));
        let target = match remote {
            Some(url) => Target::Remote { url },
            None => Target::Backend { instances: receiver, service_url: "http://mcp-web:8080".to_owned() },
        };
        let front = Front {
            transport,
            target,
            sessions: Arc::clone(&sessions),
            metrics: Arc::new(Metrics::new("web", transport.as_str())),
            tracing: None,
            chain: Chain::new(&middlewares).unwrap(),
            settings,
            metrics_on_transport_port: true,
        };
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            serve(listener, front, stopped).await.unwrap()
        });
        Rig { address, instances: sender, sessions, stop: Some(stop), served: Some(served) }
    }
}

impl Rig {
    /// Of what everybody has: the settings of the product, with drains that tests can wait for.
    pub(crate) fn builder(transport: Transport) -> RigBuilder {
        let mut settings = Settings::default();
        settings.times.accept = Duration::ZERO;
        settings.times.drain = Duration::from_secs(5);
        settings.times.backend = Duration::from_secs(5);
        RigBuilder {
            transport,
            instances: Vec::new(),
            remote: None,
            sessions: None,
            middlewares: vec![Middleware::Auth(AuthParameters::default())],
            settings,
        }
    }

    /// In front of streamable HTTP at these addresses.
    pub(crate) async fn of(addresses: &[SocketAddr]) -> Self {
        Self::builder(Transport::StreamableHttp).backends(addresses).start().await
    }

    /// A session, initialised, as a header.
    pub(crate) async fn session(&self) -> String {
        let reply = post(self.address, &[], &initialize()).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let header = format!("mcp-session-id: {}", reply.session());
        let done = post(self.address, &[&header], &initialized()).await;
        assert_eq!(done.status, 202, "{done:?}");
        header
    }

    /// Calls a tool in a session.
    pub(crate) async fn call(&self, session: &str, tool: &str, arguments: serde_json::Value) -> Reply {
        let call = super::tool(tool, arguments);
        post(self.address, &[session, "mcp-protocol-version: 2025-11-25"], &call).await
    }

    /// Calls `counter`, which says how often it was called in its session.
    pub(crate) async fn count(&self, session: &str) -> Reply {
        self.call(session, "counter", json!({})).await
    }

    /// The record of a session.
    pub(crate) async fn record(&self, session: &str) -> Option<Arc<Record>> {
        let id = session.strip_prefix("mcp-session-id: ").unwrap_or(session);
        self.sessions.reread(Key::of(id)).await.unwrap()
    }

    /// Replaces the instances.
    pub(crate) fn become_of(&self, instances: Vec<Instance>) {
        self.instances.send_replace(Instances::from(instances));
    }

    /// Announces the end.
    pub(crate) fn announce(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits for the end.
    pub(crate) async fn drained(&mut self) -> Drained {
        self.announce();
        self.served.take().unwrap().await.unwrap()
    }
}
