//! All children of the examples, as they are applied. `THV_BLESS=1` writes the files anew.

use serde_json::json;
use thv_api::kinds::{EmbeddingServerSpec, MCPRegistrySpec};

use crate::on_file::{assert_children_on_file, folder};
use crate::support::{Scene, children};

#[test]
fn a_minimal_embedding_server_becomes_this() {
    let plan = Scene::<EmbeddingServerSpec>::of("embed", &json!({})).plan();
    assert_children_on_file(&folder("golden/embedding-server-minimal"), children(&plan));
}

#[test]
fn a_full_embedding_server_becomes_this() {
    let plan = Scene::<EmbeddingServerSpec>::full().plan();
    assert_children_on_file(&folder("golden/embedding-server"), children(&plan));
}

#[test]
fn a_minimal_registry_becomes_this() {
    let plan = Scene::<MCPRegistrySpec>::of("shelf", &json!({"configYAML": "sources: []\n"})).plan();
    assert_children_on_file(&folder("golden/registry-minimal"), children(&plan));
}

#[test]
fn a_full_registry_becomes_this() {
    let plan = Scene::<MCPRegistrySpec>::full().plan();
    assert_children_on_file(&folder("golden/registry"), children(&plan));
}
