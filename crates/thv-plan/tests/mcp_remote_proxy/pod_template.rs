//! What users merge into the pods of a proxy.

use serde_json::{Value, json};
use thv_plan::{Children, Decision};

use crate::support::{Scene, condition, template, whole_condition};

fn with(patch: Value) -> Scene {
    Scene::of(json!({"podTemplateSpec": patch}))
}

#[test]
fn s4_11_volumes_of_the_user_are_merged_and_any_change_of_them_rolls_the_pods() {
    let volume = |source: Value| {
        let mut volume = json!({"name": "extra"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        let mounts = json!([{"name": "extra", "mountPath": "/extra"}]);
        json!({"spec": {"volumes": [volume], "containers": [{"name": "toolhive", "volumeMounts": mounts}]}})
    };
    let mut scene = with(volume(json!({"emptyDir": {}})));
    let before = scene.settle();
    let names: Vec<&str> = template(&before)["spec"]["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|volume| volume["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"extra") && names.contains(&"runconfig"), "{names:?}");
    for source in [
        json!({"emptyDir": {"medium": "Memory"}}),
        json!({"emptyDir": {"sizeLimit": "1Gi"}}),
        json!({"secret": {"secretName": "s"}}),
        json!({"secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}}),
        json!({"projected": {"sources": [{"configMap": {"name": "c"}}]}}),
    ] {
        let mut changed = scene.clone();
        changed.set("podTemplateSpec", volume(source.clone()));
        let plan = changed.plan();
        assert!(matches!(plan.revision, Some(Decision::Mint(_))), "{source}");
        assert_ne!(template(&plan)["spec"]["volumes"], template(&before)["spec"]["volumes"], "{source}");
    }
    // The same again writes nothing, and what is removed leaves nothing behind.
    scene.set("podTemplateSpec", volume(json!({"emptyDir": {}})));
    assert!(matches!(scene.plan().revision, Some(Decision::Keep(_))));
    scene.set("podTemplateSpec", Value::Null);
    let plan = scene.settle();
    assert!(!template(&plan).to_string().contains("extra"));
    assert_eq!(condition(&plan.status, "PodTemplateValid"), None);
}

#[test]
fn what_is_no_pod_template_is_told_and_what_runs_stays() {
    for patch in [
        json!({"spec": {"containers": [{"name": 7}]}}),
        json!({"spec": {"containers": [{"name": "toolhive", "$patch": "delete"}]}}),
        json!({"spec": {"containers": [{"name": "toolhive", "$patch": "sideways"}]}}),
    ] {
        let mut scene = Scene::of(json!({}));
        scene.settle();
        scene.set("podTemplateSpec", patch.clone());
        let plan = scene.plan();
        assert_eq!(plan.children, Children::Keep, "{patch}");
        let told = whole_condition(&plan.status, "PodTemplateValid").unwrap();
        assert_eq!(
            (told.status.as_str(), told.reason.as_str()),
            ("False", "InvalidPodTemplateSpec"),
            "{patch}"
        );
        assert!(told.message.starts_with("spec.podTemplateSpec"), "{}", told.message);
        assert_eq!(condition(&plan.status, "ConfigurationValid"), Some(("True", "ConfigurationValid")));
        assert_eq!(plan.status.phase.unwrap().as_str(), "Failed");
    }
}
