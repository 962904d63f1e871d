//! How many pods there are, and who says so.

use serde_json::{Value, json};
use thv_plan::{Children, Controller, PodHealth, Scalable};

use crate::support::{Scene, condition, controller, deployment, whole_condition};

fn applied(scene: &Scene) -> Option<Value> {
    deployment(&scene.plan())["spec"].get("replicas").cloned()
}

#[test]
fn without_a_number_the_field_is_not_ours() {
    let mut scene = Scene::of(json!({"transport": "sse"}));
    assert_eq!(applied(&scene), None);
    scene.settle();
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().replicas = 3;
    let plan = scene.plan();
    assert_eq!((plan.scalings.len(), applied(&scene)), (0, None));
    scene.set("image", json!("other"));
    assert_eq!((scene.plan().scalings.len(), applied(&scene)), (0, None), "nor when pods roll");
}

#[test]
fn a_number_is_authoritative_and_stdio_has_one_at_most() {
    for (transport, replicas, expected) in [
        ("sse", 1, 1),
        ("sse", 3, 3),
        ("streamable-http", 3, 3),
        ("stdio", 1, 1),
        ("stdio", 3, 1),
        ("stdio", 0, 0),
        ("sse", 0, 0),
    ] {
        let mut scene = Scene::of(json!({"transport": transport, "replicas": replicas}));
        assert_eq!(applied(&scene), Some(json!(expected)), "{transport} {replicas}");
        scene.settle();
        scene.snapshot.live.proxy.deployment.as_mut().unwrap().replicas = 7;
        assert!(scene.plan().scalings.is_empty(), "the apply itself sets it back");
    }
}

#[test]
fn a_number_that_is_given_up_is_parked_first() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 2}));
    scene.settle();
    scene.set("replicas", Value::Null);
    let plan = scene.plan();
    assert_eq!(applied(&scene), None);
    let [parked] = plan.scalings.as_slice() else { panic!("{:?}", plan.scalings) };
    assert_eq!((parked.kind, parked.name.as_str(), parked.replicas), (Scalable::Deployment, "web", 2));
    assert!(parked.before_children && parked.annotations.is_empty());
    let live = scene.snapshot.live.proxy.deployment.as_ref().unwrap();
    assert_eq!(parked.identity, live.identity);
    let settled = scene.settle();
    assert!(settled.scalings.is_empty());
    assert_eq!(scene.snapshot.live.proxy.deployment.as_ref().unwrap().replicas, 2);
}

#[test]
fn stdio_that_someone_scaled_up_is_scaled_back() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    assert!(scene.plan().scalings.is_empty(), "nothing to do about one");
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().replicas = 3;
    let plan = scene.plan();
    let [back] = plan.scalings.as_slice() else { panic!("{:?}", plan.scalings) };
    assert_eq!((back.kind, back.replicas), (Scalable::Deployment, 1));
    assert_eq!(applied(&scene), None);
    assert_eq!(condition(&plan.status, "StdioReplicaCapped"), Some(("False", "StdioReplicaCapNotActive")));
}

#[test]
fn the_cap_is_told_and_taken_back() {
    let mut scene = Scene::of(json!({"replicas": 3}));
    let status = scene.settle().status;
    assert_eq!(condition(&status, "StdioReplicaCapped"), Some(("True", "StdioTransportCapAt1")));
    assert_eq!(whole_condition(&status, "StdioReplicaCapped").unwrap().observed_generation, Some(1));
    assert_eq!(
        condition(&status, "SessionStorageWarning"),
        Some(("True", "SessionStorageMissingForReplicas"))
    );
    for (field, value) in [("replicas", json!(1)), ("replicas", Value::Null), ("transport", json!("sse"))] {
        let mut scene = scene.clone();
        scene.set(field, value);
        let capped =
            condition(&scene.status(), "StdioReplicaCapped").map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(capped, Some(("False".to_owned(), "StdioReplicaCapNotActive".to_owned())), "{field}");
    }
}

#[test]
fn several_replicas_want_shared_sessions() {
    let memory = json!({"provider": "memory"});
    let redis = json!({"provider": "redis", "address": "r:6379"});
    for (replicas, storage, default, expected) in [
        (json!(2), Value::Null, false, ("True", "SessionStorageMissingForReplicas")),
        (json!(2), memory.clone(), false, ("True", "SessionStorageMissingForReplicas")),
        (json!(2), memory, true, ("True", "SessionStorageMissingForReplicas")),
        (json!(2), redis.clone(), false, ("False", "SessionStorageConfigured")),
        (json!(2), Value::Null, true, ("False", "SessionStorageConfigured")),
        (json!(1), Value::Null, false, ("False", "SessionStorageWarningNotApplicable")),
        (Value::Null, Value::Null, false, ("False", "SessionStorageWarningNotApplicable")),
    ] {
        let mut scene =
            Scene::of(json!({"transport": "sse", "replicas": replicas, "sessionStorage": storage}));
        if default {
            let redis = thv_plan::DefaultRedis { address: "d:6379".to_owned(), password: None };
            scene.settings().default_redis = Some(redis);
        }
        let plan = scene.plan();
        assert_eq!(condition(&plan.status, "SessionStorageWarning"), Some(expected), "{replicas} {storage}");
        assert!(matches!(plan.children, Children::Exactly(_)), "a warning stops nothing");
    }
}

#[test]
fn an_autoscaler_and_a_number_are_a_conflict() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 2}));
    scene.snapshot.live.proxy.autoscalers = vec!["b".to_owned(), "a".to_owned()];
    assert_eq!(condition(&scene.status(), "AutoscalerConflict"), Some(("True", "ReplicasSetInSpec")));
    let message = whole_condition(&scene.status(), "AutoscalerConflict").unwrap().message.clone();
    assert!(message.contains("a, b"), "{message}");
    scene.set("replicas", Value::Null);
    assert_eq!(condition(&scene.status(), "AutoscalerConflict"), None);
    scene.set("transport", json!("stdio"));
    assert_eq!(condition(&scene.status(), "AutoscalerConflict"), Some(("True", "StdioTransportCapAt1")));
    scene.snapshot.live.proxy.autoscalers.clear();
    assert_eq!(condition(&scene.status(), "AutoscalerConflict"), None);
}

#[test]
fn stopping_the_proxies_stops_the_backend_and_brings_it_back() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 2}));
    scene.settle();
    scene.with_backend(3, 3);
    scene.with_pods(&[PodHealth::Ready, PodHealth::Terminating]);
    scene.set("replicas", json!(0));
    let plan = scene.plan();
    assert_eq!(plan.scalings, [], "a proxy that still runs would bring its backend back");
    assert_eq!(plan.status.phase.unwrap().as_str(), "Stopped");

    scene.with_pods(&[PodHealth::Terminating, PodHealth::Ended]);
    let plan = scene.plan();
    let [stop] = plan.scalings.as_slice() else { panic!("{:?}", plan.scalings) };
    assert_eq!((stop.kind, stop.name.as_str(), stop.replicas), (Scalable::StatefulSet, "web", 0));
    let remembered: Vec<_> = stop.annotations.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(remembered, [("toolhive.stacklok.dev/replicas-before-stop", "3")]);
    assert!(scene.settle().scalings.is_empty());

    scene.set("replicas", json!(2));
    let plan = scene.plan();
    let [start] = plan.scalings.as_slice() else { panic!("{:?}", plan.scalings) };
    assert_eq!((start.kind, start.replicas), (Scalable::StatefulSet, 3));
    assert!(start.annotations.is_empty(), "nothing is to be remembered any more");
    assert!(scene.settle().scalings.is_empty());
    assert_eq!(scene.snapshot.live.backend.as_ref().unwrap().replicas, 3);
}

#[test]
fn a_stopped_server_that_is_left_to_others_waits_for_them() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 0}));
    scene.settle();
    scene.with_backend(3, 3);
    scene.settle();
    scene.set("replicas", Value::Null);
    scene.settle();
    let live = &scene.snapshot.live;
    assert_eq!(live.proxy.deployment.as_ref().unwrap().replicas, 0, "the number stays what it was");
    assert_eq!(live.backend.as_ref().unwrap().replicas, 0, "and a backend alone is of no use");
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().replicas = 2;
    scene.settle();
    assert_eq!(scene.snapshot.live.backend.as_ref().unwrap().replicas, 3);
}

#[test]
fn a_backend_that_its_user_stopped_stays_stopped() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 0}));
    scene.with_backend(0, 0);
    assert!(scene.settle().scalings.is_empty());
    scene.set("replicas", json!(1));
    assert!(scene.settle().scalings.is_empty());
}

#[test]
fn a_backend_of_someone_else_is_left_alone() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 0}));
    scene.with_backend(3, 3);
    scene.snapshot.live.backend.as_mut().unwrap().controller =
        Some(controller("EmbeddingServer", "someone-else"));
    let plan = scene.plan();
    assert!(plan.scalings.is_empty());
    // The proxies could not have it either.
    assert_eq!(plan.children, Children::Keep);
    let message = &whole_condition(&plan.status, "SpecValid").unwrap().message;
    let expected = "a StatefulSet \"web\" is there already and belongs to EmbeddingServer \"x\"";
    assert!(message.contains(expected), "{message}");

    // That of an earlier server of this name goes by itself.
    let leftover = Controller { name: "web".to_owned(), ..controller("MCPServer", "earlier") };
    scene.snapshot.live.backend.as_mut().unwrap().controller = Some(leftover);
    let plan = scene.plan();
    assert!(plan.scalings.is_empty() && matches!(plan.children, Children::Exactly(_)));
}
