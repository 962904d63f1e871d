//! `cargo xtask link-order`: which functions of the proxy lie together.
//!
//! Most of what an idle proxy holds in memory is its own code. The kernel maps 64 KiB around whatever runs, so a
//! program whose few busy functions are scattered holds all the others as well. The list tells the linker which ones run
//! from the start until there is nothing to do.

mod names;
mod order;
mod trace;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use thv_testbed::Tier;

use self::names::{Symbols, patterns};
use crate::bench::on_fresh_cluster;
use crate::shell::{output, root, say};
use crate::{product, setup};

/// What the linker is given by the build script beside it.
const LIST: &str = "crates/thv-proxy/start.ld";
const PROGRAM: &str = "thv-proxyrunner";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    assets: crate::Assets,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let assets = arguments.assets.assets.as_deref();
    setup::prepare(Tier::Api, assets)?;
    product::build("thv-operator")?;
    product::build("thv-proxy")?;
    let program = product::built(PROGRAM)?;
    let symbols = output(Command::new("nm").args(["--defined-only", "--print-size"]).arg(&program))?;
    let symbols = Symbols::parse(&symbols);
    let trace = async |cluster: &_| Box::pin(trace::run(cluster, &program)).await;
    let run = on_fresh_cluster(Tier::Api, assets, trace).await?;
    let patterns = patterns(&symbols, &run);
    fs::write(root().join(LIST), script(&patterns)).with_context(|| format!("cannot write {LIST}"))?;
    say(&format!("{} functions ran; wrote {LIST} with {} lines", run.len(), patterns.len()));
    Ok(())
}

/// A script that puts sections with these names before all other code.
fn script(patterns: &BTreeSet<String>) -> String {
    let lines: Vec<_> = patterns.iter().map(|pattern| format!("    *(.text.{pattern})")).collect();
    format!(
        "/* What runs from the start until there is nothing to do, so that it lies together.\n   \
         Written by `cargo xtask link-order`. */\n\
         SECTIONS\n{{\n  .text.start :\n  {{\n{}\n  }}\n}}\nINSERT BEFORE .text;\n",
        lines.join("\n")
    )
}
