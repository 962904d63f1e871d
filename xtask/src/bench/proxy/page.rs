//! The page that keeps the results.

use anyhow::Result;

use crate::bench::page::Page;
use crate::bench::table::Table;

/// Writes the page anew.
pub(super) fn write(scale: &str, table: &Table) -> Result<()> {
    let page = Page {
        file: "docs/bench-proxy.md",
        title: "The proxy beside a bare pass-through",
        command: if scale == "soak" { "cargo xtask bench proxy --soak" } else { "cargo xtask bench proxy" },
        method: METHOD,
    };
    page.write(&table.markdown("pass-through", "proxy"))
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
