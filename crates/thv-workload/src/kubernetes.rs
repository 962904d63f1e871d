//! A backend on Kubernetes, as the rest of the proxy sees it.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use thv_api::names::children::mcp_server;
use thv_config::RunConfig;
use thv_plan::Platform;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::birth::Birth;
use crate::connection::Connection;
use crate::document::{Binder, Document};
use crate::instance::Instances;
use crate::keeper::{Keeper, Outlets};
use crate::pods::Follower;
use crate::render::{Blueprint, RenderError};
use crate::standing::{Standing, Tally};
use crate::writer::Writer;

/// How long a task may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// A backend that is being brought up and looked after, for as long as this lives. What it consists of stays when this
/// ends.
pub struct Kubernetes {
    service_url: String,
    standing: watch::Receiver<Standing>,
    instances: watch::Receiver<Instances>,
    tally: Arc<Tally>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Kubernetes {
    /// Starts to look after the backend that `config` asks for, in the background: a proxy serves whether its backend is
    /// there or not. Without a `platform`, the API server is asked for it.
    ///
    /// What is applied is the backend of the file that this proxy was [made for](Birth), even if `config` was read from
    /// another one, because the file was late. If it was not told which file that is, it is `config`.
    ///
    /// Has to be called within a Tokio runtime. It fails only if `config` asks for a backend that cannot be.
    pub fn start(
        connection: Connection,
        platform: Option<Platform>,
        config: &RunConfig,
        birth: Birth,
        document: Document,
    ) -> Result<Self, RenderError> {
        let blueprint = Arc::new(Blueprint::new(config, &birth)?);
        let Connection { client, namespace } = connection;
        let name = blueprint.name().to_owned();
        let writer = Writer::new(client.clone(), namespace.clone(), name.clone());
        let why = "it has not been looked at yet".to_owned();
        let (standing, standing_seen) = watch::channel(Standing::Waiting { why });
        let (set, set_seen) = watch::channel(None);
        let (instances, instances_seen) = watch::channel(Instances::from([]));
        let (stop, stopped) = watch::channel(false);
        let tally = Arc::new(Tally::default());
        let follower = Follower {
            writer: writer.clone(),
            token: birth.token.clone(),
            port: config.target_port,
            set: set_seen,
            standing: standing_seen.clone(),
            instances,
            tally: tally.clone(),
        };
        let has_services = !blueprint.services().is_empty();
        let token = birth.token.clone();
        let binder = Binder::new(document, birth, blueprint);
        let outlets = Outlets { standing, set, tally: tally.clone() };
        let keeper = Keeper::new(writer, token, platform, binder, outlets, client.clone(), namespace.clone());
        let tasks = vec![
            tokio::spawn(keeper.run(has_services, stopped.clone())),
            tokio::spawn(follow(follower, client, namespace, stopped)),
        ];
        let service_url = format!("http://{}:{}", mcp_server::backend_service(&name), config.target_port);
        Ok(Self { service_url, standing: standing_seen, instances: instances_seen, tally, stop, tasks })
    }

    /// The instances of the backend, as they come and go.
    pub fn instances(&self) -> watch::Receiver<Instances> {
        self.instances.clone()
    }

    /// How this proxy stands towards the backend.
    pub fn state(&self) -> watch::Receiver<Standing> {
        self.standing.clone()
    }

    /// How often things have happened.
    pub fn tally(&self) -> Arc<Tally> {
        self.tally.clone()
    }

    /// Where the backend is reached as a whole.
    pub fn service_url(&self) -> &str {
        &self.service_url
    }

    /// Ends it. No request is sent any more when this returns.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        for mut task in std::mem::take(&mut self.tasks) {
            if tokio::time::timeout(GRACE, &mut task).await.is_err() {
                task.abort();
                // How it ended does not matter any more.
                let _ = task.await;
            }
        }
    }
}

impl Drop for Kubernetes {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn follow(follower: Follower, client: Client, namespace: String, mut stopped: watch::Receiver<bool>) {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => {}
        () = follower.run(client, &namespace) => {}
    }
}
