//! `cargo xtask`: the one developer tool of this project.

#![expect(clippy::doc_markdown, reason = "comments on arguments are help texts, where backticks are noise")]

mod acceptance;
mod bench;
mod ci;
mod cluster;
mod crds;
mod demo;
mod deny;
mod link_order;
mod patch_schema;
mod product;
mod results;
mod setup;
mod shell;
mod source;
mod suite;
mod test;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

/// Sets this machine up, tests, and runs a Kubernetes to play with.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Installs what tests need: Debian packages, a Kubernetes built from source, and the official SDKs of MCP
    ///
    /// Does only what is not done yet. The programs of Kubernetes come from --assets or $KUBEBUILDER_ASSETS if
    /// they are there, else from the cache ($THV_CACHE, or toolhive-rs in the user's cache folder), else they
    /// are built with Go, which takes 5 to 10 minutes the first time.
    Setup(setup::Arguments),
    /// A Kubernetes for a person: start it, stop it, look at it, give it images
    Cluster {
        #[command(subcommand)]
        command: cluster::Command,
    },
    /// Runs tests: unit, api, cluster, peers or soak; everything but soak when none is named
    ///
    /// unit needs nothing. api starts an API server, cluster a node that runs pods (as root). peers are other
    /// people's clients and servers. soak are tests of api that take long, and ci never runs them. A filter is a part of a test's name.
    Test(test::Arguments),
    /// Shows which acceptance items have tests, and how their last run ended
    Acceptance(acceptance::Arguments),
    /// Checks the architecture: who depends on whom, purity, file sizes, forbidden words
    Tidy,
    /// Writes the Helm chart with our CRDs and the page of the book that describes them
    Crds(crds::Arguments),
    /// Compares our CRDs with those of a folder, and fails where they differ without a reason
    CrdParity(crds::ParityArguments),
    /// Writes the table of how Kubernetes merges the fields of its types
    PatchSchema(patch_schema::Arguments),
    /// Builds the operator and the proxy as they are shipped: optimised, each one file that needs no other
    Build,
    /// Writes which functions of the proxy lie together, so that it takes little memory (needs root and valgrind)
    ///
    /// To be done when `bench proxy` finds that an idle proxy has grown.
    LinkOrder(link_order::Arguments),
    /// Shows the whole thing at work: a cluster, the operator, and an MCP server that an official client calls
    ///
    /// Tells how to look around, and takes everything away on Ctrl-C.
    Demo(demo::Arguments),
    /// Measures, and compares with targets. Never part of ci: a busy machine proves nothing
    Bench {
        #[command(subcommand)]
        command: bench::Command,
    },
    /// Everything that must pass before a change lands: setup, formatting, clippy, deny, tidy, CRDs, all tests
    Ci,
}

/// How much of a cluster.
#[derive(Clone, Copy, ValueEnum)]
enum Tier {
    /// An API server with its controllers, and no pods.
    Api,
    /// A node that runs pods as well. Needs root.
    Full,
}

impl From<Tier> for thv_testbed::Tier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Api => Self::Api,
            Tier::Full => Self::Full,
        }
    }
}

/// Where to look for the programs of Kubernetes first.
#[derive(clap::Args)]
struct Assets {
    /// A folder with kube-apiserver and so on, used instead of $KUBEBUILDER_ASSETS
    #[arg(long, value_name = "FOLDER")]
    assets: Option<PathBuf>,
}

// One thread: what we start is to die with us, and the kernel ties it to the thread that started it.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse().command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> Result<()> {
    match command {
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Cluster { command } => cluster::run(command).await,
        Command::Test(arguments) => test::run(&arguments).await,
        Command::Acceptance(arguments) => acceptance::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Crds(arguments) => crds::run(&arguments),
        Command::CrdParity(arguments) => crds::parity(&arguments),
        Command::PatchSchema(arguments) => patch_schema::run(&arguments),
        Command::Build => product::run(),
        Command::LinkOrder(arguments) => Box::pin(link_order::run(&arguments)).await,
        Command::Demo(arguments) => Box::pin(demo::run(&arguments)).await,
        Command::Bench { command } => bench::run(command).await,
        Command::Ci => ci::run().await,
    }
}
