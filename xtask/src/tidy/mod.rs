//! `cargo xtask tidy`: the rules of ARCHITECTURE.md that a program can check.

mod dependencies;
mod files;
mod invariants;
mod words;
#[cfg(test)]
mod writes;

use std::path::Path;

use anyhow::{Result, bail};

use crate::shell::{output, root};

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
    let sources = sources(root)?;
    let mut broken = dependencies::check(root)?;
    broken.extend(files::check(&sources));
    broken.extend(invariants::check(&sources));
    broken.extend(words::check(&sources));
    Ok(broken)
}

/// A text file that belongs to the project.
struct Source {
    path: String,
    text: String,
}

/// All of them: what git tracks, and what it would if it were added.
fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut git = std::process::Command::new("git");
    git.current_dir(root).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut found = Vec::new();
    for path in output(&mut git)?.lines() {
        // Binary files have no lines, and a deleted file is listed until that is committed.
        if let Ok(text) = std::fs::read_to_string(root.join(path)) {
            found.push(Source { path: path.to_owned(), text });
        }
    }
    Ok(found)
}
