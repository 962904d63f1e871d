//! `cargo xtask build`: the programs as they are shipped.
//!
//! They hold everything that they need, the C library too, so that an image is one file. That also keeps them small in
//! memory: of a library that is a file of its own, whatever lies near a function that is used is held as well.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{cargo, output, root, run as run_command, say, target_folder};

/// The programs for users, each with the package that it is in.
const PROGRAMS: [(&str, &str); 2] = [("thv-operator", "thv-operator"), ("thv-proxy", "thv-proxyrunner")];

pub(crate) fn run() -> Result<()> {
    for (package, _) in PROGRAMS {
        build(package)?;
    }
    for (_, program) in PROGRAMS {
        println!("{}", built(program)?.display());
    }
    Ok(())
}

/// Builds the programs of one package of this workspace.
pub(crate) fn build(package: &str) -> Result<()> {
    say(&format!("building {package} with optimisations"));
    let platform = platform()?;
    let mut command = cargo();
    command.args(["build", "--release", "--quiet", "--package", package, "--target", &platform]);
    if platform.ends_with("-linux-gnu") {
        command.arg("--config");
        command.arg(format!("target.{platform}.rustflags = ['-Ctarget-feature=+crt-static']"));
    }
    run_command(&mut command)
}

/// Where [`build`] puts a program.
pub(crate) fn built(program: &str) -> Result<PathBuf> {
    Ok(target_folder()?.join(platform()?).join("release").join(program))
}

/// What this machine is to the compiler.
fn platform() -> Result<String> {
    let text = output(Command::new("rustc").arg("-vV").current_dir(root()))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("the compiler does not say what this machine is")?.to_owned())
}
