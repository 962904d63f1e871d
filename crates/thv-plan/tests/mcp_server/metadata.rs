//! Labels and annotations that users add, at both levels in every case.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thv_plan::ChildKind;

use crate::support::{Scene, child, condition, deployment, template, variable, whole_condition};

const CHECKSUM: &str = "toolhive.stacklok.dev/runconfig-checksum";
const STAMP: &str = "toolhive.stacklok.dev/mcpserver-generation";
const REVISION: &str = "toolhive.stacklok.dev/revision";

fn keys(map: &Value) -> BTreeSet<&str> {
    map.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

struct Case {
    name: &'static str,
    overrides: Value,
    on_deployment: &'static [&'static str],
    on_pods: &'static [&'static str],
}

#[test]
fn annotations_end_up_at_their_level_and_only_there() {
    let cases = [
        Case { name: "none", overrides: json!({}), on_deployment: &[], on_pods: &[] },
        Case {
            name: "on pods",
            overrides: json!({"podTemplateMetadataOverrides": {"annotations": {"vault": "true"}}}),
            on_deployment: &[],
            on_pods: &["vault"],
        },
        Case {
            name: "on the Deployment",
            overrides: json!({"annotations": {"team": "x"}}),
            on_deployment: &["team"],
            on_pods: &[],
        },
        Case {
            name: "on both, under one key",
            overrides: json!({
                "annotations": {"team": "x", "a": "1"},
                "podTemplateMetadataOverrides": {"annotations": {"team": "y", "b": "2"}},
            }),
            on_deployment: &["team", "a"],
            on_pods: &["team", "b"],
        },
    ];
    for Case { name, overrides, on_deployment, on_pods } in cases {
        let plan = Scene::of(json!({"resourceOverrides": {"proxyDeployment": overrides}})).plan();
        let expected: BTreeSet<_> = on_deployment.iter().copied().chain([REVISION]).collect();
        assert_eq!(keys(&deployment(&plan)["metadata"]["annotations"]), expected, "{name}");
        let expected: BTreeSet<_> = on_pods.iter().copied().chain([CHECKSUM, STAMP]).collect();
        assert_eq!(keys(&template(&plan)["metadata"]["annotations"]), expected, "{name}");
        assert_ne!(
            condition(&plan.status, "OverridesAccepted").map(|(status, _)| status),
            Some("False"),
            "{name}"
        );
    }
}

#[test]
fn one_key_has_two_values_at_two_levels() {
    let overrides = json!({
        "annotations": {"team": "x"},
        "podTemplateMetadataOverrides": {"annotations": {"team": "y"}},
    });
    let plan = Scene::of(json!({"resourceOverrides": {"proxyDeployment": overrides}})).plan();
    assert_eq!(deployment(&plan)["metadata"]["annotations"]["team"], "x");
    assert_eq!(template(&plan)["metadata"]["annotations"]["team"], "y");
}

#[test]
fn labels_end_up_at_their_level_and_never_in_the_selector() {
    let plain = Scene::of(json!({})).plan();
    let selector = &deployment(&plain)["spec"]["selector"]["matchLabels"];
    let overrides = json!({
        "labels": {"tier": "edge", "app": "mine"},
        "podTemplateMetadataOverrides": {"labels": {"mesh": "on", "toolhive-name": "mine"}},
    });
    let plan = Scene::of(json!({"resourceOverrides": {"proxyDeployment": overrides}})).plan();
    let with = |more: &'static str| keys(selector).into_iter().chain([more]).collect::<BTreeSet<_>>();
    assert_eq!(&deployment(&plan)["spec"]["selector"]["matchLabels"], selector);
    assert_eq!(keys(&deployment(&plan)["metadata"]["labels"]), with("tier"));
    assert_eq!(keys(&template(&plan)["metadata"]["labels"]), with("mesh"));
    assert_eq!(deployment(&plan)["metadata"]["labels"]["app"], "mcpserver");
    assert_eq!(template(&plan)["metadata"]["labels"]["toolhive-name"], "web");
    let message = &whole_condition(&plan.status, "OverridesAccepted").unwrap().message;
    assert!(message.contains("proxyDeployment.labels[app]"), "{message}");
    assert!(message.contains("podTemplateMetadataOverrides.labels[toolhive-name]"), "{message}");
}

#[test]
fn reserved_keys_keep_our_value_and_the_user_is_told() {
    let overrides = json!({
        "annotations": {REVISION: "1/x"},
        "podTemplateMetadataOverrides": {"annotations": {CHECKSUM: "x", STAMP: "99"}},
        "env": [{"name": "THV_MCPSERVER_GENERATION", "value": "99"}, {"name": "FINE", "value": "1"}],
    });
    let plain = Scene::of(json!({})).plan();
    let plan = Scene::of(json!({"resourceOverrides": {"proxyDeployment": overrides}})).plan();
    for key in [CHECKSUM, STAMP] {
        let of = |plan| template(plan)["metadata"]["annotations"][key].clone();
        assert_eq!(of(&plan), of(&plain), "{key}");
    }
    assert_ne!(deployment(&plan)["metadata"]["annotations"][REVISION], "1/x");
    let name = "THV_MCPSERVER_GENERATION";
    assert_eq!(variable(&plan, name), variable(&plain, name));
    assert_eq!(variable(&plan, "FINE").unwrap()["value"], "1");
    assert_eq!(condition(&plan.status, "OverridesAccepted"), Some(("False", "ReservedNamesIgnored")));
    let message = &whole_condition(&plan.status, "OverridesAccepted").unwrap().message;
    for key in [REVISION, CHECKSUM, STAMP, name] {
        assert!(message.contains(key), "{key}: {message}");
    }
    assert!(!message.contains("FINE"), "{message}");
}

#[test]
fn overrides_that_are_removed_leave_nothing_behind() {
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
    let service = &child(&with, ChildKind::Service, "mcp-web-proxy")["metadata"];
    assert_eq!((&service["annotations"]["f"], &service["labels"]["g"]), (&json!("6"), &json!("7")));
    assert_eq!(condition(&with.status, "OverridesAccepted"), Some(("True", "OverridesAccepted")));
    scene.set("resourceOverrides", Value::Null);
    let after = scene.settle();
    assert_eq!(condition(&after.status, "OverridesAccepted"), None);
    let without_birth = |plan| {
        let mut template = template(plan).clone();
        let annotations = template["metadata"]["annotations"].as_object_mut().unwrap();
        annotations.retain(|key, _| key != CHECKSUM && key != STAMP);
        let env = template["spec"]["containers"][0]["env"].as_array_mut().unwrap();
        env.retain(|entry| entry["name"] != "THV_MCPSERVER_REVISION");
        template
    };
    assert_eq!(without_birth(&after), without_birth(&before));
    assert_eq!(keys(&deployment(&after)["metadata"]["annotations"]), BTreeSet::from([REVISION]));
    let service = |plan| child(plan, ChildKind::Service, "mcp-web-proxy").clone();
    assert_eq!(service(&after), service(&before));
}
