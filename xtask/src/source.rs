//! The text files of this project.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::shell::output;

/// A text file that belongs to the project.
pub(crate) struct Source {
    /// Where it is, from the root on.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }
}

/// All of them: what git tracks, and what it would if it were added.
pub(crate) fn all(root: &Path) -> Result<Vec<Source>> {
    let mut git = Command::new("git");
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
