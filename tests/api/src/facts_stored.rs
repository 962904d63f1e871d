//! What we rely on Kubernetes for, one fact a test: how objects are stored, and when they are stored anew.

use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use thv_testbed::{in_namespace, wait};
use tokio::time::timeout;

use crate::fixture::{Things, apply, refusal, resource_version, store_as, stored_versions};

/// Merges metadata into the Thing `t`.
async fn merge(things: &Things, metadata: Value) -> kube::Result<DynamicObject> {
    let patch = Patch::Merge(json!({"metadata": metadata}));
    let params = PatchParams { field_manager: Some("migrator".to_owned()), ..PatchParams::default() };
    things.api.patch("t", &params, &patch).await
}

#[tokio::test]
async fn f18_an_empty_merge_patch_stores_an_object_anew_only_if_it_is_stored_in_another_version() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        let spec = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"value": 1}});
        let before = apply(&things.api, "t", "user", &things.thing("t", spec)).await?;
        let empty = json!({"resourceVersion": resource_version(&before)});
        let elided = merge(&things, empty.clone()).await?;
        assert_eq!(resource_version(&elided), resource_version(&before), "it is stored that way already");

        let definitions: Api<CustomResourceDefinition> = Api::all(space.client());
        let name = format!("things.{}", things.group);
        let old = definitions.get(&name).await?.metadata.generation.context("no generation")?;
        let switched = store_as(&definitions, &name, "v1alpha1").await?;
        assert_eq!(stored_versions(&switched), ["v1beta1", "v1alpha1"]);
        assert_eq!(switched.metadata.generation, Some(old + 1));

        // The part of the API server that stores objects learns of the change on its own, a moment later. Until then, the
        // patch is elided.
        let rewriting = async {
            loop {
                let after = merge(&things, empty.clone()).await?;
                if resource_version(&after) != resource_version(&before) {
                    return anyhow::Ok(after);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let after = timeout(wait::DEADLINE, rewriting).await.context("it is never stored anew")??;
        let strip = |object: &DynamicObject| -> Result<Value> {
            let mut value = serde_json::to_value(object)?;
            value["metadata"]["resourceVersion"] = Value::Null;
            Ok(value)
        };
        assert_eq!(strip(&after)?, strip(&before)?, "nothing else changes, not even who owns what");
        let again = merge(&things, json!({"resourceVersion": resource_version(&after)})).await?;
        assert_eq!(resource_version(&again), resource_version(&after));
        // An old resourceVersion keeps a change from being made. A patch that changes nothing may pass with one: the API
        // server looks at its cache first, and writes nothing if what is stored is what it would write.
        let old = json!({"resourceVersion": resource_version(&before), "labels": {"a": "c"}});
        assert_eq!(refusal(merge(&things, old).await).0, 409);
        match merge(&things, empty).await {
            Ok(elided) => assert_eq!(resource_version(&elided), resource_version(&after)),
            refused => assert_eq!(refusal(refused).0, 409),
        }

        // A version that the CRD lists as stored cannot be dropped.
        let versions = definitions.get(&name).await?.spec.versions;
        let left: Vec<_> = versions.into_iter().filter(|version| version.storage).collect();
        let removal = Patch::Merge(json!({"spec": {"versions": left}}));
        let refused = definitions.patch(&name, &PatchParams::default(), &removal).await;
        let (code, message) = refusal(refused);
        assert!(code == 422 && message.contains("must remain in spec.versions"), "{code} {message}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f19_a_uid_in_a_merge_patch_is_no_precondition_and_a_resource_version_tells_objects_of_one_name_apart()
 {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        let body = things.thing("t", json!({"spec": {}}));
        let old = apply(&things.api, "t", "user", &body).await?;
        things.api.delete("t", &DeleteParams::default()).await?;
        let version = json!({"resourceVersion": resource_version(&old)});
        assert_eq!(refusal(merge(&things, version.clone()).await).0, 404, "it is not made anew");

        let new = apply(&things.api, "t", "user", &body).await?;
        assert_ne!(new.metadata.uid, old.metadata.uid);
        assert_eq!(refusal(merge(&things, version).await).0, 409);
        let (code, message) = refusal(merge(&things, json!({"uid": old.metadata.uid})).await);
        assert!(code == 422 && message.contains("uid"), "{code} {message}");
        let now = things.api.get("t").await?;
        assert_eq!(resource_version(&now), resource_version(&new));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f20_a_404_names_the_object_unless_it_is_the_kind_that_is_not_served() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        let named = |result: kube::Result<DynamicObject>| match result {
            Err(kube::Error::Api(status)) if status.code == 404 => status.details.clone().map(|it| it.name),
            other => panic!("expected a 404, got {other:?}"),
        };
        assert_eq!(named(merge(&things, json!({})).await).as_deref(), Some("t"));
        assert_eq!(named(things.api.get("t").await).as_deref(), Some("t"));
        let gvk = GroupVersionKind::gvk(&things.group, "v9", "Thing");
        let api = Api::namespaced_with(space.client(), space.namespace(), &ApiResource::from_gvk(&gvk));
        let things = Things { api, ..things };
        assert!(named(merge(&things, json!({})).await).is_none_or(|name| name.is_empty()));
        assert!(named(things.api.get("t").await).is_none_or(|name| name.is_empty()));
        Ok(())
    })
    .await;
}
