//! Volumes of the user's pod template.

use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::super::difference::Places;
use super::super::shift::Pods;
use super::{EMBEDDING_SERVER, REGISTRY, REMOTE_PROXY, TEMPLATED, VIRTUAL_SERVER, with, with_fields};

/// A template with this volume, and a mount of it in the container of ours.
fn template(pods: &Pods, volume: &Value, mount: &Value) -> Value {
    json!({"podTemplateSpec": {"spec": {
        "volumes": [volume], "containers": [{"name": pods.container, "volumeMounts": [mount]}],
    }}})
}

fn config_map(more: &Value) -> Value {
    with(json!({"name": "a"}), more)
}

/// A step of an edit: the source of the volume, the mount, and where that is seen.
type Step = (Value, Value, &'static [&'static str]);

/// One detail after the other.
fn steps() -> Vec<Step> {
    let mount = |more: Value| with(json!({"mountPath": "/extra"}), &more);
    let file = |key: &str, path: &str| json!({"items": [{"key": key, "path": path}]});
    vec![
        (
            json!({"configMap": config_map(&json!({"name": "b"}))}),
            mount(json!({})),
            &["volumes[extra].configMap.name"],
        ),
        (
            json!({"configMap": config_map(&file("k", "p"))}),
            mount(json!({})),
            &["volumes[extra].configMap.name", "volumes[extra].configMap.items"],
        ),
        (
            json!({"configMap": config_map(&file("k", "q"))}),
            mount(json!({})),
            &["volumes[extra].configMap.items[k].path"],
        ),
        (
            json!({"configMap": config_map(&file("l", "q"))}),
            mount(json!({})),
            &["volumes[extra].configMap.items[k]", "volumes[extra].configMap.items[l]"],
        ),
        (json!({"emptyDir": {}}), mount(json!({})), &["volumes[extra].configMap", "volumes[extra].emptyDir"]),
        (json!({"emptyDir": {"medium": "Memory"}}), mount(json!({})), &["volumes[extra].emptyDir.medium"]),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}),
            mount(json!({})),
            &["volumes[extra].emptyDir.sizeLimit"],
        ),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "2Mi"}}),
            mount(json!({})),
            &["volumes[extra].emptyDir.sizeLimit"],
        ),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "2Mi"}}),
            mount(json!({"subPath": "x"})),
            &["volumeMounts[/extra].subPath"],
        ),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "2Mi"}}),
            mount(json!({"subPath": "x", "readOnly": true})),
            &["volumeMounts[/extra].readOnly"],
        ),
        (
            json!({"emptyDir": {"medium": "Memory", "sizeLimit": "2Mi"}}),
            mount(json!({"mountPath": "/other", "subPath": "x", "readOnly": true})),
            &["volumeMounts[/extra]", "volumeMounts[/other]"],
        ),
    ]
}

/// Where the pods of a kind show this.
fn seen(pods: &Pods, all: &[&str]) -> Places {
    let mut places = Places::new();
    for place in all {
        let found =
            if place.starts_with("volumeMounts") { pods.in_container([place]) } else { pods.places([place]) };
        places.extend(found);
    }
    places
}

async fn goes_through(pods: &Pods) {
    in_namespace(async |space| {
        let volume = |source: &Value| with(json!({"name": "extra"}), source);
        let mounted = |mount: &Value| with(json!({"name": "extra"}), mount);
        let first = template(
            pods,
            &volume(&json!({"configMap": {"name": "a"}})),
            &mounted(&json!({"mountPath": "/extra"})),
        );
        let stage = with_fields(&space, pods, &first).await?;
        for (source, mount, expected) in steps() {
            // A merge patch replaces lists whole.
            let edit = template(pods, &volume(&source), &mounted(&mount));
            let changed = stage.change(pods, edit).await?;
            assert_eq!(changed, seen(pods, expected), "{}: {source}, {mount}", pods.kind);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_03_s4_09_a_change_of_one_detail_of_a_users_volume_reaches_the_pods_of_a_virtual_server() {
    goes_through(&VIRTUAL_SERVER).await;
}

#[tokio::test]
async fn s4_11_s4_03_s4_09_a_change_of_one_detail_of_a_users_volume_reaches_the_pods_of_an_embedding_server()
{
    goes_through(&EMBEDDING_SERVER).await;
}

#[tokio::test]
async fn s4_11_s4_03_s4_09_a_change_of_one_detail_of_a_users_volume_reaches_the_pods_of_a_registry() {
    goes_through(&REGISTRY).await;
}

#[tokio::test]
async fn s4_11_s4_03_s4_09_a_change_of_one_detail_of_a_users_volume_reaches_the_pods_of_a_remote_proxy() {
    goes_through(&REMOTE_PROXY).await;
}

/// A template with volumes of which the API server fills in much, and a container before ours.
fn defaulted(pods: &Pods) -> Value {
    let projected = json!([
        {"serviceAccountToken": {"path": "token"}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"configMap": {"name": "a", "items": [{"key": "k", "path": "p"}]}},
    ]);
    json!({"podTemplateSpec": {"spec": {
        "volumes": [
            {"name": "maps", "configMap": {"name": "a"}},
            {"name": "keys", "secret": {"secretName": "a", "items": [{"key": "k", "path": "p"}]}},
            {"name": "all", "projected": {"sources": projected}},
            {"name": "node", "hostPath": {"path": "/srv"}},
            {"name": "claim", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            }}}},
            {"name": "empty", "emptyDir": {}},
        ],
        "containers": [
            {"name": "first", "image": "localhost/sidecar:1", "ports": [{"containerPort": 9}], "env": [
                {"name": "FILE", "valueFrom": {"fileKeyRef": {"volumeName": "empty", "path": "f", "key": "K"}}},
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]},
            {"name": pods.container, "volumeMounts": [
                {"name": "maps", "mountPath": "/maps"}, {"name": "keys", "mountPath": "/keys", "readOnly": true},
                {"name": "all", "mountPath": "/all"},
            ]},
        ],
    }}})
}

#[tokio::test]
async fn s4_04_s4_11_what_the_api_server_fills_in_and_sidecars_cause_no_write() {
    for pods in &TEMPLATED {
        in_namespace(async |space| {
            let mut stage = with_fields(&space, pods, &defaulted(pods)).await?;
            stage.assert_fixed(pods).await?;
            // Containers in another order are another pod template, once.
            let mut other = defaulted(pods);
            other["podTemplateSpec"]["spec"]["containers"].as_array_mut().unwrap().reverse();
            stage.change(pods, other).await?;
            stage.assert_fixed(pods).await
        })
        .await;
    }
}

#[tokio::test]
async fn s4_07_s4_11_a_template_that_is_taken_back_leaves_nothing_behind() {
    for pods in &TEMPLATED {
        in_namespace(async |space| {
            let mut stage = with_fields(&space, pods, &json!({})).await?;
            let before = stage.children(pods).await?;
            let added = stage.change(pods, defaulted(pods)).await?;
            let removed = stage.change(pods, json!({"podTemplateSpec": null})).await?;
            assert_eq!(added, removed, "{}", pods.kind);
            let left = before.changes(&stage.children(pods).await?);
            let template = pods.places([""]).pop_first().unwrap();
            let is_left = |place: &&String| place.starts_with(template.trim_end_matches('.'));
            let left: Vec<_> =
                left.iter().filter(is_left).filter(|place| !place.contains("REVISION")).collect();
            assert!(left.is_empty(), "{}: {left:?}", pods.kind);
            stage.assert_fixed(pods).await
        })
        .await;
    }
}
