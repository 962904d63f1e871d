//! The cgroup that the kubelet puts pods under.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Its name, below the root of each hierarchy.
pub(crate) const NAME: &str = "thv-testbed";

const ROOT: &str = "/sys/fs/cgroup";

/// Whether any is there.
pub(crate) fn exists() -> bool {
    folders().iter().any(|folder| folder.exists())
}

/// Makes it in every hierarchy.
pub(crate) fn create() -> Result<()> {
    let unified = is_unified();
    for folder in folders() {
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", folder.display())),
        }
        if unified {
            delegate(Path::new(ROOT))?;
            delegate(&folder)?;
        }
        // A cpuset of cgroup v1 starts out empty, and then no process can be put there.
        for file in ["cpuset.cpus", "cpuset.mems"] {
            let (ours, parents) = (folder.join(file), folder.with_file_name(file));
            if !unified && ours.exists() {
                let value = fs::read(&parents).with_context(|| parents.display().to_string())?;
                fs::write(&ours, value).with_context(|| ours.display().to_string())?;
            }
        }
    }
    Ok(())
}

/// Removes it; false while the kernel still has processes in it.
pub(crate) fn remove() -> Result<bool> {
    let mut gone = true;
    for folder in folders() {
        gone &= remove_tree(&folder)?;
    }
    Ok(gone)
}

fn remove_tree(folder: &Path) -> Result<bool> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(true) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && !remove_tree(&entry.path())? {
            return Ok(false);
        }
    }
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == ErrorKind::ResourceBusy => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot remove {}", folder.display())),
    }
}

/// One folder on cgroup v2, one for each controller on v1.
fn folders() -> Vec<PathBuf> {
    if is_unified() {
        return vec![Path::new(ROOT).join(NAME)];
    }
    let entries = fs::read_dir(ROOT).into_iter().flatten().flatten();
    let hierarchies = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    hierarchies.map(|entry| entry.path().join(NAME)).collect()
}

fn is_unified() -> bool {
    Path::new(ROOT).join("cgroup.controllers").exists()
}

/// Passes every controller that `folder` has on to the folders below it.
fn delegate(folder: &Path) -> Result<()> {
    let controllers = fs::read_to_string(folder.join("cgroup.controllers"))?;
    let all: Vec<_> = controllers.split_whitespace().map(|name| format!("+{name}")).collect();
    fs::write(folder.join("cgroup.subtree_control"), all.join(" "))
        .with_context(|| format!("cannot delegate controllers below {}", folder.display()))
}
