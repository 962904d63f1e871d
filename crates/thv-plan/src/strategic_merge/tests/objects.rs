//! Objects and the directives in them.

use serde_json::{Value, json};

use super::super::Schema;
use super::{fails, gives};

const POD: Schema = Schema::POD_SPEC;

#[test]
fn objects_are_merged_at_any_depth() {
    gives(
        Schema::DEPLOYMENT,
        json!({ "spec": { "replicas": 1, "template": { "spec": { "hostname": "a", "securityContext": { "runAsUser": 1 } } } } }),
        json!({ "spec": { "template": { "spec": { "hostname": "b", "securityContext": { "fsGroup": 2 } } } } }),
        json!({
            "spec": {
                "replicas": 1,
                "template": { "spec": { "hostname": "b", "securityContext": { "runAsUser": 1, "fsGroup": 2 } } },
            }
        }),
    );
}

#[test]
fn null_removes_a_field() {
    gives(
        POD,
        json!({ "hostname": "a", "nodeName": "n" }),
        json!({ "hostname": null }),
        json!({ "nodeName": "n" }),
    );
}

#[test]
fn null_for_a_field_that_is_not_there_leaves_no_trace() {
    gives(
        POD,
        json!({}),
        json!({ "hostname": null, "affinity": { "nodeAffinity": null }, "tolerations": [{ "key": "a", "value": null }] }),
        json!({ "affinity": {}, "tolerations": [{ "key": "a" }] }),
    );
}

#[test]
fn maps_are_merged_key_by_key() {
    gives(
        POD,
        json!({ "nodeSelector": { "disk": "ssd", "zone": "a" } }),
        json!({ "nodeSelector": { "zone": null, "gpu": "yes" } }),
        json!({ "nodeSelector": { "disk": "ssd", "gpu": "yes" } }),
    );
}

#[test]
fn a_value_of_another_type_takes_the_place_of_the_old_one() {
    gives(
        POD,
        json!({ "nodeSelector": { "disk": "ssd" }, "containers": "none" }),
        json!({ "nodeSelector": "any", "containers": [{ "name": "mcp" }] }),
        json!({ "nodeSelector": "any", "containers": [{ "name": "mcp" }] }),
    );
}

#[test]
fn patch_replace_takes_an_object_as_it_is() {
    gives(
        POD,
        json!({ "securityContext": { "runAsUser": 1, "fsGroup": 2 } }),
        json!({ "securityContext": { "$patch": "replace", "runAsUser": 3, "fsGroup": null } }),
        json!({ "securityContext": { "runAsUser": 3, "fsGroup": null } }),
    );
}

#[test]
fn patch_delete_leaves_an_empty_object() {
    gives(
        POD,
        json!({ "securityContext": { "runAsUser": 1 }, "hostname": "a" }),
        json!({ "securityContext": { "$patch": "delete" } }),
        json!({ "securityContext": {}, "hostname": "a" }),
    );
}

#[test]
fn patch_directives_work_on_whole_documents() {
    let original = json!({ "hostname": "a" });
    gives(POD, original.clone(), json!({ "$patch": "delete" }), json!({}));
    gives(POD, original, json!({ "$patch": "replace", "nodeName": "n" }), json!({ "nodeName": "n" }));
}

#[test]
fn patch_directives_in_something_new_drop_it() {
    gives(
        POD,
        json!({}),
        json!({
            "securityContext": { "$patch": "replace", "runAsUser": 3 },
            "affinity": { "nodeAffinity": { "$patch": "delete" }, "podAffinity": {} },
            "containers": [{ "$patch": "delete", "name": "a" }, { "name": "b" }],
        }),
        json!({ "affinity": { "podAffinity": {} }, "containers": [{ "name": "b" }] }),
    );
}

#[test]
fn other_patch_directives_in_objects_fail() {
    let original = json!({ "securityContext": {} });
    assert_eq!(
        fails(POD, original.clone(), json!({ "securityContext": { "$patch": "merge" } })),
        "securityContext: `$patch: merge` is not known in an object: use `delete` or `replace`"
    );
    fails(POD, original, json!({ "securityContext": { "$patch": 1 } }));
}

#[test]
fn retain_keys_removes_what_it_does_not_have() {
    gives(
        Schema::DEPLOYMENT,
        json!({ "spec": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } } }),
        json!({ "spec": { "strategy": { "$retainKeys": ["type"], "type": "Recreate" } } }),
        json!({ "spec": { "strategy": { "type": "Recreate" } } }),
    );
}

#[test]
fn a_volume_changes_its_source_only_with_retain_keys() {
    let original = json!({ "volumes": [{ "name": "data", "emptyDir": {} }] });
    let volume = json!({ "name": "data", "configMap": { "name": "c" } });
    let mut both = volume.clone();
    both["emptyDir"] = json!({});
    gives(POD, original.clone(), json!({ "volumes": [volume] }), json!({ "volumes": [both] }));
    let mut retaining = volume.clone();
    retaining["$retainKeys"] = json!(["name", "configMap"]);
    gives(POD, original, json!({ "volumes": [retaining] }), json!({ "volumes": [volume] }));
}

#[test]
fn retain_keys_has_to_have_what_the_patch_sets() {
    let original = json!({ "securityContext": { "runAsUser": 1 } });
    let patch = json!({ "securityContext": { "$retainKeys": ["runAsUser"], "fsGroup": 1 } });
    assert_eq!(
        fails(POD, original.clone(), patch),
        "securityContext: the patch sets `fsGroup`, which its `$retainKeys` does not have: add it there"
    );
    for wrong in [json!("runAsUser"), json!({}), json!([["runAsUser"]])] {
        let patch = json!({ "securityContext": { "$retainKeys": wrong } });
        let message = fails(POD, original.clone(), patch);
        assert_eq!(message, "securityContext: `$retainKeys` must be a list of field names");
    }
    let patch = json!({ "securityContext": { "$retainKeys": [], "runAsUser": null } });
    gives(POD, original, patch, json!({ "securityContext": {} }));
}

#[test]
fn unknown_fields_are_kept_on_both_sides() {
    gives(
        POD,
        json!({ "old": { "a": [1, null] }, "both": 1 }),
        json!({ "new": { "b": [2] }, "both": "x" }),
        json!({ "old": { "a": [1, null] }, "new": { "b": [2] }, "both": "x" }),
    );
}

#[test]
fn two_objects_or_lists_in_an_unknown_field_fail() {
    for value in [json!({}), json!([])] {
        let document = json!({ "hostnam": value });
        assert_eq!(
            fails(POD, document.clone(), document),
            "hostnam: PodSpec has no field `hostnam`, so it is not known how to merge the two values of it: correct \
             the name, or leave it out of the patch"
        );
    }
    let document = json!({ "nodeSelector": { "disk": {} } });
    assert_eq!(
        fails(POD, document.clone(), document),
        "nodeSelector.disk: `disk` cannot be merged, since what is around it has no named fields: remove it from the patch"
    );
}

#[test]
fn fields_are_found_without_regard_to_case() {
    gives(
        POD,
        json!({ "Containers": [{ "name": "a" }], "containers": [{ "name": "c" }] }),
        json!({ "Containers": [{ "name": "b" }] }),
        json!({ "Containers": [{ "name": "b" }, { "name": "a" }], "containers": [{ "name": "c" }] }),
    );
    // The long s and the sign for kelvin are an s and a k.
    let document = json!({ "to\u{17f}": [], "to\u{212a}": [] });
    fails(POD, document.clone(), document);
    let document = json!({ "ho\u{17f}tAlia\u{17f}es": [] });
    gives(POD, document.clone(), document.clone(), document);
}

#[test]
fn null_is_an_empty_document_and_all_else_is_none() {
    let document = json!({ "hostname": "a" });
    gives(POD, document.clone(), Value::Null, document.clone());
    gives(POD, Value::Null, document.clone(), document.clone());
    gives(POD, Value::Null, Value::Null, json!({}));
    assert_eq!(fails(POD, document.clone(), json!([])), "the patch must be an object");
    assert_eq!(fails(POD, json!("a"), document), "the original must be an object");
}
