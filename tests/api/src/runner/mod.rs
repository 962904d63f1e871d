//! The program `thv-proxyrunner` against a real API server, as processes: what a pod is born with and who may write the
//! backend. Without nodes no backend ever runs, and none of this needs one.

mod birth;
mod interleavings;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tests_fixture::grant_proxy;
use thv_api::kinds::MCPServer;
use thv_api::names::annotations;
use thv_config::Checksum;
use thv_testbed::{Space, Subject, SubjectBuilder, built_program, free_port, wait};

use crate::crds;
use crate::fixture::apply;

/// The account of all proxies of a test.
const ACCOUNT: &str = "proxy";

/// What the log says when a proxy has applied its backend, and when it never will.
const BOUND: &str = "the backend is what this proxy was made for";
const SUPERSEDED: &str = "this proxy writes nothing any more";

/// A server, and what its proxies need.
struct Server {
    space: Space,
    name: String,
    uid: String,
    kubeconfig: String,
}

/// A proxy to be started.
struct Proxy {
    image: String,
    revision: u64,
    /// Arguments before the image.
    arguments: Vec<String>,
    /// The configuration, where it differs from the usual one.
    config: Value,
    /// Variables, where they differ from the usual ones.
    environment: Vec<(&'static str, String)>,
}

impl Proxy {
    /// A proxy of this revision, whose backend runs this image.
    fn new(image: &str, revision: u64) -> Self {
        Self {
            image: image.to_owned(),
            revision,
            arguments: Vec::new(),
            config: json!({}),
            environment: Vec::new(),
        }
    }
}

/// The kinds of the API, and the account that proxies run as. Its roles come with the servers.
async fn account(space: &Space) -> Result<String> {
    crds::install(space).await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}});
    apply(&space.api::<ServiceAccount>(), ACCOUNT, "fixture", &account).await?;
    space.bed().kubeconfig_of(space.namespace(), ACCOUNT).await
}

impl Server {
    /// Makes a server whose newest revision is this one, with the rights that its proxies have.
    async fn make(space: &Space, kubeconfig: &str, name: &str, revision: u64) -> Result<Self> {
        let server = json!({
            "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer",
            "metadata": {"name": name, "annotations": {annotations::REVISION: format!("{revision}/digest")}},
            "spec": {"image": "new:1", "transport": "streamable-http"},
        });
        let made: MCPServer = apply(&space.api(), name, "test", &server).await?;
        grant_proxy(&space.client(), space.namespace(), ACCOUNT, name).await?;
        let uid = made.uid().context("a server has no uid")?;
        Ok(Self { space: space.clone(), name: name.to_owned(), uid, kubeconfig: kubeconfig.to_owned() })
    }

    /// The configuration of a proxy.
    fn config(&self, proxy: &Proxy) -> Result<String> {
        let mut config = json!({
            "schema_version": "v0.1.0", "name": self.name, "container_name": self.name, "base_name": self.name,
            "image": proxy.image, "transport": "streamable-http", "host": "127.0.0.1", "port": free_port()?,
            "target_port": 8080, "mcpserver_generation": proxy.revision,
        });
        for (key, value) in proxy.config.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        Ok(config.to_string())
    }

    /// Starts a proxy as the operator would have its pod start, on this machine.
    fn start(&self, proxy: &Proxy) -> Result<Subject> {
        let config = self.config(proxy)?;
        let mut builder = SubjectBuilder::new(built_program("thv-proxyrunner")?)
            .args(["run"])
            .args(&proxy.arguments)
            .args([&proxy.image])
            .file("kubeconfig", self.kubeconfig.as_str())
            .file("runconfig.json", config.as_str())
            .env("KUBECONFIG", "kubeconfig")
            .env("POD_NAMESPACE", self.space.namespace())
            .env("TOOLHIVE_RUNTIME", "kubernetes")
            .env("OPERATOR_OPENSHIFT", "false")
            .env("THV_MCPSERVER_GENERATION", proxy.revision.to_string())
            .env("THV_MCPSERVER_REVISION", format!("{}/{}", self.uid, proxy.revision))
            .env("THV_RUNCONFIG_CHECKSUM", Checksum::of(config.as_bytes()).as_str());
        for (name, value) in &proxy.environment {
            builder = builder.env(name, value);
        }
        builder.start()
    }

    /// Moves the server on to a newer revision, as the operator does before it renders anything with it.
    async fn mint(&self, revision: u64) -> Result<()> {
        let mark =
            json!({"metadata": {"annotations": {annotations::REVISION: format!("{revision}/digest")}}});
        let servers = self.space.api::<MCPServer>();
        servers.patch(&self.name, &PatchParams::default(), &Patch::Merge(mark)).await?;
        Ok(())
    }

    /// The backend, when `done` says yes to it.
    async fn backend(&self, what: &str, done: impl FnMut(&StatefulSet) -> bool) -> Result<StatefulSet> {
        wait::until(&self.space.api::<StatefulSet>(), &self.name, what, done).await
    }
}

/// The image of the backend's container.
fn image(set: &StatefulSet) -> Option<&str> {
    set.spec.as_ref()?.template.spec.as_ref()?.containers.iter().find(|it| it.name == "mcp")?.image.as_deref()
}

/// Waits until a program has written one of these texts. There is nothing to watch but its log.
async fn says(subject: &mut Subject, texts: &[&str]) -> Result<()> {
    for _ in 0..1200 {
        if texts.iter().any(|text| subject.output().contains(text)) {
            return Ok(());
        }
        if !subject.is_running()? {
            bail!("it has ended:\n{}", subject.output());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    bail!("it has not said any of {texts:?}:\n{}", subject.output());
}
