//! `$setElementOrder`.

use serde_json::{Value, json};

use super::super::Schema;
use super::{fails, gives};

const CONTAINER: Schema = Schema::CONTAINER;

/// A list of variables by their names.
fn env(names: &[&str]) -> Value {
    json!({ "env": variables(names) })
}

fn variables(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "name": name })).collect()
}

/// A patch with these items and this order.
fn patch(items: Value, order: &[&str]) -> Value {
    json!({ "env": items, "$setElementOrder/env": variables(order) })
}

#[test]
fn a_list_takes_the_order_of_the_directive() {
    let order = json!({ "$setElementOrder/env": variables(&["C", "A", "B"]) });
    gives(CONTAINER, env(&["A", "B", "C"]), order, env(&["C", "A", "B"]));
}

#[test]
fn new_items_go_where_the_directive_says() {
    gives(
        CONTAINER,
        env(&["A", "B"]),
        patch(variables(&["C", "D"]), &["A", "C", "B", "D"]),
        env(&["A", "C", "B", "D"]),
    );
}

#[test]
fn items_that_the_directive_does_not_name_stay_where_they_were() {
    let patch = patch(variables(&["X"]), &["B", "X"]);
    gives(CONTAINER, env(&["A", "B", "C"]), patch, env(&["A", "B", "X", "C"]));
}

#[test]
fn a_deleted_item_makes_room_for_a_new_one_in_the_memory_of_go() {
    let delete = |name: &str| json!({ "name": name, "$patch": "delete" });
    // Nothing is known about where X belongs, so it is first.
    gives(CONTAINER, env(&["A", "B"]), patch(variables(&["X"]), &["X"]), env(&["X", "A", "B"]));
    // But if A is deleted, X is written to where B was, and Go takes it for an item that was there, after B.
    let items = json!([delete("A"), { "name": "X" }]);
    gives(CONTAINER, env(&["A", "B"]), patch(items, &["X"]), env(&["B", "X"]));
    // The same for one that comes back.
    let items = json!([delete("A"), { "name": "A" }]);
    gives(CONTAINER, env(&["A", "B", "C"]), patch(items, &["A"]), env(&["B", "C", "A"]));
    // And what was last is still seen there after it was deleted.
    let items = json!([{ "$patch": "replace" }, delete("C"), { "name": "A" }, { "name": "C" }]);
    gives(CONTAINER, env(&["A", "B", "C"]), patch(items, &[]), env(&["A", "C"]));
}

#[test]
fn scalars_are_put_in_order_as_well() {
    gives(
        CONTAINER,
        json!({ "args": ["a", "b", "c"] }),
        json!({ "$setElementOrder/args": ["c", "a"] }),
        json!({ "args": ["b", "c", "a"] }),
    );
    let patch = json!({ "args": ["x", "y"], "$setElementOrder/args": ["x", "a", "y"] });
    gives(CONTAINER, json!({ "args": ["a"] }), patch, json!({ "args": ["x", "y"] }));
}

#[test]
fn a_list_that_was_not_there_is_put_in_order() {
    let items = json!([{ "name": "A", "value": null }, { "name": "B", "$patch": "delete" }]);
    let patch = patch(items, &["A", "B"]);
    gives(CONTAINER, json!({}), patch, json!({ "env": [{ "name": "A", "value": null }] }));
    gives(CONTAINER, json!({}), json!({ "$setElementOrder/env": variables(&["A"]) }), json!({}));
}

#[test]
fn a_replaced_list_is_put_in_order() {
    let items = json!([{ "$patch": "replace" }, { "name": "X" }, { "name": "A" }]);
    gives(CONTAINER, env(&["A", "B"]), patch(items, &["X", "A"]), env(&["X", "A"]));
}

#[test]
fn the_patch_has_to_follow_its_own_order() {
    let message = "env: the items of the patch must all be in its `$setElementOrder`, in the same order: add what is \
                   missing there";
    assert_eq!(fails(CONTAINER, env(&["A"]), patch(variables(&["B", "C"]), &["C", "B"])), message);
    assert_eq!(fails(CONTAINER, env(&["A"]), patch(variables(&["B"]), &["A"])), message);
    // A directive that comes after the last place counts as an item.
    let items = json!([{ "name": "A" }, { "$patch": "replace" }]);
    assert_eq!(fails(CONTAINER, env(&["A"]), patch(items, &["A"])), message);
}

#[test]
fn an_empty_order_sends_new_items_to_the_end_in_reverse() {
    gives(CONTAINER, env(&["A", "B"]), patch(variables(&["X", "Y"]), &[]), env(&["A", "B", "Y", "X"]));
}

#[test]
fn an_order_has_to_fit_its_list() {
    let original = env(&["A"]);
    let order = |name: &str, order: Value| json!({ format!("$setElementOrder{name}"): order });
    assert_eq!(
        fails(CONTAINER, original.clone(), order("/env", json!("A"))),
        "`$setElementOrder/env` must be a list"
    );
    assert_eq!(
        fails(CONTAINER, original.clone(), order("", json!([]))),
        "`$setElementOrder` must name a list after a slash, as in `$setElementOrder/args`"
    );
    assert_eq!(
        fails(CONTAINER, original.clone(), json!({ "env": null, "$setElementOrder/env": [] })),
        "env: `$setElementOrder` is for lists, but the patch has something else here: remove one of the two"
    );
    assert_eq!(
        fails(CONTAINER, env(&[]), order("/env", json!([]))),
        "env: neither the original nor the patch has an item to put in order: leave out `$setElementOrder`"
    );
    assert_eq!(
        fails(CONTAINER, original.clone(), order("/env", json!([{ "value": "A" }]))),
        "env: an item has no `name`, by which the items of this list are told apart: add it"
    );
    fails(CONTAINER, original.clone(), order("/env", json!(["A"])));
    fails(CONTAINER, original.clone(), order("/image", json!(["A"])));
    fails(CONTAINER, original, order("/unknown", json!(["A"])));
    let capabilities = Schema::named("Capabilities").unwrap();
    fails(capabilities, json!({ "add": ["A"] }), json!({ "add": [], "$setElementOrder/add": [["A"]] }));
    let tolerations = json!({ "tolerations": [{ "key": "a" }] });
    fails(Schema::POD_SPEC, tolerations, order("/tolerations", json!([])));
}
