//! `cargo xtask crds` and `cargo xtask crd-parity`: the definitions that crates/thv-api makes, written down for
//! others, and compared with those of the reference.

mod chart;
mod deliberate;
mod files;
mod page;
mod parity;
mod roles;
mod table;
mod yaml;

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::Value;

use self::files::Files;
use crate::shell::root;

/// Where the definitions of the reference are, on machines that have them.
const REFERENCE: &str = "../shared/reference/crds";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing, and fail if something would be written
    #[arg(long)]
    check: bool,
}

#[derive(clap::Args)]
pub(crate) struct ParityArguments {
    /// A folder with YAML files
    folder: PathBuf,
    /// Show the deliberate differences one by one
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.check {
        return check();
    }
    let done = files()?.write(&root())?;
    println!("{}", if done.is_empty() { "crds ok: nothing to do".to_owned() } else { done.join("\n") });
    Ok(())
}

/// Fails when a generated file is not what would be generated now.
pub(crate) fn check() -> Result<()> {
    let wrong = files()?.check(&root())?;
    if !wrong.is_empty() {
        bail!("run `cargo xtask crds`:\n{}", wrong.join("\n"));
    }
    println!("crds ok");
    Ok(())
}

pub(crate) fn parity(arguments: &ParityArguments) -> Result<()> {
    parity::run(&definitions()?, &arguments.folder, arguments.all)
}

/// Compares with the reference, where it is at hand.
pub(crate) fn parity_if_possible() -> Result<()> {
    let folder = root().join(REFERENCE);
    if !folder.is_dir() {
        println!("crd-parity skipped: there is no {REFERENCE}");
        return Ok(());
    }
    parity::run(&definitions()?, &folder, false)
}

fn files() -> Result<Files> {
    let definitions = definitions()?;
    let mut files = Files::default();
    chart::add(&mut files, &definitions)?;
    page::add(&mut files, &definitions)?;
    roles::add(&mut files)?;
    Ok(files)
}

/// Our definitions, with whole numbers as integers.
fn definitions() -> Result<Vec<Value>> {
    thv_api::crds().into_iter().map(|crd| Ok(yaml::whole_numbers(serde_json::to_value(crd)?))).collect()
}
