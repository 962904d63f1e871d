//! `cargo xtask patch-schema`: how Kubernetes merges the fields of its types, as a table for `thv-plan`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell::{output, root, say};

/// The table, from the root of the workspace.
const TABLE: &str = "crates/thv-plan/src/strategic_merge/table.txt";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing, and fail if the table is not what would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.check {
        return check();
    }
    fs::write(root().join(TABLE), generate()?).with_context(|| format!("cannot write {TABLE}"))?;
    say(&format!("wrote {TABLE}"));
    Ok(())
}

/// Whether the table is that of the Kubernetes version which `tools/strategicpatch` pins.
pub(crate) fn check() -> Result<()> {
    let present = fs::read_to_string(root().join(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    if present != generate()? {
        bail!("{TABLE} is not what Kubernetes says: run `cargo xtask patch-schema`");
    }
    Ok(())
}

/// The table comes from the tags of Kubernetes' Go types, because these are what Go's own merge goes by. The
/// OpenAPI document has the same strategies and keys, but does not say which fields are pointers.
fn generate() -> Result<String> {
    let mut go = Command::new("go");
    go.current_dir(root().join("tools/strategicpatch")).env("CGO_ENABLED", "0");
    output(go.args(["run", "-trimpath", ".", "table"])).context("is Go 1.26 or newer installed?")
}
