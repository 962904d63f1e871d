//! Labels and annotations, each at its level and at no other.

use serde_json::{Value, json};
use thv_api::kinds::EmbeddingServerSpec;
use thv_plan::ChildKind;

use crate::support::{Scene, child, condition, differences, whole_condition};

/// The labels of everything that belongs to the server.
fn ours() -> Value {
    json!({
        "app.kubernetes.io/name": "embeddingserver",
        "app.kubernetes.io/instance": "embed",
        "app.kubernetes.io/component": "embedding-server",
        "app.kubernetes.io/managed-by": "toolhive-operator",
    })
}

fn with(mut labels: Value, more: &[(&str, &str)]) -> Value {
    for (key, value) in more {
        labels[*key] = json!(value);
    }
    labels
}

#[test]
fn s1_08_every_level_of_an_embedding_server_has_what_was_added_to_it_and_nothing_else() {
    let mut scene = Scene::<EmbeddingServerSpec>::of("embed", &json!({"modelCache": {}}));
    let before = scene.settle();
    let overrides = json!({
        "statefulSet": {
            "annotations": {"team": "set"}, "labels": {"level": "set"},
            "podTemplateMetadataOverrides": {
                "annotations": {"vault.hashicorp.com/agent-inject": "true", "team": "pods"},
                "labels": {"level": "pods"},
            },
        },
        "service": {"annotations": {"team": "service"}, "labels": {"level": "service"}},
    });
    scene.edit(|spec| spec["resourceOverrides"] = overrides);
    let plan = scene.settle();
    let set = child(&plan, ChildKind::StatefulSet);
    let service = child(&plan, ChildKind::Service);
    assert_eq!(set["metadata"]["annotations"], json!({"team": "set"}));
    assert_eq!(set["metadata"]["labels"], with(ours(), &[("level", "set")]));
    let pods = &set["spec"]["template"]["metadata"];
    assert_eq!(pods["annotations"], json!({"vault.hashicorp.com/agent-inject": "true", "team": "pods"}));
    assert_eq!(pods["labels"], with(ours(), &[("level", "pods")]));
    assert_eq!(service["metadata"]["annotations"], json!({"team": "service"}));
    assert_eq!(service["metadata"]["labels"], with(ours(), &[("level", "service")]));
    assert_eq!(set["spec"]["selector"]["matchLabels"], ours(), "the selector never changes");
    assert_eq!(service["spec"]["selector"], ours());
    assert_eq!(condition(&plan, "OverridesAccepted"), Some(("True", "OverridesAccepted")));

    // Taken back, they are gone.
    scene.edit(|spec| spec["resourceOverrides"] = Value::Null);
    assert!(differences(&before, &scene.settle()).is_empty());
}

#[test]
fn s1_08_what_we_set_ourselves_on_an_embedding_server_cannot_be_displaced() {
    let key = "app.kubernetes.io/instance";
    let scene = Scene::<EmbeddingServerSpec>::of(
        "embed",
        &json!({
            "modelCache": {},
            "resourceOverrides": {
                "statefulSet": {
                    "labels": {key: "other"}, "podTemplateMetadataOverrides": {"labels": {key: "other"}},
                },
                "service": {"labels": {key: "other"}},
                "persistentVolumeClaim": {"labels": {key: "other"}},
            },
            "podTemplateSpec": {"metadata": {"labels": {key: "other"}}},
        }),
    );
    let plan = scene.plan();
    let set = child(&plan, ChildKind::StatefulSet);
    for labels in [
        &set["metadata"]["labels"],
        &set["spec"]["template"]["metadata"]["labels"],
        &set["spec"]["volumeClaimTemplates"][0]["metadata"]["labels"],
        &child(&plan, ChildKind::Service)["metadata"]["labels"],
    ] {
        assert_eq!(*labels, ours());
    }
    let told = &whole_condition(&plan, "OverridesAccepted").unwrap().message;
    for place in [
        "statefulSet.labels",
        "podTemplateMetadataOverrides",
        "service.labels",
        "persistentVolumeClaim",
        "podTemplateSpec.metadata",
    ] {
        assert!(told.contains(place), "{place}: {told}");
    }
}
