//! What we rely on Kubernetes for, one fact a test: ownership of fields by server-side apply.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use thv_testbed::in_namespace;

use crate::fixture::{apply, deployment, json_of, managers, replicas, resource_version, stateful_set};

#[tokio::test]
async fn f01_replicas_that_their_applier_omits_fall_to_one() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        let applied = apply(&api, "d", "operator", &deployment("d", json!({"replicas": 2}))).await?;
        assert_eq!(replicas(&applied), 2);
        let omitted = apply(&api, "d", "operator", &deployment("d", json!({}))).await?;
        assert_eq!(replicas(&omitted), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f02_replicas_that_a_second_manager_holds_stay_and_scaling_takes_them_over() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        apply(&api, "d", "operator", &deployment("d", json!({"replicas": 2}))).await?;
        let parked = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 2},
        });
        apply(&api, "d", "handoff", &parked).await?;
        let handed_over = apply(&api, "d", "operator", &deployment("d", json!({}))).await?;
        assert_eq!(replicas(&handed_over), 2);
        assert!(managers(&handed_over).contains(&"handoff".to_owned()));

        let scale = Patch::Merge(json!({"spec": {"replicas": 5}}));
        api.patch_scale(
            "d",
            &PatchParams { field_manager: Some("hpa".to_owned()), ..PatchParams::default() },
            &scale,
        )
        .await?;
        let scaled = api.get("d").await?;
        assert_eq!(replicas(&scaled), 5);
        assert!(!managers(&scaled).contains(&"handoff".to_owned()), "{:?}", managers(&scaled));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f03_two_managers_own_their_finalizers_separately() {
    in_namespace(async |space| {
        let api = space.api::<ConfigMap>();
        let with = |finalizers: &[&str]| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": finalizers}})
        };
        apply(&api, "c", "a", &with(&["example.com/a"])).await?;
        let both = apply(&api, "c", "b", &with(&["example.com/b"])).await?;
        assert_eq!(both.metadata.finalizers.unwrap(), ["example.com/a", "example.com/b"]);
        let one = apply(&api, "c", "a", &with(&[])).await?;
        assert_eq!(one.metadata.finalizers.unwrap(), ["example.com/b"]);
        let none = apply(&api, "c", "b", &with(&[])).await?;
        assert_eq!(none.metadata.finalizers, None);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f05_an_apply_that_changes_nothing_moves_nothing() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        let body = deployment("d", json!({"replicas": 0, "paused": true}));
        apply(&api, "d", "operator", &body).await?;
        // The controllers write the status a few times; a paused Deployment then rests.
        let settled = thv_testbed::wait::until(&api, "d", "its status is current", |deployment| {
            let observed = deployment.status.as_ref().and_then(|status| status.observed_generation);
            observed == deployment.metadata.generation
                && json_of(deployment)["status"]["conditions"].is_array()
        })
        .await?;
        let again = apply(&api, "d", "operator", &body).await?;
        assert_eq!(resource_version(&again), resource_version(&settled));
        assert_eq!(again.metadata.generation, settled.metadata.generation);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f07_a_volume_changes_its_source_under_one_name_with_nothing_left_over() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        let sources = [
            json!({"configMap": {"name": "a"}}),
            json!({"secret": {"secretName": "b"}}),
            json!({"emptyDir": {}}),
        ];
        for source in sources {
            let mut volume = source.clone();
            volume["name"] = json!("v");
            let body = deployment("d", json!({"template": {"spec": {"volumes": [volume]}}}));
            let applied = json_of(&apply(&api, "d", "operator", &body).await?);
            let volume = applied["spec"]["template"]["spec"]["volumes"][0].as_object().unwrap();
            let mut keys: Vec<_> = volume.keys().map(String::as_str).collect();
            keys.retain(|key| *key != "name");
            let expected: Vec<_> = source.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, expected);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f17_an_annotation_moves_the_generation_of_a_deployment_and_a_label_does_not() {
    in_namespace(async |space| {
        let api = space.api::<Deployment>();
        let before = apply(&api, "d", "operator", &deployment("d", json!({"paused": true}))).await?;
        let label = Patch::Merge(json!({"metadata": {"labels": {"theirs": "1"}}}));
        let labelled = api.patch("d", &PatchParams::default(), &label).await?;
        assert_eq!(labelled.metadata.generation, before.metadata.generation);
        let annotation = Patch::Merge(json!({"metadata": {"annotations": {"example.com/theirs": "1"}}}));
        let annotated = api.patch("d", &PatchParams::default(), &annotation).await?;
        assert_eq!(
            annotated.metadata.generation,
            before.metadata.generation.map(|generation| generation + 1)
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f11_an_annotation_does_not_move_the_generation() {
    in_namespace(async |space| {
        let api = space.api::<StatefulSet>();
        let mut body = stateful_set("s", "localhost/none:1");
        let before = apply(&api, "s", "operator", &body).await?;
        body["metadata"]["annotations"] = json!({"example.com/revision": "2"});
        let after = apply(&api, "s", "operator", &body).await?;
        assert_eq!(after.metadata.annotations.unwrap()["example.com/revision"], "2");
        assert_eq!(after.metadata.generation, before.metadata.generation);
        Ok(())
    })
    .await;
}
