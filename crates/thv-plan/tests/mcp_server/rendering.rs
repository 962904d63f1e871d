//! What the children look like.

use serde_json::{Value, json};
use thv_plan::{ChildKind, Platform};

use crate::support::{Scene, UID, child, children, deployment, template, variable};

fn names(scene: &Scene) -> Vec<(ChildKind, String)> {
    let plan = scene.plan();
    children(&plan).iter().map(|child| (child.kind(), child.name().to_owned())).collect()
}

fn owned<const N: usize>(names: [(ChildKind, &str); N]) -> Vec<(ChildKind, String)> {
    names.into_iter().map(|(kind, name)| (kind, name.to_owned())).collect()
}

#[test]
fn what_pods_need_comes_before_them() {
    let expected = owned([
        (ChildKind::ConfigMap, "web-runconfig"),
        (ChildKind::ServiceAccount, "web-proxy-runner"),
        (ChildKind::ServiceAccount, "web-sa"),
        (ChildKind::Role, "web-proxy-runner"),
        (ChildKind::RoleBinding, "web-proxy-runner"),
        (ChildKind::Service, "mcp-web-proxy"),
        (ChildKind::Deployment, "web"),
    ]);
    assert_eq!(names(&Scene::of(json!({}))), expected);
}

#[test]
fn children_that_are_not_needed_are_not_there() {
    let mut scene = Scene::of(json!({"serviceAccount": "mine"}));
    assert!(!names(&scene).contains(&(ChildKind::ServiceAccount, "web-sa".to_owned())));
    let rules = (ChildKind::ConfigMap, "web-authz-inline".to_owned());
    scene.set(
        "authzConfig",
        json!({"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}}),
    );
    assert!(names(&scene).contains(&rules));
    scene.set("authzConfig", Value::Null);
    assert!(!names(&scene).contains(&rules));
}

#[test]
fn every_child_goes_with_its_server() {
    let scene = Scene::example("full.yaml", "web");
    let plan = scene.plan();
    for child in children(&plan) {
        let owners = &child.body()["metadata"]["ownerReferences"];
        let expected = json!([{
            "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": "web", "uid": UID,
            "controller": true, "blockOwnerDeletion": true,
        }]);
        assert_eq!(*owners, expected, "{}", child.name());
        assert!(child.body()["metadata"].get("namespace").is_none(), "the engine knows the namespace");
    }
}

#[test]
fn pods_are_bound_at_birth() {
    let plan = Scene::of(json!({})).plan();
    let annotations = &template(&plan)["metadata"]["annotations"];
    assert_eq!(annotations["toolhive.stacklok.dev/mcpserver-generation"], "1");
    for (name, annotation) in [
        ("THV_MCPSERVER_GENERATION", "toolhive.stacklok.dev/mcpserver-generation"),
        ("THV_RUNCONFIG_CHECKSUM", "toolhive.stacklok.dev/runconfig-checksum"),
    ] {
        let path = format!("metadata.annotations['{annotation}']");
        let field = json!({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}});
        assert_eq!(variable(&plan, name), Some(&field));
        assert!(annotations[annotation].is_string(), "an annotation that is not there is an empty variable");
    }
    let number = plan.revision.as_ref().unwrap().revision().number;
    let revision = json!({"name": "THV_MCPSERVER_REVISION", "value": format!("{UID}/{number}")});
    assert_eq!(variable(&plan, "THV_MCPSERVER_REVISION"), Some(&revision));
}

#[test]
fn pods_have_time_to_drain_whatever_the_replicas() {
    for fields in [json!({}), json!({"replicas": 0}), json!({"replicas": 3, "transport": "sse"})] {
        let plan = Scene::of(fields).plan();
        assert_eq!(template(&plan)["spec"]["terminationGracePeriodSeconds"], 30);
    }
}

#[test]
fn the_image_is_an_argument_after_the_patch() {
    let plan = Scene::of(json!({})).plan();
    let patch = r#"--k8s-pod-patch={"spec":{"serviceAccountName":"web-sa"}}"#;
    let container = &template(&plan)["spec"]["containers"][0];
    assert_eq!(container["args"], json!(["run", patch, "ghcr.io/example/web:1"]));
    assert_eq!(container["image"], "ghcr.io/stacklok/toolhive/proxyrunner:latest");
    let plan = Scene::of(json!({"serviceAccount": ""})).plan();
    assert_eq!(template(&plan)["spec"]["containers"][0]["args"], json!(["run", "ghcr.io/example/web:1"]));
}

#[test]
fn resources_are_those_of_the_proxy() {
    let container = |resources: Value| {
        let plan = Scene::of(json!({"resources": resources})).plan();
        template(&plan)["spec"]["containers"][0].get("resources").cloned()
    };
    assert_eq!(container(json!({})), None);
    assert_eq!(container(json!({"limits": {"cpu": ""}})), None);
    assert_eq!(
        container(json!({"limits": {"cpu": "1"}, "requests": {}})),
        Some(json!({"limits": {"cpu": "1"}}))
    );
}

#[test]
fn the_service_follows_port_and_affinity() {
    let mut scene = Scene::of(json!({"proxyPort": 9000}));
    let plan = scene.plan();
    let spec = &child(&plan, ChildKind::Service, "mcp-web-proxy")["spec"];
    let port = json!([{"name": "http", "port": 9000, "targetPort": 9000, "protocol": "TCP"}]);
    assert_eq!(spec["ports"], port);
    assert_eq!(spec["sessionAffinity"], "ClientIP");
    assert_eq!(spec["sessionAffinityConfig"], json!({"clientIP": {"timeoutSeconds": 10_800}}));
    assert_eq!(spec["selector"], deployment(&plan)["spec"]["selector"]["matchLabels"]);
    scene.set("sessionAffinity", json!("None"));
    let plan = scene.plan();
    let spec = &child(&plan, ChildKind::Service, "mcp-web-proxy")["spec"];
    assert_eq!(spec["sessionAffinity"], "None");
    assert_eq!(spec.get("sessionAffinityConfig"), None, "it means nothing without affinity");
}

#[test]
fn pull_secrets_are_the_users_and_the_operators_each_once_and_in_no_order_of_their_own() {
    let overrides =
        json!({"proxyDeployment": {"imagePullSecrets": [{"name": "b"}, {"name": "a"}, {"name": "b"}]}});
    let mut scene = Scene::of(json!({"resourceOverrides": overrides}));
    scene.settings().image_pull_secrets = vec!["a".to_owned(), "c".to_owned()];
    let expected = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]);
    let plan = scene.plan();
    assert_eq!(template(&plan)["spec"]["imagePullSecrets"], expected);
    for account in ["web-proxy-runner", "web-sa"] {
        assert_eq!(child(&plan, ChildKind::ServiceAccount, account)["imagePullSecrets"], expected);
    }
    let plan = Scene::of(json!({})).plan();
    assert_eq!(template(&plan)["spec"].get("imagePullSecrets"), None);
    assert_eq!(child(&plan, ChildKind::ServiceAccount, "web-sa").get("imagePullSecrets"), None);
}

#[test]
fn an_image_is_pulled_as_the_api_server_would_choose_for_it() {
    for (image, policy) in [
        ("registry:5000/runner", "Always"),
        ("registry:5000/runner:latest", "Always"),
        ("runner:latest@sha256:ab", "Always"),
        ("runner:1", "IfNotPresent"),
        ("runner@sha256:ab", "IfNotPresent"),
    ] {
        let mut scene = Scene::of(json!({}));
        scene.settings().runner_image = image.to_owned();
        assert_eq!(template(&scene.plan())["spec"]["containers"][0]["imagePullPolicy"], policy, "{image}");
    }
}

#[test]
fn openshift_chooses_ids_and_keeps_its_own_pull_secrets() {
    let mut scene = Scene::of(json!({}));
    scene.settings().platform = Platform::OpenShift;
    scene.settings().image_pull_secrets = vec!["a".to_owned()];
    let plan = scene.plan();
    let spec = &template(&plan)["spec"];
    assert_eq!(spec["securityContext"].get("runAsUser"), None);
    assert_eq!(spec["containers"][0]["securityContext"].get("runAsUser"), None);
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "a"}]));
    assert_eq!(child(&plan, ChildKind::ServiceAccount, "web-sa").get("imagePullSecrets"), None);
    let patch = spec["containers"][0]["args"][1].as_str().unwrap();
    assert!(patch.contains(r#""imagePullSecrets":[{"name":"a"}]"#), "{patch}");
}

#[test]
fn volumes_of_users_do_not_displace_ours() {
    let volume = |name: &str, path: &str| json!({"name": name, "hostPath": "/srv", "mountPath": path});
    let volumes = [volume("runconfig", "/mine"), volume("b", "/etc/runconfig/"), volume("a", "/data")];
    let scene = Scene::of(json!({"volumes": volumes}));
    let plan = scene.plan();
    let spec = &template(&plan)["spec"];
    let expected = json!([
        {"name": "a", "hostPath": {"path": "/srv", "type": ""}},
        {"name": "runconfig", "configMap": {"name": "web-runconfig", "defaultMode": 420}},
    ]);
    assert_eq!(spec["volumes"], expected);
    let message = &crate::support::whole_condition(&plan.status, "OverridesAccepted").unwrap().message;
    assert!(message.contains("volumes[runconfig]") && message.contains("volumes[b].mountPath"), "{message}");
}
