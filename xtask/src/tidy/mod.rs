//! `cargo xtask tidy`: the rules of ARCHITECTURE.md that a program can check.

mod dependencies;
mod files;
mod invariants;
mod recordings;
mod words;
#[cfg(test)]
mod writes;

use std::path::Path;

use anyhow::{Result, bail};

use crate::shell::root;
use crate::{acceptance, source};

pub(crate) fn run() -> Result<()> {
    let broken = check(&root())?;
    for rule in &broken {
        println!("tidy: {rule}");
    }
    if !broken.is_empty() {
        bail!("{} rules are broken; ARCHITECTURE.md and CONTRIBUTING.md say why they exist", broken.len());
    }
    println!("tidy ok");
    Ok(())
}

/// Every rule that the workspace at `root` breaks, as a sentence that says where and what to do.
fn check(root: &Path) -> Result<Vec<String>> {
    let sources = source::all(root)?;
    let mut broken = dependencies::check(root)?;
    broken.extend(files::check(&sources));
    broken.extend(invariants::check(&sources));
    broken.extend(recordings::check(&sources));
    broken.extend(words::check(&sources));
    broken.extend(acceptance::check(&sources)?);
    Ok(broken)
}
