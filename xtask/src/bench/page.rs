//! Pages of the documentation that keep results.

use std::fs;

use anyhow::{Context, Result};

use crate::shell::{root, say};

/// A page.
pub(super) struct Page {
    /// Where it is.
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    /// What wrote it.
    pub(super) command: &'static str,
    /// How it was measured.
    pub(super) method: &'static str,
}

impl Page {
    /// Writes it anew, with these results.
    pub(super) fn write(&self, results: &str) -> Result<()> {
        let Self { file, title, command, method } = self;
        let machine = machine();
        let text = format!("# {title}\n\nWritten by `{command}` on {machine}.\n\n{results}\n{method}");
        fs::write(root().join(file), text).with_context(|| format!("cannot write {file}"))?;
        say(&format!("wrote {file}"));
        Ok(())
    }
}

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
