//! Restarts when content is rotated behind a name that stays.

use serde_json::{Value, json};
use thv_api::names::annotations::{RESTART_ON_ROTATION, ROTATED_CONTENT};

use crate::support::{Scene, template, whole_condition};

/// A server whose backend and whose proxy each use a Secret.
fn server() -> Scene {
    let mut scene = Scene::of(json!({
        "secrets": [{"name": "backend", "key": "k", "targetEnvName": "TOKEN"}],
        "externalAuthConfigRef": {"name": "bearer"},
    }));
    scene.refer(json!({
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPExternalAuthConfig", "metadata": {"name": "bearer"},
        "spec": {"type": "bearerToken", "bearerToken": {"tokenSecretRef": {"name": "proxy", "key": "k"}}},
    }));
    rotate(&mut scene, "backend", "1");
    rotate(&mut scene, "proxy", "1");
    scene
}

fn rotate(scene: &mut Scene, secret: &str, content: &str) {
    scene.refer(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret}, "stringData": {"k": content, "other": "x"},
    }));
}

/// The digests on the pods of the proxy and on those of the backend.
fn digests(scene: &Scene) -> (Option<String>, Option<String>) {
    let plan = scene.plan();
    let template = template(&plan);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let on_proxy = text(&template["metadata"]["annotations"][ROTATED_CONTENT]);
    let args = template["spec"]["containers"][0]["args"].as_array().unwrap();
    let patch = args.iter().find_map(|arg| arg.as_str()?.strip_prefix("--k8s-pod-patch="));
    let patch: Value = serde_json::from_str(patch.unwrap_or("null")).unwrap();
    (on_proxy, text(&patch["metadata"]["annotations"][ROTATED_CONTENT]))
}

#[test]
fn s4_10_content_behind_a_name_that_stays_restarts_nothing_unless_the_user_asks_for_it() {
    let mut scene = server();
    let before = scene.plan();
    rotate(&mut scene, "backend", "2");
    rotate(&mut scene, "proxy", "2");
    assert_eq!(scene.plan().children, before.children);
    assert_eq!(digests(&scene), (None, None));

    scene.annotate(RESTART_ON_ROTATION, "true");
    let (proxy, backend) = digests(&scene);
    assert!(proxy.is_some() && backend.is_some() && proxy != backend);
    rotate(&mut scene, "proxy", "3");
    let rotated = digests(&scene);
    assert!(rotated.0.is_some() && rotated.0 != proxy, "the proxy uses it");
    assert_eq!(rotated.1, backend, "the backend does not");
    rotate(&mut scene, "backend", "3");
    assert_eq!(digests(&scene).0, rotated.0);
    assert_ne!(digests(&scene).1, backend);

    scene.annotate(RESTART_ON_ROTATION, "false");
    assert_eq!(digests(&scene), (None, None));
}

#[test]
fn an_annotation_that_is_neither_true_nor_false_is_told() {
    let mut scene = server();
    scene.annotate(RESTART_ON_ROTATION, "yes");
    let ignored = whole_condition(&scene.status(), "SettingsIgnored").cloned().unwrap();
    assert!(ignored.message.contains(RESTART_ON_ROTATION), "{}", ignored.message);
    assert_eq!(digests(&scene), (None, None));
}
