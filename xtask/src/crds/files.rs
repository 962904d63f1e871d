//! Generated files: written, or checked against what is there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// What is to be there. Paths are those below the root of the workspace.
#[derive(Default)]
pub(super) struct Files {
    pub(super) texts: BTreeMap<String, String>,
    /// Folders with nothing but generated files.
    pub(super) folders: Vec<String>,
}

/// What is wrong with a file.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Missing,
    Stale,
    Superfluous,
}

impl Files {
    /// Makes it so. Returns what was done, in sentences.
    pub(super) fn write(&self, root: &Path) -> Result<Vec<String>> {
        let mut done = Vec::new();
        for (path, state) in self.wrong(root)? {
            let full = root.join(&path);
            let context = || format!("cannot write {path}");
            if let Some(text) = self.texts.get(&path) {
                fs::create_dir_all(full.parent().unwrap_or(root)).with_context(context)?;
                fs::write(&full, text).with_context(context)?;
            } else {
                fs::remove_file(&full).with_context(|| format!("cannot remove {path}"))?;
            }
            done.push(match state {
                State::Missing => format!("added {path}"),
                State::Stale => format!("changed {path}"),
                State::Superfluous => format!("removed {path}"),
            });
        }
        Ok(done)
    }

    /// Every file that is not as it should be, in sentences.
    pub(super) fn check(&self, root: &Path) -> Result<Vec<String>> {
        let sentence = |(path, state)| match state {
            State::Missing => format!("{path} is missing"),
            State::Stale => format!("{path} is stale"),
            State::Superfluous => format!("{path} is superfluous"),
        };
        Ok(self.wrong(root)?.into_iter().map(sentence).collect())
    }

    fn wrong(&self, root: &Path) -> Result<BTreeMap<String, State>> {
        let mut wrong = BTreeMap::new();
        for (path, text) in &self.texts {
            let full = root.join(path);
            if !full.exists() {
                wrong.insert(path.clone(), State::Missing);
            } else if fs::read(&full).with_context(|| format!("cannot read {path}"))? != text.as_bytes() {
                wrong.insert(path.clone(), State::Stale);
            }
        }
        for folder in self.folders.iter().filter(|folder| root.join(folder).exists()) {
            let context = || format!("cannot read {folder}");
            for entry in fs::read_dir(root.join(folder)).with_context(context)? {
                let path = format!("{folder}/{}", entry.with_context(context)?.file_name().to_string_lossy());
                if !self.texts.contains_key(&path) {
                    wrong.insert(path, State::Superfluous);
                }
            }
        }
        Ok(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> Files {
        let texts = texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Files { texts, folders: vec!["made".to_owned()] }
    }

    #[test]
    fn what_was_written_passes_the_check() {
        let root = tempfile::tempdir().unwrap();
        let files = files(&[("made/a.yaml", "a\n"), ("docs/b.md", "b\n")]);
        assert_eq!(files.check(root.path()).unwrap(), ["docs/b.md is missing", "made/a.yaml is missing"]);
        assert!(!root.path().join("made").exists(), "a check writes nothing");
        assert_eq!(files.write(root.path()).unwrap(), ["added docs/b.md", "added made/a.yaml"]);
        assert_eq!(files.check(root.path()).unwrap(), Vec::<String>::new());
        assert_eq!(files.write(root.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn stale_and_superfluous_files_are_found_and_mended() {
        let root = tempfile::tempdir().unwrap();
        files(&[("made/a.yaml", "a\n"), ("made/b.yaml", "b\n"), ("docs/c.md", "c\n")])
            .write(root.path())
            .unwrap();
        let files = files(&[("made/a.yaml", "new\n")]);
        let expected = ["made/a.yaml is stale", "made/b.yaml is superfluous"];
        assert_eq!(files.check(root.path()).unwrap(), expected);
        assert_eq!(files.write(root.path()).unwrap(), ["changed made/a.yaml", "removed made/b.yaml"]);
        assert_eq!(fs::read_to_string(root.path().join("made/a.yaml")).unwrap(), "new\n");
        // Nobody said that this folder has nothing but generated files.
        assert!(root.path().join("docs/c.md").exists());
    }
}
