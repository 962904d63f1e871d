//! Labels and annotations that users add, at both levels in every case.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thv_plan::{ChildKind, Decision};

use crate::scene::child;
use crate::support::{Scene, condition, deployment, template, variable, whole_condition};

const CHECKSUM: &str = "toolhive.stacklok.dev/runconfig-checksum";
const STAMP: &str = "toolhive.stacklok.dev/mcpserver-generation";
const REVISION: &str = "toolhive.stacklok.dev/revision";

fn keys(map: &Value) -> BTreeSet<&str> {
    map.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn s1_08_annotations_end_up_at_their_level_and_only_there() {
    let both = json!({
        "annotations": {"team": "x"}, "podTemplateMetadataOverrides": {"annotations": {"team": "y", "b": "2"}},
    });
    let pods = json!({"podTemplateMetadataOverrides": {"annotations": {"vault": "true"}}});
    let cases: [(Value, &[&str], &[&str]); 4] = [
        (json!({}), &[], &[]),
        (pods, &[], &["vault"]),
        (json!({"annotations": {"team": "x"}}), &["team"], &[]),
        (both, &["team"], &["team", "b"]),
    ];
    for (overrides, on_deployment, on_pods) in cases {
        let plan = Scene::of(json!({"resourceOverrides": {"proxyDeployment": overrides}})).plan();
        let expected: BTreeSet<_> = on_deployment.iter().copied().chain([REVISION]).collect();
        assert_eq!(keys(&deployment(&plan)["metadata"]["annotations"]), expected, "{overrides}");
        let expected: BTreeSet<_> = on_pods.iter().copied().chain([CHECKSUM, STAMP]).collect();
        assert_eq!(keys(&template(&plan)["metadata"]["annotations"]), expected, "{overrides}");
        assert_eq!(condition(&plan.status, "OverridesAccepted"), Some(("True", "OverridesAccepted")));
    }
}

#[test]
fn s1_08_reserved_keys_keep_our_value_and_the_user_is_told() {
    let plain = Scene::of(json!({})).plan();
    let overrides = json!({"proxyDeployment": {
        "annotations": {REVISION: "1/x"},
        "labels": {"tier": "edge", "app": "mine"},
        "podTemplateMetadataOverrides": {
            "annotations": {CHECKSUM: "x", STAMP: "99"}, "labels": {"mesh": "on", "toolhive-name": "mine"},
        },
        "env": [{"name": "THV_MCPSERVER_GENERATION", "value": "99"}, {"name": "FINE", "value": "1"}],
    }});
    let patch = json!({
        "metadata": {"annotations": {CHECKSUM: "y"}, "labels": {"app": "theirs"}},
        "spec": {"containers": [{"name": "toolhive", "env": [{"name": "THV_RUNCONFIG_CHECKSUM", "value": "y"}]}]},
    });
    let plan = Scene::of(json!({"resourceOverrides": overrides, "podTemplateSpec": patch})).plan();
    let selector = |plan| deployment(plan)["spec"]["selector"].clone();
    assert_eq!(selector(&plan), selector(&plain));
    for (key, value) in selector(&plan)["matchLabels"].as_object().unwrap() {
        assert_eq!(&template(&plan)["metadata"]["labels"][key], value, "{key}");
    }
    for key in [CHECKSUM, STAMP] {
        let of = |plan| template(plan)["metadata"]["annotations"][key].clone();
        assert_eq!(of(&plan), of(&plain), "{key}");
    }
    for name in ["THV_MCPSERVER_GENERATION", "THV_RUNCONFIG_CHECKSUM"] {
        assert_eq!(variable(&plan, name), variable(&plain, name), "{name}");
    }
    assert_eq!(variable(&plan, "FINE").unwrap()["value"], "1");
    let told = whole_condition(&plan.status, "OverridesAccepted").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("False", "ReservedNamesIgnored"));
    for part in
        [REVISION, CHECKSUM, STAMP, "THV_MCPSERVER_GENERATION", "labels[app]", "labels[toolhive-name]"]
    {
        assert!(told.message.contains(part), "{part}: {}", told.message);
    }
    for part in ["podTemplateSpec.metadata.labels[app]", "containers[toolhive].env[THV_RUNCONFIG_CHECKSUM]"] {
        assert!(told.message.contains(part), "{part}: {}", told.message);
    }
    assert!(!told.message.contains("FINE"), "{}", told.message);
}

#[test]
fn s1_08_overrides_that_are_removed_leave_nothing_behind() {
    let mut scene = Scene::of(json!({}));
    let before = scene.settle();
    let overrides = json!({
        "proxyDeployment": {
            "annotations": {"a": "1"}, "labels": {"b": "2"}, "env": [{"name": "C", "value": "3"}],
            "podTemplateMetadataOverrides": {"annotations": {"d": "4"}, "labels": {"e": "5"}},
        },
        "proxyService": {"annotations": {"f": "6"}, "labels": {"g": "7"}},
    });
    scene.set("resourceOverrides", overrides);
    let with = scene.settle();
    let service = |plan| child(plan, ChildKind::Service, "mcp-web-remote-proxy")["metadata"].clone();
    assert_eq!(
        (&service(&with)["annotations"]["f"], &service(&with)["labels"]["g"]),
        (&json!("6"), &json!("7"))
    );
    scene.set("resourceOverrides", Value::Null);
    let after = scene.settle();
    assert_eq!(service(&after), service(&before));
    assert_eq!(keys(&deployment(&after)["metadata"]["annotations"]), BTreeSet::from([REVISION]));
    assert_eq!(keys(&template(&after)["metadata"]["annotations"]), BTreeSet::from([CHECKSUM, STAMP]));
    assert_eq!(deployment(&after)["metadata"]["labels"], deployment(&before)["metadata"]["labels"]);
    assert_eq!(condition(&after.status, "OverridesAccepted"), None);
}

#[test]
fn s1_08_the_checksum_is_that_of_the_file_whatever_is_overridden_and_moves_with_it_alone() {
    let overrides =
        json!({"proxyDeployment": {"podTemplateMetadataOverrides": {"annotations": {"vault": "true"}}}});
    let mut scene = Scene::of(json!({"resourceOverrides": overrides}));
    let before = scene.settle();
    let on_pods = |plan| template(plan)["metadata"]["annotations"][CHECKSUM].clone();
    let of_map = |plan| {
        let map = child(plan, ChildKind::ConfigMap, "web-runconfig");
        map["metadata"]["annotations"]["toolhive.stacklok.dev/content-checksum"].clone()
    };
    assert_eq!(on_pods(&before), of_map(&before));
    scene.set("audit", json!({"enabled": true}));
    let after = scene.plan();
    assert!(matches!(after.revision, Some(Decision::Mint(_))));
    assert_eq!(on_pods(&after), of_map(&after));
    assert_ne!(on_pods(&after), on_pods(&before));
    // What no pod sees restarts none.
    scene.settle();
    scene.set("sessionAffinity", json!("None"));
    assert!(matches!(scene.plan().revision, Some(Decision::Keep(_))));
}
