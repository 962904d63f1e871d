//! cargo-deny: licences, banned crates, sources, advisories.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use thv_testbed::cache_folder;

use crate::shell::{root, run as run_command, say};

const VERSION: &str = "0.20.2";

/// Builds cargo-deny into the cache, unless it is there.
pub(crate) fn install() -> Result<()> {
    if program()?.is_file() {
        return Ok(());
    }
    say(&format!("building cargo-deny {VERSION}, which takes a few minutes"));
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["install", "cargo-deny", "--version", VERSION, "--locked", "--quiet"]);
    command.arg("--root").arg(folder()?);
    run_command(&mut command)
}

/// Checks the dependencies of the workspace by deny.toml.
pub(crate) fn check() -> Result<()> {
    run_command(deny()?.args(["check", "bans", "licenses", "sources"]))?;
    let advisories = deny()?.args(["check", "advisories"]).output().context("cannot run cargo-deny")?;
    let said = String::from_utf8_lossy(&advisories.stderr);
    match advisories.status.success() {
        true => println!("advisories ok"),
        false if said.contains("failed to fetch advisory database") => {
            println!("advisories skipped: the advisory database cannot be reached from this machine");
        }
        false => bail!("advisories:\n{said}"),
    }
    Ok(())
}

fn deny() -> Result<Command> {
    let mut command = Command::new(program()?);
    command.current_dir(root());
    Ok(command)
}

fn folder() -> Result<PathBuf> {
    Ok(cache_folder()?.join(format!("cargo-deny-{VERSION}")))
}

fn program() -> Result<PathBuf> {
    Ok(folder()?.join("bin/cargo-deny"))
}
