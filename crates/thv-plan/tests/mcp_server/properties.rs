//! What holds for any server.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use proptest::prelude::*;
use serde_json::{Value, json};
use thv_plan::{ChildKind, Children, Decision};

use crate::support::{Scene, children, deployment};

/// Reverses a list somewhere in the spec.
fn reversed(scene: &Scene, pointer: &str) -> Scene {
    let mut other = scene.clone();
    let mut spec = serde_json::to_value(&other.snapshot.owner.spec).unwrap();
    let list = spec.pointer_mut(pointer).unwrap().as_array_mut().unwrap();
    assert!(list.len() > 1, "{pointer}");
    list.reverse();
    other.owner().spec = serde_json::from_value(spec).unwrap();
    other
}

#[test]
fn orders_without_meaning_have_no_effect() {
    let mut scene = Scene::example("full.yaml", "web");
    scene.edit(|spec| {
        spec["secrets"] = json!([
            {"name": "keys", "key": "token", "targetEnvName": "A"},
            {"name": "redis-auth", "key": "password", "targetEnvName": "B"},
        ]);
        spec["rateLimiting"]["tools"] = json!([
            {"name": "b", "shared": {"maxTokens": 5, "refillPeriod": "1s"}},
            {"name": "a", "shared": {"maxTokens": 5, "refillPeriod": "1s"}},
        ]);
    });
    let before = scene.settle();
    for list in
        ["/env", "/volumes", "/secrets", "/resourceOverrides/proxyDeployment/env", "/rateLimiting/tools"]
    {
        assert_eq!(reversed(&scene, list).plan(), before, "{list}");
    }
    assert_ne!(reversed(&scene, "/args").plan(), before, "arguments have an order");
}

#[test]
fn maps_of_users_have_no_order() {
    let one: Value =
        serde_json::from_str(r#"{"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"x": 1}}"#).unwrap();
    let other: Value =
        serde_json::from_str(r#"{"spec": {"x": 1}, "metadata": {"labels": {"b": "2", "a": "1"}}}"#).unwrap();
    let plan = |template: Value| Scene::of(json!({"podTemplateSpec": template})).plan();
    assert_eq!(plan(one), plan(other));
}

fn any_fields() -> impl Strategy<Value = Value> {
    let text = "[a-z]{1,6}";
    let pairs = || proptest::collection::btree_map("[a-z]{1,4}", "[a-z]{0,4}", 0..3);
    let env = || proptest::collection::btree_map("[A-Z]{1,3}", "[a-z$()A-Z]{0,6}", 0..4);
    let list = |env: std::collections::BTreeMap<String, String>| -> Value {
        env.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let metadata = (pairs(), pairs())
        .prop_map(|(labels, annotations)| json!({"labels": labels, "annotations": annotations}));
    (
        prop_oneof![Just("stdio"), Just("sse"), Just("streamable-http")],
        prop_oneof![Just("sse"), Just("streamable-http")],
        1..=65535_u16,
        proptest::option::of(0..4_i32),
        proptest::option::of(0..4_i32),
        proptest::collection::vec(text, 0..3),
        (env(), env()).prop_map(move |(one, other)| (list(one), list(other))),
        (metadata.clone(), metadata.clone(), metadata),
        proptest::collection::btree_map("[a-c]", "/[a-c]/?", 0..3),
        proptest::option::of(prop_oneof![Just(""), Just("mine")]),
    )
        .prop_map(|(transport, mode, port, replicas, backend, args, (env, more), metadata, volumes, account)| {
            let (deployment, pods, service) = metadata;
            let volumes: Value = volumes
                .into_iter()
                .map(|(name, path)| json!({"name": name, "hostPath": path, "mountPath": path}))
                .collect();
            json!({
                "transport": transport, "proxyMode": mode, "proxyPort": port, "replicas": replicas,
                "backendReplicas": backend, "args": args, "env": env, "volumes": volumes, "serviceAccount": account,
                "resourceOverrides": {
                    "proxyDeployment": {
                        "labels": deployment["labels"], "annotations": deployment["annotations"],
                        "podTemplateMetadataOverrides": pods, "env": more,
                    },
                    "proxyService": service,
                },
            })
        })
}

/// The names in a list, each of which has to be there once.
fn unique(list: &Value, key: &str) -> Result<(), TestCaseError> {
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect();
    prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{:?}", names);
    Ok(())
}

/// An applied null removes a field, and an applied empty map or list owns one: neither is ever meant.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty() && fields.values().all(says_something),
        Value::Array(items) => !items.is_empty() && items.iter().all(says_something),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn plans_settle_and_their_objects_are_objects(fields in any_fields()) {
        let mut scene = Scene::of(fields);
        let first = scene.plan();
        prop_assert_eq!(&first, &scene.plan(), "the same snapshot gives the same plan");
        prop_assert!(matches!(first.revision, Some(Decision::Mint(_))), "{:?}", first.status.message);
        let settled = scene.settle();
        prop_assert!(matches!(settled.revision, Some(Decision::Keep(_))));
        prop_assert!(settled.scalings.is_empty() && settled.annotations.is_empty());
        prop_assert_eq!(&settled.children, &first.children);
        let spec = &deployment(&settled)["spec"]["template"]["spec"];
        unique(&spec["containers"][0]["env"], "name")?;
        unique(&spec["containers"][0]["volumeMounts"], "mountPath")?;
        unique(&spec["volumes"], "name")?;
        for child in children(&settled) {
            let body = child.body().clone();
            prop_assert!(says_something(&body), "{}", body);
            let decoded = match child.kind() {
                ChildKind::ConfigMap => serde_json::from_value::<ConfigMap>(body).map(drop),
                ChildKind::Deployment => serde_json::from_value::<Deployment>(body).map(drop),
                ChildKind::Role => serde_json::from_value::<Role>(body).map(drop),
                ChildKind::RoleBinding => serde_json::from_value::<RoleBinding>(body).map(drop),
                ChildKind::Service => serde_json::from_value::<Service>(body).map(drop),
                ChildKind::ServiceAccount => serde_json::from_value::<ServiceAccount>(body).map(drop),
                other @ (ChildKind::Secret | ChildKind::StatefulSet) => panic!("a server has no {other:?}"),
            };
            prop_assert!(decoded.is_ok(), "{}: {:?}", child.name(), decoded);
        }
    }

    #[test]
    fn any_json_as_a_pod_template_is_taken_or_told(text in "[a-z]{0,3}", number: i32) {
        for template in [
            json!({"spec": {"containers": [{"name": text, "env": number}]}}),
            json!({"spec": {text.clone(): number}}),
            json!({text.clone(): [number, text]}),
        ] {
            let plan = Scene::of(json!({"podTemplateSpec": template})).plan();
            let told = crate::support::condition(&plan.status, "PodTemplateValid").unwrap().0 == "False";
            prop_assert_eq!(plan.children == Children::Keep, told);
        }
    }
}
