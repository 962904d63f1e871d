//! The program: from a command line and an environment to an operator that runs, whichever kinds it knows.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use http::HeaderValue;
use http::header::USER_AGENT;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use thv_plan::Settings;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::bind::Bind;
use crate::endpoints::{Endpoint, Readiness};
use crate::leader::Leader;
use crate::metrics::Metrics;
use crate::operator::Operator;
use crate::options::{Environment, Options};
use crate::platform;
use crate::registry::Registry;

/// What requests say of who sends them.
const AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// How long a connection may be silent while we wait for it: longer than any watch, which the API server ends after less
/// than five minutes.
const READ_TIMEOUT: Duration = Duration::from_secs(330);

/// Runs an operator for these kinds until the process is told to stop.
pub async fn main(registry: Registry) -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().json().with_env_filter(filter).with_writer(std::io::stderr).init();
    match run(Options::parse(), &registry).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "the operator cannot run");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options, registry: &Registry) -> Result<()> {
    let environment = Environment::read(&std::env::vars().collect())?;
    let config = config(&options).await?;
    let namespace = environment.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
    let program = Program {
        options,
        environment,
        namespace,
        client: Client::try_from(config)?,
        metrics: Metrics::new(),
        readiness: Readiness::default(),
    };

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    tokio::select! {
        result = program.serve() => result,
        () = program.operate(registry, stop) => Ok(()),
    }
}

/// How to reach the API server.
async fn config(options: &Options) -> Result<Config> {
    let mut config = match &options.kubeconfig {
        Some(file) => {
            let kubeconfig =
                Kubeconfig::read_from(file).with_context(|| format!("cannot read {}", file.display()))?;
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?
        }
        None => Config::infer().await.context("no cluster: run in one, or name a --kubeconfig")?,
    };
    config.headers.push((USER_AGENT, HeaderValue::from_static(AGENT)));
    // A request that fails is tried again by the next pass, after its backoff. The client itself would try for minutes,
    // and nobody would hear why nothing happens.
    config.default_retry = false;
    // A list that is never answered is asked for again. Watches are idle for as long as that, and end before.
    config.read_timeout = Some(READ_TIMEOUT);
    config.reset_reader_on_write = true;
    Ok(config)
}

/// What the parts of the program have in common.
struct Program {
    options: Options,
    environment: Environment,
    /// Where the Lease is.
    namespace: String,
    client: Client,
    metrics: Arc<Metrics>,
    readiness: Readiness,
}

impl Program {
    /// Answers probes, and whoever collects metrics.
    async fn serve(&self) -> Result<()> {
        let serve = async |endpoint: Endpoint, bind: Bind| {
            let listening = || format!("cannot listen on {bind}");
            match bind.listen().with_context(listening)? {
                Some(listener) => endpoint.serve(listener).await.with_context(listening),
                None => std::future::pending().await,
            }
        };
        tokio::try_join!(
            serve(Endpoint::Metrics(self.metrics.clone()), self.options.metrics_bind_address),
            serve(Endpoint::Health(self.readiness.clone()), self.options.health_probe_bind_address),
        )?;
        Ok(())
    }

    /// Waits until the API server is ready for an operator, and runs one until `stop` is ready.
    async fn operate(&self, registry: &Registry, stop: impl Future<Output = ()>) {
        let Self { options, environment, namespace, client, metrics, readiness } = self;
        tokio::pin!(stop);
        let surroundings = async {
            platform::kinds_are_served(client, readiness).await;
            match environment.platform {
                Some(platform) => platform,
                None => platform::detect(client, readiness).await,
            }
        };
        let platform = tokio::select! {
            platform = surroundings => platform,
            () = &mut stop => return,
        };
        let settings = Settings { platform, ..environment.settings.clone() };
        let leader = options.leader_elect.then(|| Leader::new(client.clone(), namespace, &environment.host));
        let (scopes, tuning) = (&environment.scopes, options.tuning(environment));
        let operator = Operator::new(client.clone(), registry, settings, scopes, metrics.clone(), tuning);
        operator.run(leader, readiness.clone(), stop).await;
    }
}
