//! Texts that are on file. `THV_BLESS=1` writes them anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use thv_plan::Child;

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

fn file_name(child: &Child) -> String {
    format!("{}-{}.json", child.kind().kind().to_lowercase(), child.name())
}

fn text(child: &Child) -> String {
    // Keys are sorted, so that the files do not depend on how the JSON library was built.
    let sorted: serde_json::Value = serde_json::from_str(&thv_plan::canonical(child.body())).unwrap();
    format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap())
}

/// Compares children with those in a folder, a file each.
pub(crate) fn assert_children_on_file(folder: &Path, children: &[Child]) {
    for child in children {
        assert_on_file(&folder.join(file_name(child)), &text(child));
    }
    let expected: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: BTreeSet<String> = children.iter().map(file_name).collect();
    assert_eq!(names, expected);
}
