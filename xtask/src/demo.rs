//! `cargo xtask demo`: the whole thing at work, for a person to look at.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use tests_fixture::{Client, Operator, PROTOCOLS, Peers, Reach, Server, Site, Visit};
use thv_testbed::{Assets, Bed, Cluster, Leftovers, Owner, Tier, keeper};
use tokio::signal::unix::{SignalKind, signal};

use crate::setup;
use crate::shell::{Stopwatch, cargo, root, run as run_command, say};

/// The programs that take part: the operator, the proxy, and a server with a client.
const PACKAGES: [&str; 3] = ["thv-operator", "thv-proxy", "tests-peers"];
/// The program in the image that the example names.
const SERVER: &str = "peer-server";
/// What is applied.
const EXAMPLE: &str = "examples/minimal.yaml";
/// Where, so that `kubectl` needs no `--namespace`.
const NAMESPACE: &str = "default";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// End after the call, instead of waiting for Ctrl-C
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    assets: crate::Assets,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.assets.assets.as_deref();
    if keeper(&Owner::Person.folder()?).is_some() {
        bail!("a cluster is running already: `cargo xtask cluster down` stops it");
    }
    setup::prepare(Tier::Full, folder)?;
    let peers = Peers::install(&say)?;
    say("building the operator, the proxy and an MCP server");
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    run_command(cargo().args(["build", "--bins"]).args(packages))?;
    for leftover in Leftovers::remove().await?.0 {
        say(&format!("removed {leftover}"));
    }

    let mut cluster =
        Cluster::start(Tier::Full, Assets::find(Tier::Full, folder)?, Owner::Person, &say).await?;
    let description = cluster.description().clone();
    let mut terminated = signal(SignalKind::terminate())?;
    let show = async {
        let bed = Bed::at(&description.file()).await?;
        let scene = Scene::set(&bed).await?;
        scene.call(&peers).await?;
        if !arguments.once {
            scene.introduce()?;
            scene.operator_ends().await?;
        }
        Ok(())
    };
    let outcome = tokio::select! {
        _ = tokio::signal::ctrl_c() => Ok(()),
        _ = terminated.recv() => Ok(()),
        shown = show => shown,
        death = cluster.failed() => Err(anyhow!("the cluster broke down: {death}")),
    };
    say("taking the cluster down");
    cluster.stop().await?;
    outcome
}

/// An operator with a server that runs.
struct Scene {
    operator: Operator,
    server: Server,
}

impl Scene {
    async fn set(bed: &Bed) -> Result<Self> {
        let programs = std::env::current_exe()?;
        let programs = programs.parent().context("this program is in no folder")?;
        let site = Site::prepare(bed, NAMESPACE, Reach::Cluster, programs).await?;
        say("making images, and starting the operator");
        site.image(SERVER).await?;
        let operator = Operator::start(&site).await?;
        say(&format!("applying {EXAMPLE}, and waiting until it is ready"));
        let watch = Stopwatch::start();
        let manifest = std::fs::read_to_string(root().join(EXAMPLE))?;
        let manifest =
            serde_saphyr::from_str(&manifest).with_context(|| format!("{EXAMPLE} is no manifest"))?;
        let server = operator.make(&manifest).await?;
        say(&format!("it is ready after {}", watch.seconds()));
        Ok(Self { operator, server })
    }

    /// Has an official client call a tool.
    async fn call(&self, peers: &Peers) -> Result<()> {
        let [_, newest] = PROTOCOLS;
        say("calling it with the official TypeScript client");
        let visited = peers.visit(Client::TypeScript2(newest), &self.server.url).await;
        let Visit { version, server, tools, echo, resource: _ } = self.operator.explain(visited).await?;
        println!("    {server:?} speaks MCP {version}, has {} tools, and echo says {echo:?}", tools.len());
        Ok(())
    }

    /// Tells how to look around.
    fn introduce(&self) -> Result<()> {
        let Server { name, url, cluster_url } = &self.server;
        let description = self.operator.site().bed().description();
        let kubectl = self.operator.site().bed().program("kubectl")?;
        let client: PathBuf = self.operator.site().program("peer-client")?;
        println!();
        println!("The MCP server {name} is at {url}");
        println!("and for pods at {cluster_url}");
        println!();
        println!("Look around from another terminal:");
        println!("  export KUBECONFIG={}", description.kubeconfig.display());
        println!("  {} get mcpservers,deployments,statefulsets,services,pods", kubectl.display());
        println!("  {} {url} 2025-11-25    # the official Rust client", client.display());
        println!("Make another server of your own image:");
        println!(
            "  cargo xtask cluster load-image mine:1 --binary path/to/your/server    # it is localhost/mine:1 then"
        );
        println!();
        println!("Ctrl-C takes everything away.");
        Ok(())
    }

    /// Waits until the operator has ended by itself, which it should not.
    async fn operator_ends(mut self) -> Result<()> {
        while self.operator.subject.is_running()? {
            // This gives up after a while, which here means nothing.
            drop(self.operator.subject.exit().await);
        }
        bail!("the operator has ended:\n{}", self.operator.subject.output())
    }
}
