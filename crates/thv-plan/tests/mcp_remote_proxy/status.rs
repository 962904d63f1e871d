//! What is said about a remote proxy.

use serde_json::{Value, json};
use thv_plan::{Children, PodHealth};

use crate::support::{Scene, children, condition, controller, failing, template, whole_condition};

const RESTARTED_AT: &str = "mcpserver.toolhive.stacklok.dev/restarted-at";
const ROTATION: &str = "toolhive.stacklok.dev/restart-on-rotation";
const ROTATED: &str = "toolhive.stacklok.dev/rotated-content";

#[test]
fn the_phase_is_what_the_pods_say() {
    use PodHealth::{Pending, Ready};
    for (pods, expected, ready) in [
        (vec![], "Pending", ("False", "DeploymentNotReady")),
        (vec![Pending], "Pending", ("False", "DeploymentNotReady")),
        (vec![failing("CrashLoopBackOff", Some(1), true)], "Failed", ("False", "DeploymentNotReady")),
        (vec![Ready, Pending], "Ready", ("True", "DeploymentReady")),
    ] {
        let mut scene = Scene::of(json!({}));
        scene.with_pods(&pods);
        let status = scene.settle().status;
        assert_eq!(status.phase.unwrap().as_str(), expected, "{pods:?}");
        assert_eq!(condition(&status, "Ready"), Some(ready), "{pods:?}");
        assert_eq!(status.observed_generation, Some(1));
        assert_eq!(status.url.as_deref(), Some("http://mcp-web-remote-proxy.fleet.svc.cluster.local:8080"));
    }
}

#[test]
fn the_url_follows_the_port() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.set("proxyPort", json!(9090));
    assert!(scene.status().url.unwrap().ends_with(":9090"));
}

#[test]
fn conditions_and_digests_go_with_what_they_are_about() {
    let mut scene = Scene::example("remote.yaml", "saas");
    let status = scene.settle().status;
    let types: Vec<&str> = status.conditions.iter().flatten().map(|one| one.type_.as_str()).collect();
    for type_ in [
        "AuthConfigured",
        "CABundleRefValidated",
        "ExternalAuthConfigValidated",
        "GroupRefValidated",
        "OIDCConfigRefValidated",
        "PodTemplateValid",
        "TelemetryConfigRefValidated",
        "ToolConfigValidated",
    ] {
        assert!(types.contains(&type_), "{type_}: {types:?}");
        assert_eq!(whole_condition(&status, type_).unwrap().status, "True", "{type_}");
    }
    assert!(status.oidc_config_hash.is_some() && status.tool_config_hash.is_some());
    scene.edit(|spec| *spec = json!({"remoteUrl": "https://mcp.example.com/mcp"}));
    let status = scene.settle().status;
    let types: Vec<&str> = status.conditions.iter().flatten().map(|one| one.type_.as_str()).collect();
    assert_eq!(types, ["ConfigurationValid", "Ready", "SessionStorageWarning"]);
    assert_eq!((status.oidc_config_hash, status.tool_config_hash), (None, None));
}

#[test]
fn a_reference_that_cannot_be_used_stops_the_change_and_is_told_by_its_condition() {
    for (field, value, type_, reason) in [
        ("toolConfigRef", json!({"name": "gone"}), "ToolConfigValidated", "ToolConfigNotFound"),
        (
            "telemetryConfigRef",
            json!({"name": "gone"}),
            "TelemetryConfigRefValidated",
            "TelemetryConfigRefNotFound",
        ),
        (
            "externalAuthConfigRef",
            json!({"name": "gone"}),
            "ExternalAuthConfigValidated",
            "ExternalAuthConfigNotFound",
        ),
        (
            "authServerRef",
            json!({"kind": "MCPExternalAuthConfig", "name": "gone"}),
            "AuthServerRefValidated",
            "AuthServerRefNotFound",
        ),
        (
            "oidcConfigRef",
            json!({"name": "gone", "audience": "a"}),
            "OIDCConfigRefValidated",
            "OIDCConfigRefNotFound",
        ),
        ("authzConfigRef", json!({"name": "gone"}), "AuthzConfigRefValidated", "AuthzConfigRefNotFound"),
        (
            "authzConfig",
            json!({"type": "configMap", "configMap": {"name": "gone"}}),
            "ConfigurationValid",
            "AuthzConfigMapNotFound",
        ),
        (
            "authzConfig",
            json!({"type": "inline", "inline": {"policies": ["permit("]}}),
            "ConfigurationValid",
            "AuthzPolicySyntaxInvalid",
        ),
    ] {
        let mut scene = Scene::of(json!({}));
        let before = scene.settle();
        scene.set(field, value);
        let plan = scene.plan();
        assert_eq!(plan.children, Children::Keep, "{field}");
        assert_eq!(condition(&plan.status, type_), Some(("False", reason)), "{field}");
        assert_eq!(condition(&plan.status, "Ready"), Some(("False", "NotReady")), "{field}");
        assert!(plan.status.message.unwrap().starts_with("not applied: "), "{field}");
        scene.set(field, Value::Null);
        assert_eq!(scene.plan().status.phase, before.status.phase, "{field}");
    }
}

#[test]
fn a_group_that_is_missing_is_told_and_stops_nothing() {
    let scene = Scene::of(json!({"groupRef": {"name": "gone"}}));
    let plan = scene.plan();
    assert_eq!(condition(&plan.status, "GroupRefValidated"), Some(("False", "GroupRefNotFound")));
    assert!(!children(&plan).is_empty());
}

#[test]
fn a_deployment_of_something_else_is_not_taken() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.workload().deployment.as_mut().unwrap().controller = Some(controller("MCPServer", "someone-else"));
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    assert_eq!(condition(&plan.status, "ConfigurationValid"), Some(("False", "NameTaken")));
    let message = plan.status.message.unwrap();
    assert!(message.contains("belongs to MCPServer \"x\""), "{message}");
}

#[test]
fn names_that_no_service_can_have_are_told() {
    let mut scene = Scene::of(json!({}));
    scene.owner().metadata.name = Some("a".repeat(47));
    assert_eq!(condition(&scene.status(), "ConfigurationValid"), Some(("False", "InvalidSpec")));
    scene.owner().metadata.name = Some("a".repeat(46));
    assert_eq!(condition(&scene.status(), "ConfigurationValid"), Some(("True", "ConfigurationValid")));
}

#[test]
fn a_restart_that_is_asked_for_rolls_the_pods_once() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    scene.later("2026-11-15T12:00:00Z");
    let settled = scene.settle();
    assert_eq!(template(&settled)["metadata"]["annotations"][RESTARTED_AT], "2026-11-15T09:00:00Z");
    assert!(settled.annotations.is_empty());
}

#[test]
fn content_that_is_rotated_restarts_pods_only_if_their_user_wants_it() {
    let header = json!([{"headerName": "X-Key", "valueSecretRef": {"name": "keys", "key": "k"}}]);
    let mut scene = Scene::of(json!({"headerForward": {"addHeadersFromSecret": header}}));
    let mut digest = |content: &str, wanted: &str| {
        scene.refer(json!({"kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"k": content}}));
        scene.annotate(ROTATION, wanted);
        template(&scene.plan())["metadata"]["annotations"][ROTATED].clone()
    };
    assert_eq!((digest("1", "false"), digest("2", "false")), (Value::Null, Value::Null));
    let one = digest("1", "true");
    assert!(one.is_string());
    assert_ne!(digest("2", "true"), one);
    assert_eq!(digest("1", "true"), one);
}
