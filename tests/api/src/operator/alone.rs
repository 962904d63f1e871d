//! An operator on an API server of its own, for tests that change what all other tests share: which kinds there are.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::AsyncFnOnce;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::FutureExt;
use kube::Api;
use serde_json::json;
use tests_fixture::{ACCOUNT, Reach, grant};
use thv_api::kinds::MCPServer;
use thv_testbed::{
    Bed, Cluster, Owner, Recorder, Subject, SubjectBuilder, Tier, built_program, free_port, wait,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::minimal;
use crate::fixture::{apply, ask};

/// The namespace that the operator looks after.
pub(super) const NAMESPACE: &str = "default";

/// A process can have one cluster at a time.
static CLUSTER: Mutex<()> = Mutex::const_new(());

/// Runs a test on an API server of its own, which is taken down whatever happens.
pub(super) async fn on_own_cluster(test: impl AsyncFnOnce(&Bed) -> Result<()>) -> Result<()> {
    let _only = CLUSTER.lock().await;
    let assets = Bed::open(Tier::Api).await?.description().assets.clone();
    let cluster = Cluster::start(Tier::Api, assets, Owner::TestRun, &|_| {}).await?;
    let bed = Bed::at(&cluster.description().file()).await?;
    let outcome = AssertUnwindSafe(test(&bed)).catch_unwind().await;
    cluster.stop().await?;
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// An operator with Roles and no right in the whole cluster, whose probes can be asked.
pub(super) struct Alone {
    pub(super) recorder: Recorder,
    pub(super) subject: Subject,
    bed: Bed,
    port: u16,
}

impl Alone {
    /// Starts one behind `recorder`, with these environment variables.
    pub(super) async fn start(bed: &Bed, recorder: Recorder, environment: &[(&str, &str)]) -> Result<Self> {
        Box::pin(grant(&bed.client(), NAMESPACE, Reach::Namespace)).await?;
        let kubeconfig = recorder.kubeconfig_for(&bed.token_of(NAMESPACE, ACCOUNT).await?)?;
        let port = free_port()?;
        let mut builder = SubjectBuilder::new(built_program("thv-operator")?)
            .args(["--metrics-bind-address", "0", "--health-probe-bind-address", &format!(":{port}")])
            .args(["--kubeconfig".into(), kubeconfig.into_os_string()])
            .env("WATCH_NAMESPACE", NAMESPACE)
            .env("POD_NAMESPACE", NAMESPACE);
        for (name, value) in environment {
            builder = builder.env(name, *value);
        }
        Ok(Self { recorder, subject: builder.start()?, bed: bed.clone(), port })
    }

    /// Asks whether it is ready until the answer is as it should be.
    pub(super) async fn until(&self, what: &str, is_so: impl Fn(u16, &str) -> bool) -> Result<()> {
        let mut last = (0, String::new());
        let asking = async {
            loop {
                // It may not listen yet.
                if let Ok(answer) = self.ask(Ipv4Addr::LOCALHOST.into(), "/readyz").await {
                    last = answer;
                    if is_so(last.0, &last.1) {
                        return;
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let done = timeout(wait::DEADLINE, asking).await.is_ok();
        let output = self.subject.output();
        ensure!(done, "waited until {what}; its answer is {last:?}, and it wrote:\n{output}");
        Ok(())
    }

    /// Waits until it is ready.
    pub(super) async fn ready(&self) -> Result<()> {
        self.until("it is ready", |status, _| status == 200).await
    }

    /// Waits until it is not ready, and says this.
    pub(super) async fn waits(&self, text: &str) -> Result<()> {
        let what = format!("it is not ready, because {text}");
        self.until(&what, |status, body| status == 503 && body.contains(text)).await
    }

    /// The status and the text of its answer at an address of this machine.
    pub(super) async fn ask(&self, address: IpAddr, path: &str) -> Result<(u16, String)> {
        ask(address, self.port, path).await
    }

    /// Makes a server and waits until the operator has dealt with it.
    pub(super) async fn server(&self, name: &str) -> Result<()> {
        let api: Api<MCPServer> = Api::namespaced(self.bed.client(), NAMESPACE);
        let body = json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": name},
            "spec": minimal(),
        });
        apply(&api, name, "user", &body).await?;
        let done = wait::until(&api, name, "the operator has dealt with it", |server| {
            server.status.as_ref().is_some_and(|status| status.observed_generation.is_some())
        });
        done.await.map(drop)
    }
}
