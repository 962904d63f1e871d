//! Objects that the Go operator made, for the tests that compare ours with them. They read this file by its path.

use serde_json::Value;

/// All objects of a file in this folder.
pub(crate) fn recorded(file: &str) -> Vec<Value> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    let text = std::fs::read_to_string(folder.join(format!("{file}.yaml")));
    let text = text.unwrap_or_else(|error| panic!("cannot read the recorded {file}: {error}"));
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("the recorded {file}: {error}"))
}
