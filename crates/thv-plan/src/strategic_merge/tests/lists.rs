//! Lists, and the directives in them and beside them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Schema, merge};
use super::{fails, gives};

const CONTAINER: Schema = Schema::CONTAINER;

fn env(items: Value) -> Value {
    json!({ "env": items })
}

#[test]
fn items_with_the_same_key_are_merged() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }])),
        env(json!([{ "name": "B", "value": "3" }])),
        env(json!([{ "name": "A", "value": "1" }, { "name": "B", "value": "3" }])),
    );
}

#[test]
fn new_items_go_before_those_that_stay() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A" }, { "name": "B" }])),
        env(json!([{ "name": "C" }, { "name": "D" }])),
        env(json!([{ "name": "C" }, { "name": "D" }, { "name": "A" }, { "name": "B" }])),
    );
}

#[test]
fn items_of_the_patch_keep_their_order() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A" }, { "name": "B" }, { "name": "C" }, { "name": "D" }])),
        env(json!([{ "name": "C" }, { "name": "X" }, { "name": "B" }])),
        env(json!([{ "name": "A" }, { "name": "C" }, { "name": "X" }, { "name": "B" }, { "name": "D" }])),
    );
}

#[test]
fn new_items_are_taken_as_they_are() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A" }])),
        env(json!([{ "name": "B", "value": null, "valueFrom": { "$patch": "delete" } }])),
        env(json!([{ "name": "B", "value": null, "valueFrom": { "$patch": "delete" } }, { "name": "A" }])),
    );
}

#[test]
fn lists_without_a_key_are_replaced() {
    gives(
        Schema::POD_SPEC,
        json!({ "tolerations": [{ "key": "a" }, { "key": "b" }] }),
        json!({ "tolerations": [{ "key": "b", "value": null }] }),
        json!({ "tolerations": [{ "key": "b", "value": null }] }),
    );
    gives(CONTAINER, json!({ "args": ["a", "b"] }), json!({ "args": ["c"] }), json!({ "args": ["c"] }));
    gives(CONTAINER, json!({ "args": ["a", "b"] }), json!({ "args": [] }), json!({ "args": [] }));
}

#[test]
fn an_empty_list_changes_nothing_where_items_are_merged() {
    let original = env(json!([{ "name": "A" }]));
    gives(CONTAINER, original.clone(), env(json!([])), original.clone());
    gives(CONTAINER, env(json!([])), original.clone(), original);
    gives(CONTAINER, env(json!([])), env(json!([])), env(json!([])));
}

#[test]
fn ports_are_told_apart_by_number_alone() {
    gives(
        CONTAINER,
        json!({ "ports": [{ "containerPort": 53, "protocol": "TCP" }, { "containerPort": 53, "protocol": "UDP" }] }),
        json!({ "ports": [{ "containerPort": 53, "name": "dns" }] }),
        json!({
            "ports": [
                { "containerPort": 53, "protocol": "TCP", "name": "dns" },
                { "containerPort": 53, "protocol": "UDP" },
            ]
        }),
    );
}

#[test]
fn long_lists_take_no_more_than_their_time() {
    let variables = |numbers: &mut dyn Iterator<Item = u32>| -> Value {
        numbers.map(|number| json!({ "name": format!("V{number}") })).collect()
    };
    let (original, patch) = (variables(&mut (0..40_000)), variables(&mut (20_000..60_000).rev()));
    let start = Instant::now();
    let merged = merge(&env(original), &env(patch), CONTAINER).unwrap();
    assert_eq!(merged["env"].as_array().map(Vec::len), Some(60_000));
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
}

#[test]
fn an_item_deleted_by_key_is_gone_wherever_it_was() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A", "value": "1" }, { "name": "B" }, { "name": "A", "value": "2" }])),
        env(json!([{ "name": "A", "$patch": "delete" }, { "name": "nowhere", "$patch": "delete" }])),
        env(json!([{ "name": "B" }])),
    );
}

#[test]
fn an_item_deleted_and_added_is_new() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A" }, { "name": "B", "value": "1" }])),
        env(json!([{ "name": "B", "$patch": "delete" }, { "name": "B", "valueFrom": {} }])),
        env(json!([{ "name": "B", "valueFrom": {} }, { "name": "A" }])),
    );
}

#[test]
fn an_item_that_says_replace_replaces_the_list() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A", "value": "1" }, { "name": "B" }])),
        env(json!([{ "name": "C" }, { "$patch": "replace" }, { "name": "A" }])),
        env(json!([{ "name": "C" }, { "name": "A" }])),
    );
    gives(CONTAINER, env(json!([{ "name": "A" }])), env(json!([{ "$patch": "replace" }])), env(json!([])));
}

#[test]
fn other_directives_in_items_fail() {
    let original = env(json!([{ "name": "A" }]));
    assert_eq!(
        fails(CONTAINER, original.clone(), env(json!([{ "name": "A", "$patch": "merge" }]))),
        "env: `$patch: merge` is not known in a list item: use `delete` or `replace`"
    );
    fails(CONTAINER, original, env(json!([{ "name": "A", "$patch": {} }])));
}

#[test]
fn an_item_needs_its_key() {
    let without_key = "env: an item has no `name`, by which the items of this list are told apart: add it";
    let (named, unnamed) = (env(json!([{ "name": "A" }])), env(json!([{ "value": "1" }])));
    assert_eq!(fails(CONTAINER, named.clone(), unnamed.clone()), without_key);
    assert_eq!(fails(CONTAINER, unnamed, named.clone()), without_key);
    assert_eq!(fails(CONTAINER, named, env(json!([{ "$patch": "delete" }]))), without_key);
}

#[test]
fn items_of_different_types_fail() {
    let original = env(json!([{ "name": "A" }]));
    let message = "env: items are of different types: make all of them the same";
    assert_eq!(fails(CONTAINER, original.clone(), env(json!(["A"]))), message);
    assert_eq!(fails(CONTAINER, original, env(json!([null]))), message);
    let message = "env: lists of lists and lists that begin with null cannot be merged";
    assert_eq!(fails(CONTAINER, env(json!([null])), env(json!([]))), message);
    assert_eq!(fails(CONTAINER, env(json!([[]])), env(json!([]))), message);
    let message =
        "env: an item is not an object, but items of this list are told apart by `name`: correct it";
    assert_eq!(fails(CONTAINER, env(json!(["A"])), env(json!(["B"]))), message);
}

#[test]
fn keys_that_are_objects_cannot_be_compared() {
    let document = env(json!([{ "name": { "a": 1 } }]));
    assert_eq!(
        fails(CONTAINER, document.clone(), document),
        "env: objects and lists cannot be compared here, only strings, numbers and booleans: correct the item"
    );
}

#[test]
fn two_lists_in_a_field_that_holds_none_fail() {
    let document = json!({ "image": ["a"] });
    assert_eq!(
        fails(CONTAINER, document.clone(), document),
        "image: both values are lists, but the field does not hold one: correct the patch"
    );
    // Unless the field is a pointer in Go.
    let (one, other) = (json!({ "securityContext": [1] }), json!({ "securityContext": [2] }));
    gives(CONTAINER, one, other.clone(), other);
}

#[test]
fn finalizers_are_merged_as_a_set() {
    let metadata = |items: Value| json!({ "metadata": { "finalizers": items } });
    gives(
        Schema::POD_TEMPLATE_SPEC,
        metadata(json!(["a", "b", "c"])),
        metadata(json!(["d", "c", "b", "d"])),
        metadata(json!(["d", "a", "c", "b"])),
    );
}

#[test]
fn numbers_are_told_apart_as_in_go() {
    let metadata = Schema::named("ObjectMeta").unwrap();
    let finalizers = |item: Value| json!({ "finalizers": [item] });
    // An integer beyond the range of i64 is one with a fraction, and no more precise than these are.
    let (large, larger) = (finalizers(json!(u64::MAX - 1)), finalizers(json!(u64::MAX)));
    gives(metadata, large.clone(), larger.clone(), large.clone());
    fails(metadata, large, finalizers(json!(1)));
    fails(metadata, finalizers(json!(1)), finalizers(json!(1.0)));
}

#[test]
fn items_of_the_original_that_look_deleted_go_to_the_end() {
    gives(
        CONTAINER,
        env(json!([{ "name": "A", "$patch": "delete" }, { "name": "B" }])),
        env(json!([{ "name": "C" }])),
        env(json!([{ "name": "C" }, { "name": "B" }, { "name": "A", "$patch": "delete" }])),
    );
}

#[test]
fn scalars_are_deleted_from_any_list() {
    let finalizers = json!({ "finalizers": ["a", "b"] });
    let metadata = Schema::named("ObjectMeta").unwrap();
    let patch = json!({ "$deleteFromPrimitiveList/finalizers": ["a", "x"], "finalizers": ["c"] });
    gives(metadata, finalizers, patch, json!({ "finalizers": ["c", "b"] }));
    let patch = json!({ "$deleteFromPrimitiveList/args": ["a"] });
    gives(CONTAINER, json!({ "args": ["a", "b", "a"] }), patch.clone(), json!({ "args": ["b"] }));
    gives(CONTAINER, json!({}), patch.clone(), json!({}));
    gives(CONTAINER, json!({ "args": "a" }), patch, json!({ "args": "a" }));
}

#[test]
fn what_is_not_a_list_of_deletions_is_taken_for_a_value() {
    gives(
        CONTAINER,
        json!({ "args": ["a"], "image": "a", "resources": { "limits": {} }, "": ["a"] }),
        json!({
            "$deleteFromPrimitiveList/args": null,
            "$deleteFromPrimitiveList/image": "b",
            "$deleteFromPrimitiveList/resources": { "claims": [] },
            "$deleteFromPrimitiveList/": ["a"],
        }),
        json!({ "image": "b", "resources": { "limits": {}, "claims": [] }, "": ["a"] }),
    );
}

#[test]
fn a_deletion_has_to_name_its_list() {
    assert_eq!(
        fails(CONTAINER, json!({ "args": ["a"] }), json!({ "$deleteFromPrimitiveList": ["a"] })),
        "`$deleteFromPrimitiveList` must name a list after a slash, as in `$deleteFromPrimitiveList/args`"
    );
    fails(CONTAINER, env(json!([{ "name": "A" }])), json!({ "$deleteFromPrimitiveList/env": ["A"] }));
}
