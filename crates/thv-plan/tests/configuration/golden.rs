//! Whole configurations, compared with files. To write the files anew, set `THV_WRITE_GOLDEN`; then read the diff.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use thv_config::RunConfig;
use thv_plan::mcp_server::{resolve, run_config as build};

use crate::support::Manifests;

fn golden(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file)
}

/// The manifests of a golden test.
pub(crate) fn manifests(case: &str) -> Manifests {
    static PARSED: LazyLock<BTreeMap<&str, Manifests>> = LazyLock::new(|| {
        let parse = |case| Manifests::parse(&fs::read_to_string(golden(&format!("{case}.yaml"))).unwrap());
        ["minimal", "github", "auth-server", "everything"].map(|case| (case, parse(case))).into()
    });
    PARSED[case].clone()
}

fn compare(case: &str, server: &str, stamp: i64) {
    let snapshot = manifests(case).snapshot(server);
    let config = build(&snapshot, &resolve(&snapshot), stamp).unwrap();
    let mut text = String::from_utf8(config.to_bytes().unwrap()).unwrap();
    text.push('\n');
    let file = golden(&format!("{case}.json"));
    if std::env::var_os("THV_WRITE_GOLDEN").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap();
    assert!(text == expected, "{} differs; this was built:\n{text}", file.display());
    assert_eq!(
        RunConfig::parse(text.as_bytes()).unwrap().value,
        config,
        "what is written is not what is read"
    );
}

#[test]
fn a_minimal_server() {
    compare("minimal", "files", 1);
}

#[test]
fn a_server_with_most_features() {
    compare("github", "github", 3);
}

#[test]
fn a_server_with_an_authorization_server() {
    compare("auth-server", "notes", 7);
}

#[test]
fn a_server_with_everything() {
    compare("everything", "web", 12);
}

#[test]
fn the_stamp_is_the_only_trace_of_the_generation() {
    let mut manifests = manifests("github");
    let bytes = |manifests: &Manifests, stamp| {
        let snapshot = manifests.snapshot("github");
        build(&snapshot, &resolve(&snapshot), stamp).unwrap().to_bytes().unwrap()
    };
    let before = bytes(&manifests, 3);
    manifests.edit("MCPServer", "github", |server| server["metadata"]["generation"] = 9.into());
    assert_eq!(before, bytes(&manifests, 3));
    assert_ne!(before, bytes(&manifests, 9));
}
