//! Texts that are on file. `THV_BLESS=1` writes them anew.

use std::path::{Path, PathBuf};

/// A folder of this crate's tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Compares a text with the one on file, or puts it there if `THV_BLESS` is set. What differs is shown, not all of it.
pub(crate) fn assert_on_file(file: &Path, text: &str) {
    if std::env::var_os("THV_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let recorded = std::fs::read_to_string(file).unwrap_or_default();
    if text != recorded {
        let missing = recorded.lines().filter(|line| !text.lines().any(|other| other == *line));
        let new = text.lines().filter(|line| !recorded.lines().any(|other| other == *line));
        let lines: Vec<String> =
            missing.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
        panic!(
            "{} is different; THV_BLESS=1 writes it anew if this is intended:\n{}",
            file.display(),
            lines.join("\n")
        );
    }
}
