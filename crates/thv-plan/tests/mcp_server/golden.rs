//! All children of two examples, as they are applied. `THV_BLESS=1` writes the files anew.

use std::collections::BTreeSet;
use std::path::Path;

use thv_plan::Child;

use crate::support::{Scene, assert_on_file, children, folder};

fn file_name(child: &Child) -> String {
    format!("{}-{}.json", child.kind().kind().to_lowercase(), child.name())
}

fn text(child: &Child) -> String {
    // Keys are sorted, so that the files do not depend on how the JSON library was built.
    let sorted: serde_json::Value = serde_json::from_str(&thv_plan::canonical(child.body())).unwrap();
    format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap())
}

fn check(folder: &Path, children: &[Child]) {
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

#[test]
fn a_minimal_server_becomes_this() {
    let plan = Scene::example("minimal.yaml", "plain").plan();
    check(&folder("golden/minimal"), children(&plan));
}

#[test]
fn a_full_server_becomes_this() {
    let plan = Scene::example("full.yaml", "web").plan();
    check(&folder("golden/full"), children(&plan));
}
