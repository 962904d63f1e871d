//! What the kernel says about this process.

use std::fs;
use std::path::Path;

/// This process. Everything is read when asked; what cannot be read is nothing.
pub(super) struct Process;

impl Process {
    pub(super) fn cpu() -> Option<f64> {
        cpu(&read("stat")?)
    }

    pub(super) fn resident_memory() -> Option<i64> {
        kilobytes(&read("status")?, "VmRSS:")
    }

    pub(super) fn virtual_memory() -> Option<i64> {
        kilobytes(&read("status")?, "VmSize:")
    }

    /// Newer kernels (6.2) have the number as the size of the folder; older ones have it listed, at more cost.
    pub(super) fn open_files() -> Option<i64> {
        let folder = Path::new(OWN).join("fd");
        let size = fs::metadata(&folder).ok()?.len();
        let number = if size > 0 { size } else { u64::try_from(fs::read_dir(folder).ok()?.count()).ok()? };
        i64::try_from(number).ok()
    }

    pub(super) fn max_files() -> Option<i64> {
        max_files(&read("limits")?)
    }
}

const OWN: &str = "/proc/self";

fn read(name: &str) -> Option<String> {
    fs::read_to_string(Path::new(OWN).join(name)).ok()
}

/// User and system time, in seconds. The name of the process stands in brackets and may contain anything.
fn cpu(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    // The kernel tells programs 100 ticks per second, whatever it uses itself.
    Some((f64::from(ticks()?) + f64::from(ticks()?)) / 100.0)
}

fn kilobytes(status: &str, name: &str) -> Option<i64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
    rest.trim().strip_suffix(" kB")?.parse::<i64>().ok()?.checked_mul(1024)
}

fn max_files(limits: &str) -> Option<i64> {
    let rest = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_files_and_limits() {
        assert!(Process::resident_memory().unwrap() > 100_000);
        assert!(Process::virtual_memory() > Process::resident_memory());
        assert!(Process::open_files().unwrap() >= 3);
        assert!(Process::max_files().is_some());
        assert!(Process::cpu().is_some());
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let stat = "7 (a) 9 (b)) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 10 1";
        assert_eq!(cpu(stat), Some(3.0));
        assert_eq!(cpu("nonsense"), None);
    }
}
