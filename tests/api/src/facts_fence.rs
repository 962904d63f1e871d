//! What we rely on Kubernetes for, one fact a test: preconditions, identity and deletion, which the fence rests on.

use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams};
use serde_json::json;
use thv_testbed::{Space, in_namespace, wait};

use crate::fixture::{apply, config_map, kubectl, refusal, resource_version, stateful_set};

#[tokio::test]
async fn f06_an_apply_with_a_stale_resource_version_is_refused() {
    in_namespace(async |space| {
        let api = space.api::<ConfigMap>();
        let first = apply(&api, "c", "proxy", &config_map("c", "1")).await?;
        let second = apply(&api, "c", "proxy", &config_map("c", "2")).await?;
        let mut stale = config_map("c", "3");
        stale["metadata"]["resourceVersion"] = json!(resource_version(&first));
        assert_eq!(refusal(apply(&api, "c", "proxy", &stale).await).0, 409);
        assert_eq!(resource_version(&api.get("c").await?), resource_version(&second));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f09_only_a_uid_keeps_a_stale_apply_from_resurrecting_an_object() {
    in_namespace(async |space| {
        let api = space.api::<ConfigMap>();
        let deleted = apply(&api, "c", "proxy", &config_map("c", "1")).await?;
        api.delete("c", &DeleteParams::default()).await?;

        let mut fenced = config_map("c", "1");
        fenced["metadata"]["uid"] = json!(deleted.metadata.uid);
        let (code, message) = refusal(apply(&api, "c", "proxy", &fenced).await);
        assert!(code == 409 && message.to_lowercase().contains("uid mismatch"), "{code} {message}");
        fenced["metadata"]["resourceVersion"] = json!(resource_version(&deleted));
        assert_eq!(refusal(apply(&api, "c", "proxy", &fenced).await).0, 409);
        assert!(api.get_opt("c").await?.is_none());

        let mut unfenced = config_map("c", "1");
        unfenced["metadata"]["resourceVersion"] = json!(resource_version(&deleted));
        let resurrected = apply(&api, "c", "proxy", &unfenced).await?;
        assert_ne!(resurrected.metadata.uid, deleted.metadata.uid);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f10_of_many_creations_with_resource_version_one_exactly_one_succeeds() {
    in_namespace(async |space| {
        let api = space.api::<ConfigMap>();
        for round in 0..5 {
            let name = format!("fenced-{round}");
            let attempts = (0..16).map(async |writer| {
                let mut body = config_map(&name, &writer.to_string());
                body["metadata"]["resourceVersion"] = json!("1");
                apply(&api, &name, "proxy", &body).await
            });
            let results = join_all(attempts).await;
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
            for result in results.into_iter().filter(Result::is_err) {
                assert_eq!(refusal(result).0, 409);
            }
        }

        let unfenced = join_all((0..16).map(async |writer| {
            apply(&api, "unfenced", "proxy", &config_map("unfenced", &writer.to_string())).await
        }));
        assert!(unfenced.await.iter().all(Result::is_ok), "with no precondition, the last writer wins");
        let mut zero = config_map("unfenced", "zero");
        zero["metadata"]["resourceVersion"] = json!("0");
        let overwritten = apply(&api, "unfenced", "proxy", &zero).await?;
        assert_eq!(overwritten.data.unwrap()["key"], "zero", "0 is no precondition at all");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f13_a_role_limited_by_names_allows_creation_by_apply_and_watching_by_name() {
    in_namespace(async |space| {
        let api = limited_client(&space).await?;
        apply(&api, "mine", "proxy", &config_map("mine", "1")).await?;
        let by_name = ListParams::default().fields("metadata.name=mine");
        let listed = api.list(&by_name).await?;
        assert_eq!(listed.items.len(), 1);
        let watching = WatchParams::default().fields("metadata.name=mine");
        let mut events =
            api.watch(&watching, &listed.metadata.resource_version.unwrap_or_default()).await?.boxed();
        apply(&api, "mine", "proxy", &config_map("mine", "2")).await?;
        assert!(matches!(events.try_next().await?, Some(WatchEvent::Modified(_))));

        assert_eq!(refusal(apply(&api, "other", "proxy", &config_map("other", "1")).await).0, 403);
        assert_eq!(refusal(api.list(&ListParams::default()).await).0, 403);
        let post: ConfigMap = serde_json::from_value(config_map("mine", "1"))?;
        assert_eq!(refusal(api.create(&PostParams::default(), &post).await).0, 403);
        Ok(())
    })
    .await;
}

/// ConfigMaps as seen by an account that may do everything with the one named `mine`.
async fn limited_client(space: &Space) -> anyhow::Result<Api<ConfigMap>> {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "proxy"}});
    apply(&space.api::<ServiceAccount>(), "proxy", "test", &account).await?;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "proxy"},
        "rules": [{
            "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"],
            "verbs": ["create", "delete", "get", "list", "patch", "watch"],
        }],
    });
    apply(&space.api::<Role>(), "proxy", "test", &role).await?;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "proxy"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "proxy"},
        "subjects": [{"kind": "ServiceAccount", "name": "proxy", "namespace": space.namespace()}],
    });
    apply(&space.api::<RoleBinding>(), "proxy", "test", &binding).await?;
    let client = space.client_of("proxy").await?;
    Ok(Api::namespaced(client, space.namespace()))
}

#[tokio::test]
async fn f14_a_child_that_was_replaced_by_force_starts_again_at_generation_one() {
    in_namespace(async |space| {
        let api = space.api::<StatefulSet>();
        apply(&api, "s", "operator", &stateful_set("s", "localhost/none:1")).await?;
        let before = apply(&api, "s", "operator", &stateful_set("s", "localhost/none:2")).await?;
        assert_eq!(before.metadata.generation, Some(2));

        kubectl(&space, &["replace", "--force"], &stateful_set("s", "localhost/none:2")).await?;
        let after = api.get("s").await?;
        assert_ne!(after.metadata.uid, before.metadata.uid);
        assert_eq!(after.metadata.generation, Some(1));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f16_an_object_whose_owner_is_gone_is_collected() {
    in_namespace(async |space| {
        let owners = space.api::<ConfigMap>();
        let owner = apply(&owners, "owner", "operator", &config_map("owner", "1")).await?;
        owners.delete("owner", &DeleteParams::default()).await?;
        let mut body = stateful_set("s", "localhost/none:1");
        body["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}]);
        let api = space.api::<StatefulSet>();
        apply(&api, "s", "proxy", &body).await?;
        wait::gone(&api, "s").await
    })
    .await;
}
