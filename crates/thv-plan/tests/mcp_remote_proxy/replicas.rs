//! How many pods there are, and who says so.

use serde_json::{Value, json};
use thv_plan::{Children, DefaultRedis, PodHealth, Scalable};

use crate::support::{Scene, condition, deployment, variable, whole_condition};

fn applied(scene: &Scene) -> Option<Value> {
    deployment(&scene.plan())["spec"].get("replicas").cloned()
}

#[test]
fn s2_15_without_a_number_the_field_is_not_ours_also_when_pods_roll() {
    let mut scene = Scene::of(json!({}));
    assert_eq!(applied(&scene), None);
    scene.settle();
    scene.workload().deployment.as_mut().unwrap().replicas = 3;
    assert_eq!((scene.plan().scalings.len(), applied(&scene)), (0, None));
    scene.set("remoteUrl", json!("https://other.example.com"));
    assert_eq!((scene.plan().scalings.len(), applied(&scene)), (0, None));
}

#[test]
fn s2_15_a_number_is_authoritative_and_one_that_is_given_up_is_parked_first() {
    let mut scene = Scene::of(json!({"replicas": 2}));
    assert_eq!(applied(&scene), Some(json!(2)));
    scene.settle();
    scene.workload().deployment.as_mut().unwrap().replicas = 7;
    assert!(scene.plan().scalings.is_empty(), "the apply itself sets it back");
    scene.settle();
    scene.set("replicas", Value::Null);
    let plan = scene.plan();
    let [parked] = plan.scalings.as_slice() else { panic!("{:?}", plan.scalings) };
    assert_eq!((parked.kind, parked.name.as_str(), parked.replicas), (Scalable::Deployment, "web", 2));
    assert!(parked.before_children);
    assert_eq!(applied(&scene), None);
    assert!(scene.settle().scalings.is_empty());
    assert_eq!(scene.workload().deployment.as_ref().unwrap().replicas, 2);
}

#[test]
fn s2_15_zero_is_no_failure() {
    let mut scene = Scene::of(json!({"replicas": 0}));
    let status = scene.settle().status;
    assert_eq!(status.phase.unwrap().as_str(), "Pending");
    assert_eq!(condition(&status, "Ready"), Some(("False", "DeploymentNotReady")));
    scene.set("replicas", json!(1));
    scene.with_pods(&[PodHealth::Ready]);
    assert_eq!(scene.settle().status.phase.unwrap().as_str(), "Ready");
}

#[test]
fn s2_15_several_replicas_want_shared_sessions() {
    let memory = json!({"provider": "memory"});
    let redis = json!({"provider": "redis", "address": "r:6379"});
    for (replicas, storage, default, expected) in [
        (json!(2), Value::Null, false, ("True", "SessionStorageMissingForReplicas")),
        (json!(2), memory, true, ("True", "SessionStorageMissingForReplicas")),
        (json!(2), redis, false, ("False", "SessionStorageConfigured")),
        (json!(2), Value::Null, true, ("False", "SessionStorageConfigured")),
        (json!(1), Value::Null, false, ("False", "SessionStorageWarningNotApplicable")),
        (Value::Null, Value::Null, false, ("False", "SessionStorageWarningNotApplicable")),
    ] {
        let mut scene = Scene::of(json!({"replicas": replicas, "sessionStorage": storage}));
        if default {
            let redis = DefaultRedis { address: "d:6379".to_owned(), password: None };
            scene.settings().default_redis = Some(redis);
        }
        let plan = scene.plan();
        assert_eq!(condition(&plan.status, "SessionStorageWarning"), Some(expected), "{replicas} {storage}");
        assert!(matches!(plan.children, Children::Exactly(_)), "a warning stops nothing");
    }
}

#[test]
fn s2_15_the_password_of_the_default_redis_reaches_the_proxy_by_reference() {
    let mut scene = Scene::of(json!({}));
    let password = Some(("redis".to_owned(), "word".to_owned()));
    scene.settings().default_redis = Some(DefaultRedis { address: "d:6379".to_owned(), password });
    scene.refer(json!({"kind": "Secret", "metadata": {"name": "redis"}, "stringData": {"word": "hush"}}));
    let plan = scene.plan();
    let expected = json!({"secretKeyRef": {"name": "redis", "key": "word"}});
    assert_eq!(variable(&plan, "THV_SESSION_REDIS_PASSWORD").unwrap()["valueFrom"], expected);
    assert!(!format!("{:?}", plan.children).contains("hush"));
}

#[test]
fn s2_15_an_autoscaler_and_a_number_are_a_conflict() {
    let mut scene = Scene::of(json!({"replicas": 2}));
    scene.workload().autoscalers = vec!["b".to_owned(), "a".to_owned()];
    let status = scene.status();
    let told = whole_condition(&status, "AutoscalerConflict").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("True", "ReplicasSetInSpec"));
    assert!(told.message.contains("a, b"), "{}", told.message);
    scene.set("replicas", Value::Null);
    assert_eq!(condition(&scene.status(), "AutoscalerConflict"), None);
}
