//! What is particular to an `EmbeddingServer`.

use std::sync::Arc;

use serde_json::{Value, json};
use thv_api::conditions::Observation;
use thv_api::kinds::{EmbeddingServerPhase, EmbeddingServerSpec};
use thv_plan::{ChildKind, Children, Disruption, Failure, Planned as _, PodHealth};

use crate::support::{
    Scene, UID, child, children, condition, container, controller, differences, failing, whole_condition,
};

fn scene(spec: Value) -> Scene<EmbeddingServerSpec> {
    Scene::of("embed", &spec)
}

fn told(scene: &Scene<EmbeddingServerSpec>) -> (EmbeddingServerPhase, String) {
    let status = scene.plan().status;
    (status.phase.unwrap(), status.message.unwrap())
}

#[test]
fn the_model_and_its_token_reach_the_server() {
    let plan =
        scene(json!({"model": "m", "hfTokenSecretRef": {"name": "hub", "key": "t"}, "args": ["--x"]})).plan();
    let server = container(&plan, "embedding");
    assert_eq!(server["args"], json!(["--model-id", "m", "--port", "8080", "--x"]));
    let expected = json!([
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "t"}}},
        {"name": "MODEL_ID", "value": "m"},
    ]);
    assert_eq!(server["env"], expected);
    assert_eq!(plan.status.url.as_deref(), Some("http://embed.fleet.svc.cluster.local:8080"));
}

#[test]
fn a_variable_that_we_set_ourselves_cannot_be_displaced_and_the_user_is_told() {
    let plan = scene(json!({
        "modelCache": {}, "env": [{"name": "HF_HOME", "value": "/x"}, {"name": "A", "value": "a"}],
    }))
    .plan();
    let server = container(&plan, "embedding");
    assert!(server["env"].as_array().unwrap().contains(&json!({"name": "HF_HOME", "value": "/data"})));
    assert_eq!(condition(&plan, "OverridesAccepted"), Some(("False", "ReservedNamesIgnored")));
    assert!(whole_condition(&plan, "OverridesAccepted").unwrap().message.contains("spec.env[HF_HOME]"));
}

#[test]
fn a_cache_that_is_not_enabled_is_none() {
    let plan = scene(json!({"modelCache": {"enabled": false}})).plan();
    assert_eq!(child(&plan, ChildKind::StatefulSet)["spec"].get("volumeClaimTemplates"), None);
    assert_eq!(container(&plan, "embedding").get("volumeMounts"), None);
}

#[test]
fn a_claim_that_cannot_be_changed_stays_is_told_and_everything_else_is_applied() {
    let mut scene = scene(json!({"modelCache": {"size": "5Gi"}}));
    let before = scene.settle();
    assert_eq!(condition(&before, "FullyApplied"), Some(("True", "AllFieldsApplied")));
    scene.edit(|spec| {
        spec["modelCache"] = json!({"size": "50Gi", "storageClassName": "fast"});
        spec["image"] = json!("localhost/embeddings:2");
    });
    let plan = scene.settle();
    let told = whole_condition(&plan, "FullyApplied").unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("False", "ImmutableFieldChanged"));
    for part in ["spec.modelCache.size stays 5Gi", "storageClassName stays", "model-cache-embed-0"] {
        assert!(told.message.contains(part), "{part}: {}", told.message);
    }
    let claims = |plan| &child(plan, ChildKind::StatefulSet)["spec"]["volumeClaimTemplates"];
    assert_eq!(claims(&plan), claims(&before));
    assert_eq!(container(&plan, "embedding")["image"], "localhost/embeddings:2");

    scene.edit(|spec| {
        spec["modelCache"] = json!({"size": "5Gi"});
        spec.as_object_mut().unwrap().remove("image");
    });
    let left = differences(&before, &scene.settle());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_cache_that_comes_too_late_is_told_and_not_mounted() {
    let mut scene = scene(json!({}));
    scene.settle();
    scene.edit(|spec| spec["modelCache"] = json!({}));
    let plan = scene.settle();
    assert_eq!(container(&plan, "embedding").get("volumeMounts"), None, "there is nothing to mount");
    assert_eq!(condition(&plan, "FullyApplied"), Some(("False", "ImmutableFieldChanged")));
}

#[test]
fn labels_that_the_go_operator_has_put_into_the_selector_stay_on_the_pods() {
    let mut scene = scene(json!({
        "resourceOverrides": {"statefulSet": {"podTemplateMetadataOverrides": {"labels": {"tier": "a"}}}},
    }));
    scene.settle();
    let fixed = scene.snapshot.live.stateful_set.as_mut().unwrap().fixed.as_mut().unwrap();
    fixed.selector["matchLabels"]["tier"] = json!("a");
    scene.edit(|spec| {
        spec["resourceOverrides"]["statefulSet"]["podTemplateMetadataOverrides"]["labels"]["tier"] =
            json!("b");
    });
    let plan = scene.settle();
    let spec = &child(&plan, ChildKind::StatefulSet)["spec"];
    assert_eq!(spec["selector"]["matchLabels"]["tier"], "a");
    assert_eq!(spec["template"]["metadata"]["labels"]["tier"], "a");
    assert!(whole_condition(&plan, "FullyApplied").unwrap().message.contains("the selector"));
    assert_eq!(condition(&plan, "OverridesAccepted"), Some(("False", "ReservedNamesIgnored")));
}

#[test]
fn the_phase_is_what_the_pods_say() {
    let mut scene = scene(json!({"replicas": 2}));
    assert_eq!(told(&scene).0, EmbeddingServerPhase::Pending);
    scene.settle();
    scene.with_pods("new", &[PodHealth::Pending]);
    let (phase, message) = told(&scene);
    assert_eq!(phase, EmbeddingServerPhase::Downloading);
    assert!(message.contains("downloads the model"), "{message}");
    scene.with_pods("new", &[PodHealth::Ready, PodHealth::Pending]);
    let plan = scene.plan();
    assert_eq!(plan.status.phase, Some(EmbeddingServerPhase::Ready));
    assert_eq!(plan.status.message.as_deref(), Some("the server runs; 1 of 2 pods are ready"));
    assert_eq!(plan.status.ready_replicas, Some(1));
    assert_eq!(condition(&plan, "Ready"), Some(("True", "Ready")));
    assert_eq!(condition(&plan, "ModelReady"), Some(("True", "ModelReady")));
    scene.with_pods("new", &[failing("ImagePullBackOff", true)]);
    let plan = scene.plan();
    assert_eq!(plan.status.phase, Some(EmbeddingServerPhase::Failed));
    assert!(plan.status.message.as_deref().unwrap().contains("ImagePullBackOff"));
    assert_eq!(condition(&plan, "ModelReady"), Some(("False", "ModelFailed")));
    scene.with_pods("new", &[PodHealth::Unschedulable]);
    let (phase, message) = told(&scene);
    assert_eq!(phase, EmbeddingServerPhase::Pending);
    assert!(message.contains("no node takes its pod"), "{message}");
}

#[test]
fn an_invalid_template_stops_the_change_and_what_runs_stays_as_it_was() {
    let mut scene = scene(json!({}));
    scene.settle();
    scene.with_pods("new", &[PodHealth::Ready]);
    scene.settle();
    for (template, told) in [
        (json!({"spec": {"containers": 7}}), "spec.podTemplateSpec.spec.containers"),
        (
            json!({"spec": {"containers": [{"name": "embedding", "$patch": "delete"}]}}),
            "removes the container",
        ),
    ] {
        let mut scene = scene.clone();
        scene.edit(|spec| spec["podTemplateSpec"] = template);
        let plan = scene.plan();
        assert_eq!(plan.children, Children::Keep);
        assert_eq!(plan.status.phase, Some(EmbeddingServerPhase::Failed));
        assert_eq!(condition(&plan, "PodTemplateValid"), Some(("False", "InvalidPodTemplateSpec")));
        assert_eq!(condition(&plan, "FullyApplied"), Some(("True", "AllFieldsApplied")), "that is still so");
        assert!(plan.status.message.as_deref().unwrap().contains(told), "{:?}", plan.status.message);
        assert!(plan.status.url.is_some());
    }
}

#[test]
fn a_stateful_set_of_something_else_is_not_taken() {
    let mut scene = scene(json!({}));
    scene.settle();
    scene.snapshot.live.stateful_set.as_mut().unwrap().controller = Some(controller("MCPServer", "other"));
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    assert_eq!(condition(&plan, "SpecValid"), Some(("False", "NameTaken")));
    scene.snapshot.live.stateful_set.as_mut().unwrap().controller = Some(controller("EmbeddingServer", UID));
    assert_eq!(condition(&scene.plan(), "SpecValid"), Some(("True", "ValidSpec")));
}

#[test]
fn an_edit_is_tried_without_effect_first_where_pods_run() {
    let mut scene = scene(json!({}));
    assert_eq!(scene.plan().disruption, Disruption::None);
    assert_eq!(scene.settle().disruption, Disruption::None);
    scene.edit(|spec| spec["port"] = json!(9000));
    assert_eq!(scene.plan().disruption, Disruption::Edited);
    assert_eq!(children(&scene.plan()).len(), 2);
    let failure = Failure::Refused("no".to_owned());
    let observation = Observation::new(2, scene.snapshot.now, &[]);
    let refused = EmbeddingServerSpec::failing_status(None, &observation, &failure);
    Arc::make_mut(&mut scene.snapshot.owner).status = Some(refused);
    assert_eq!(scene.plan().disruption, Disruption::Edited, "and again when it was refused");
}
