//! The page that keeps the results.

use std::fs;

use anyhow::{Context, Result};

use crate::bench::table::Table;
use crate::shell::{root, say};

const PAGE: &str = "docs/bench-proxy.md";

/// Writes the page anew.
pub(super) fn write(scale: &str, table: &Table) -> Result<()> {
    let text = format!("{}\n{}\n{}", introduction(scale), table.markdown("pass-through", "proxy"), METHOD);
    fs::write(root().join(PAGE), text).with_context(|| format!("cannot write {PAGE}"))?;
    say(&format!("wrote {PAGE}"));
    Ok(())
}

fn introduction(scale: &str) -> String {
    let command = if scale == "soak" { "cargo xtask bench proxy --soak" } else { "cargo xtask bench proxy" };
    format!(
        "# The proxy beside a bare pass-through\n\n\
         Written by `{command}` on {}.\n",
        machine()
    )
}

const METHOD: &str = "\
The pass-through is `thv-pass-through`, a reverse proxy of 100 lines with the crates, build profile, allocator and threads
of the proxy: it reads no body, knows no session and rewrites only the host. Both stand before the same server,
`thv-mcp-server`, and are asked in turns, round by round; each round yields a ratio, and the table shows their median. The
proxy has a processor of its own, and keeps sessions in Redis with metrics on and traces off, unless said otherwise. Time
computed is that of the process in user mode and in the kernel. A kB is 1,000 bytes. Files are counted when all clients
have gone; connections to the server that wait for the next request, as many as there were clients, do not count. In a
cluster, the proxy is a pod that the operator has made, with its backend, Redis and metrics.
";

/// The processor and the system, as far as they are known.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let count = processors.lines().filter(|line| line.starts_with("processor")).count();
    let system = read("/proc/sys/kernel/osrelease");
    let model = model.map_or("an unknown processor", |(_, model)| model);
    format!("{count} × {model}, Linux {}", system.trim())
}
