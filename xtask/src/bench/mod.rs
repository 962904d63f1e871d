//! `cargo xtask bench`: measurements that have targets.

pub(crate) mod idle;
mod operator;
mod page;
mod proxy;
mod site;
mod table;

use std::os::unix::process::CommandExt;
use std::process::Command as Program;

use anyhow::{Context, Result};

pub(crate) use self::site::{NAMESPACE, Site, on_fresh_cluster};
use crate::shell::{cargo, run as run_command, say, target_folder};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Creates many MCPServers at once, and compares the operator with a bare client that sends the same writes
    ///
    /// 1,000 servers and then 5,000, and writes docs/bench-operator.md. Each of the two gets a fresh API server.
    /// Afterwards nothing may be written for a while, although no proxy ever becomes ready and every server is looked
    /// at again. What else the machine does shows in the numbers, so the load is printed with them. Takes about a
    /// quarter of an hour.
    Operator(operator::Arguments),
    /// Compares the proxy with a bare pass-through: what a request costs, and what sessions and streams take
    ///
    /// Both run in turns before the same server. All but --quick write docs/bench-proxy.md. Takes about ten minutes,
    /// with --soak about half an hour.
    Proxy(proxy::Arguments),
}

pub(crate) async fn run(command: Command) -> Result<()> {
    optimise()?;
    match command {
        Command::Operator(arguments) => operator::run(&arguments).await,
        Command::Proxy(arguments) => proxy::run(&arguments).await,
    }
}

/// Goes on as a program that is built with optimisations. A slow client would make everything else look fast.
fn optimise() -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    say("building xtask with optimisations");
    // What programs for users take minutes for would gain nothing here.
    let quick = ["--config", "profile.release.lto = false", "--config", "profile.release.codegen-units = 16"];
    run_command(cargo().args(["build", "--release", "--quiet", "--package", "xtask"]).args(quick))?;
    let program = target_folder()?.join("release").join("xtask");
    let error = Program::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}
