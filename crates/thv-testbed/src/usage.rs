//! What the kernel knows of a process: its memory, its time, its files.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long a tick of the kernel's accounts is. This is part of its interface, and the same on every machine.
const TICK: Duration = Duration::from_millis(10);

/// Memory in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is in use.
    pub resident: u64,
    /// What of that is in no file, such as a heap. The rest is mostly the program itself, as far as it was needed.
    pub anonymous: u64,
    /// The most that ever was.
    pub peak: u64,
}

/// The memory of a process.
pub fn memory(id: u32) -> Result<Memory> {
    let field = |file: &str, name: &str| {
        let text = read(id, file)?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        number.with_context(|| format!("the kernel does not tell {name} of process {id}"))
    };
    // What `status` has is as it was some pages ago, and that of each processor.
    let resident: u64 = field("smaps_rollup", "Rss")?;
    let anonymous = field("smaps_rollup", "Anonymous")?;
    Ok(Memory { resident, anonymous, peak: resident.max(field("status", "VmHWM")?) })
}

/// The time that a process has computed for.
pub fn computed(id: u32) -> Result<Duration> {
    let ticks =
        ticks(&read(id, "stat")?).with_context(|| format!("cannot read the times of process {id}"))?;
    Ok(TICK * ticks)
}

/// The ticks in user mode and in the kernel. They follow the name, which may contain anything.
fn ticks(text: &str) -> Option<u32> {
    let (_, rest) = text.rsplit_once(") ")?;
    let mut times = rest.split(' ').skip(11).map(str::parse::<u32>);
    times.next()?.ok()?.checked_add(times.next()?.ok()?)
}

/// How many threads a process has.
pub fn threads(id: u32) -> Result<usize> {
    entries(id, "task")
}

/// How many file descriptors a process has open.
pub fn files(id: u32) -> Result<usize> {
    entries(id, "fd")
}

/// Waits until a process has no more than `most` file descriptors open, and says how many it has then; or how many
/// it still has after `patience`.
pub async fn files_at_most(id: u32, most: usize, patience: Duration) -> Result<usize> {
    const STEP: Duration = Duration::from_millis(100);
    let mut left = patience;
    loop {
        let open = files(id)?;
        if open <= most || left.is_zero() {
            return Ok(open);
        }
        // The kernel tells nobody when another process closes a file.
        tokio::time::sleep(STEP).await;
        left = left.saturating_sub(STEP);
    }
}

/// The process of a program that was started with this in its arguments.
pub fn find(program: &str, argument: &str) -> Result<u32> {
    for entry in fs::read_dir("/proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // Processes come and go meanwhile.
        let Ok(line) = read(id, "cmdline") else { continue };
        if line.split('\0').next().is_some_and(|path| path.ends_with(program)) && line.contains(argument) {
            return Ok(id);
        }
    }
    bail!("there is no process of {program} with {argument}")
}

/// How busy this machine has been in the last minute.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn entries(id: u32, folder: &str) -> Result<usize> {
    let entries = fs::read_dir(format!("/proc/{id}/{folder}"));
    Ok(entries.with_context(|| format!("process {id} has ended"))?.count())
}

fn read(id: u32, file: &str) -> Result<String> {
    fs::read_to_string(format!("/proc/{id}/{file}")).with_context(|| format!("process {id} has ended"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_after_a_name_with_spaces() {
        let text = "7 (a b) c) S 1 7 7 0 -1 4194304 100 0 0 0 25 17 0 0 20 0 1 0 5 1000 100";
        assert_eq!(ticks(text), Some(42));
    }

    #[test]
    fn this_process_uses_memory_and_has_files_open() {
        let id = std::process::id();
        let memory = memory(id).unwrap();
        assert!(memory.resident > memory.anonymous && memory.anonymous > 0, "{memory:?}");
        assert!(memory.peak >= memory.resident, "{memory:?}");
        assert!(files(id).unwrap() >= 3 && threads(id).unwrap() >= 1);
    }
}
