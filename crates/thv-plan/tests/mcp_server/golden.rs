//! All children of two examples, as they are applied. `THV_BLESS=1` writes the files anew.

use crate::scene::assert_children_on_file;
use crate::support::{Scene, children, folder};

#[test]
fn a_minimal_server_becomes_this() {
    let plan = Scene::example("minimal.yaml", "plain").plan();
    assert_children_on_file(&folder("golden/minimal"), children(&plan));
}

#[test]
fn a_full_server_becomes_this() {
    let plan = Scene::example("full.yaml", "web").plan();
    assert_children_on_file(&folder("golden/full"), children(&plan));
}
