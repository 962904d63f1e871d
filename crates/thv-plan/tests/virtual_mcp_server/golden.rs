//! All children of the full example, as they are applied. `THV_BLESS=1` writes the files anew.

use crate::scene::{assert_children_on_file, folder};
use crate::single_edit::world;

#[test]
fn a_full_virtual_server_becomes_this() {
    assert_children_on_file(&folder("golden/virtual-full"), &world("hub").children());
}

#[test]
fn a_virtual_server_with_an_authorization_server_becomes_this() {
    assert_children_on_file(&folder("golden/virtual-gate"), &world("gate").children());
}
