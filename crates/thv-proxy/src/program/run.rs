//! A proxy from its start to its end.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use thv_api::names::{env, sessions};
use thv_config::{Checksum, GoDuration, RunConfig};
use thv_session::{Password, RedisOptions, Sessions};
use thv_telemetry::{Fence, Gauge, Metrics};
use thv_workload::{Connection, Kubernetes, Standing, platform_of};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::config_file::PLACES;
use super::environment::Environment;
use super::observing::Observing;
use super::options::Run;
use super::start::Start;
use crate::http::{Chain, Drained, Front, Settings, Target, serve};

/// What requests to the API server say of who sends them.
const AGENT: &str = concat!("thv-proxyrunner/", env!("CARGO_PKG_VERSION"));

/// The only thing that runs backends so far.
const KUBERNETES: &str = "kubernetes";

/// How often to look for a file that is late.
const LATE: Duration = Duration::from_secs(1);

/// Where the sessions of a proxy belong that is in no namespace.
const NO_NAMESPACE: &str = "default";

/// Runs a proxy until it is told to stop, and then until everything that it had begun is finished.
pub async fn run(run: &Run, environment: &Environment) -> Result<()> {
    // A signal is a request to stop from here on, also while the proxy is still coming up.
    let stop = stop_signal()?;
    let start = Start::prepare(&PLACES, run, environment)?;
    let chain = Chain::new(&start.middlewares)?;
    let observing = Observing::start(&start).await?;
    // It listens before there is a backend: whoever comes early waits a moment instead of being turned away.
    let listener = listen(&start.config).await?;

    let backend = backend(&start, environment, &observing.metrics).await?;
    let (backend, namespace) = backend.unzip();
    let namespace = namespace.or_else(|| environment.namespace.clone()).unwrap_or(NO_NAMESPACE.to_owned());
    let config = &start.config;
    let settings = settings(config);
    let target = match &backend {
        Some(backend) => {
            Target::Backend { instances: backend.instances(), service_url: backend.service_url().to_owned() }
        }
        None => Target::Remote { url: config.remote_url.0.clone() },
    };
    let front = Front {
        transport: config.transport,
        target,
        sessions: Arc::new(sessions_of(config, &namespace, environment, settings.session_ttl)?),
        metrics: Arc::clone(&observing.metrics),
        tracing: observing.telemetry.tracing(),
        chain,
        settings,
        metrics_on_transport_port: observing.on_transport_port,
    };
    tracing::info!(server = config.name, address = %listener.local_addr()?, "listening");
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = right_file(&start) => {
                tracing::info!("the configuration that this proxy was made for has arrived; starting again with it");
            }
        }
    };
    match serve(listener, front, stop).await? {
        Drained::Completely => tracing::info!("everything that was begun is finished"),
        Drained::Cut => tracing::warn!("some answers took too long and were cut off"),
    }
    if let Some(backend) = backend {
        backend.stop().await;
    }
    observing.stop().await;
    Ok(())
}

/// Resolves when the file that this process was made for is there at last, if it was another one at the start. The
/// process then ends, and its container starts again with the right one.
async fn right_file(start: &Start) {
    let Some(expected) = start.birth.checksum.as_ref().filter(|_| !start.is_bound) else {
        return std::future::pending().await;
    };
    tracing::warn!(
        "the configuration is not the one that this proxy was made for; it serves by what is there"
    );
    loop {
        tokio::time::sleep(LATE).await;
        let bytes = tokio::fs::read(&start.document.path).await.unwrap_or_default();
        if Checksum::of(&bytes) == **expected {
            return;
        }
    }
}

/// Resolves at the first signal that asks the process to stop.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::quit()]
        .map(signal)
        .into_iter()
        .collect::<std::io::Result<Vec<_>>>()
        .context("cannot wait for signals")?;
    Ok(async move {
        std::future::poll_fn(|cx| {
            let asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if asked { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    })
}

async fn listen(config: &RunConfig) -> Result<TcpListener> {
    // As in Go, no host means all of them.
    let host = if config.host.is_empty() { "0.0.0.0" } else { config.host.trim_matches(['[', ']']) };
    let port = config.port;
    TcpListener::bind((host, port)).await.with_context(|| format!("cannot listen on {host}:{port}"))
}

/// Brings the backend up, unless it is a remote one, and says in which namespace.
async fn backend(
    start: &Start,
    environment: &Environment,
    metrics: &Metrics,
) -> Result<Option<(Kubernetes, String)>> {
    let Start { config, middlewares: _, birth, document, is_bound: _ } = start;
    if config.is_remote() {
        return Ok(None);
    }
    match environment.runtime.as_deref() {
        Some(KUBERNETES) => {}
        Some(other) => bail!("{} is {other:?}, and backends run on {KUBERNETES} only", env::RUNTIME),
        None => bail!(
            "there is no cluster to run the backend on: run in a pod, or set {}={KUBERNETES}",
            env::RUNTIME
        ),
    }
    let connection = Connection::open(environment.namespace.as_deref(), AGENT).await?;
    let namespace = connection.namespace.clone();
    let platform = platform_of(environment.platform.as_deref());
    let backend = Kubernetes::start(connection, platform, config, birth.clone(), document.clone())?;
    let (standing, tally) = (backend.state(), backend.tally());
    metrics.observe_fence(move || fence(&standing.borrow()));
    metrics.observe(Gauge::RefusedWrites, move || i64::try_from(tally.refusals()).unwrap_or(i64::MAX));
    Ok(Some((backend, namespace)))
}

const fn fence(standing: &Standing) -> Fence {
    match standing {
        Standing::Waiting { .. } => Fence::Waiting,
        Standing::Bound => Fence::Bound,
        Standing::Unbound => Fence::Unbound,
        Standing::Superseded { .. } => Fence::Superseded,
        Standing::Refused { .. } => Fence::Refused,
    }
}

fn sessions_of(
    config: &RunConfig,
    namespace: &str,
    environment: &Environment,
    ttl: Duration,
) -> Result<Sessions> {
    let redis = config.scaling_config.as_ref().and_then(|scaling| scaling.session_redis.as_ref());
    let Some(redis) = redis else { return Ok(Sessions::in_memory(ttl)) };
    let own = || sessions::default_key_prefix(namespace, &config.name);
    let options = RedisOptions {
        address: redis.address.clone(),
        db: redis.db,
        password: environment
            .redis_password
            .as_ref()
            .map(|secret| Password::from(secret.expose().to_owned())),
        prefix: Some(redis.key_prefix.clone()).filter(|prefix| !prefix.is_empty()).unwrap_or_else(own),
    };
    Sessions::in_redis(options, ttl).context("scaling_config.session_redis")
}

fn settings(config: &RunConfig) -> Settings {
    let usual = Settings::default();
    let ttl = config.session_ttl.as_ref().and_then(GoDuration::to_std).filter(|ttl| !ttl.is_zero());
    Settings {
        trust_forwarded: config.trust_proxy_headers,
        endpoint_prefix: config.endpoint_prefix.clone(),
        stateless: config.stateless,
        session_ttl: ttl.unwrap_or(usual.session_ttl),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lives_two_hours_unless_told_otherwise() {
        let two_hours = Duration::from_hours(2);
        assert_eq!(settings(&RunConfig::default()).session_ttl, two_hours);
        let short =
            RunConfig { session_ttl: Some(GoDuration::from_nanos(5_000_000_000)), ..RunConfig::default() };
        assert_eq!(settings(&short).session_ttl.as_secs(), 5);
    }

    #[tokio::test]
    async fn a_backend_needs_a_cluster_and_an_error_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runconfig.json");
        let config = r#"{"name":"s","transport":"sse","host":"","port":8080,"target_port":8080}"#;
        std::fs::write(&path, config).unwrap();
        let run = Run { k8s_pod_patch: None, image: "i".to_owned(), rest: Vec::new() };
        let metrics = Metrics::new("s", "sse");
        for (variables, named) in
            [(vec![], "TOOLHIVE_RUNTIME"), (vec![("TOOLHIVE_RUNTIME", "docker")], "docker")]
        {
            let variables =
                variables.into_iter().map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned()));
            let environment = Environment::read(variables);
            let start = Start::prepare(&[&path], &run, &environment).unwrap();
            let error = backend(&start, &environment, &metrics).await.err().unwrap().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
