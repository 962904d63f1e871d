//! All children of the examples, as they are applied. `THV_BLESS=1` writes the files anew.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use thv_api::kinds::{EmbeddingServerSpec, MCPRegistrySpec};
use thv_plan::Child;

use crate::on_file::{assert_on_file, folder};
use crate::support::{Scene, children};

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
fn a_minimal_embedding_server_becomes_this() {
    let plan = Scene::<EmbeddingServerSpec>::of("embed", &json!({})).plan();
    check(&folder("golden/embedding-server-minimal"), children(&plan));
}

#[test]
fn a_full_embedding_server_becomes_this() {
    check(&folder("golden/embedding-server"), children(&Scene::<EmbeddingServerSpec>::full().plan()));
}

#[test]
fn a_minimal_registry_becomes_this() {
    let plan = Scene::<MCPRegistrySpec>::of("shelf", &json!({"configYAML": "sources: []\n"})).plan();
    check(&folder("golden/registry-minimal"), children(&plan));
}

#[test]
fn a_full_registry_becomes_this() {
    check(&folder("golden/registry"), children(&Scene::<MCPRegistrySpec>::full().plan()));
}
