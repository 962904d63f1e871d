//! How many pods there are, and where they share their sessions.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::VirtualMCPServerPhase;
use thv_testbed::{Exchange, Mark, Pattern, in_namespace};

use super::{NAME, Stage, condition, pair, reconfigured};
use crate::fixture::{json_of, replicas};
use crate::operator::difference::places;
use crate::operator::rollout::{secret, variable};
use crate::operator::scene::Scene;

const PASSWORD: &str = "correct-horse-battery-staple";

/// The number of replicas that a request is about.
fn sent(apply: &Exchange) -> Option<i64> {
    apply.body.as_ref()?.pointer("/spec/replicas")?.as_i64()
}

#[tokio::test]
async fn s2_15_replicas_of_a_virtual_server_are_the_users_or_nobodys() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let all = |mark: Mark| stage.applies(mark).iter().map(sent).collect::<Vec<_>>();
        assert_eq!(all(Mark::default()), [None]);
        let scale = async |count: i32| {
            let scale = Patch::Merge(json!({"spec": {"replicas": count}}));
            space.api::<Deployment>().patch_scale(NAME, &PatchParams::default(), &scale).await
        };
        scale(3).await?;
        stage.edit(json!({"config": {"metadata": {"team": "a"}}})).await?;
        assert_eq!(replicas(&stage.deployment().await?), 3, "a rollout leaves the number alone");

        // A number is authoritative, and one that is given up stays what it was.
        let (before, mark) = (stage.children().await?, stage.operator.recorder.mark());
        let server = stage.edit(json!({"replicas": 2})).await?;
        assert_eq!((all(mark), replicas(&stage.deployment().await?)), (vec![Some(2)], 2));
        assert_eq!(before.changes(&stage.children().await?), places(["Deployment/s spec.replicas"]));
        let warning = |server| condition(server, "SessionStorageWarning");
        assert_eq!(warning(&server), pair("True", "SessionStorageMissingForReplicas"));
        let (before, mark) = (stage.children().await?, stage.operator.recorder.mark());
        let server = stage.edit(json!({"replicas": null})).await?;
        stage.look_again().await?;
        assert_eq!(before.changes(&stage.children().await?), places([]));
        assert_eq!(all(mark).last(), Some(&None));
        assert_eq!(warning(&server), pair("False", "SessionStorageWarningNotApplicable"));
        scale(4).await?;
        stage.look_again().await?;
        assert_eq!(replicas(&stage.deployment().await?), 4);

        let server = stage.edit(json!({"replicas": 0})).await?;
        assert_eq!(replicas(&stage.deployment().await?), 0);
        let status = server.status.unwrap();
        assert_eq!(status.phase, Some(VirtualMCPServerPhase::Pending));
        assert!(status.message.as_deref().is_some_and(|text| text.contains("scaled to zero")), "{status:?}");
        assert_eq!(stage.operator.rollouts(NAME).await?, 2, "a number rolls nothing");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_18_redis_is_in_the_configuration_of_a_virtual_server_and_its_password_in_the_pods_alone() {
    in_namespace(async |space| {
        secret(&space, "redis", json!({"word": PASSWORD})).await?;
        let stage = Stage::with(&space, json!({"replicas": 2})).await?;
        let before = stage.children().await?;
        let storage = json!({
            "provider": "redis", "address": "redis.own:6379", "db": 3, "keyPrefix": "desk:",
            "passwordRef": {"name": "redis", "key": "word"},
        });
        let server = stage.edit(json!({ "sessionStorage": storage })).await?;
        assert_eq!(condition(&server, "SessionStorageWarning"), pair("False", "SessionStorageConfigured"));
        let password = "Deployment/s spec.template.spec.containers[vmcp].env[THV_SESSION_REDIS_PASSWORD]";
        assert_eq!(before.changes(&stage.children().await?), reconfigured("sessionStorage", [password]));
        let config: Value = serde_saphyr::from_str(&stage.config().await?)?;
        let expected =
            json!({"provider": "redis", "address": "redis.own:6379", "db": 3, "keyPrefix": "desk:"});
        assert_eq!(config["sessionStorage"], expected);
        let variable = variable(&stage.deployment().await?, "THV_SESSION_REDIS_PASSWORD");
        assert_eq!(variable["valueFrom"], json!({"secretKeyRef": {"name": "redis", "key": "word"}}));

        let maps = space.api::<ConfigMap>().list(&ListParams::default()).await?;
        let mut texts: Vec<String> = maps.items.iter().map(|map| json_of(map).to_string()).collect();
        let log = stage.operator.recorder.log();
        texts.extend(log.iter().filter_map(|request| request.body.as_ref()).map(ToString::to_string));
        texts.push(stage.operator.subject.output());
        assert!(texts.iter().all(|text| !text.contains(PASSWORD)), "the password is somewhere");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_18_replicas_of_the_backend_and_redis_are_in_the_configuration_of_a_proxy() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        secret(&space, "redis", json!({"word": PASSWORD})).await?;
        let storage = json!({
            "provider": "redis", "address": "redis.own:6379", "db": 3, "keyPrefix": "s:",
            "passwordRef": {"name": "redis", "key": "word"},
        });
        scene.edit(json!({"backendReplicas": 3, "sessionStorage": storage})).await?;
        let map = space.api::<ConfigMap>().get("s-runconfig").await?;
        let text = map.data.unwrap().remove("runconfig.json").unwrap();
        let config: Value = serde_json::from_str(&text)?;
        let scaling = &config["scaling_config"];
        assert_eq!(scaling["backend_replicas"], 3);
        let redis = json!({"address": "redis.own:6379", "db": 3, "key_prefix": "s:"});
        assert_eq!(scaling["session_redis"], redis);
        assert!(!text.contains(PASSWORD));
        let variable = variable(&scene.deployment().await?, "THV_SESSION_REDIS_PASSWORD");
        assert_eq!(variable["valueFrom"], json!({"secretKeyRef": {"name": "redis", "key": "word"}}));

        scene.edit(json!({"backendReplicas": null, "sessionStorage": null})).await?;
        let map = space.api::<ConfigMap>().get("s-runconfig").await?;
        let config: Value = serde_json::from_str(&map.data.unwrap()["runconfig.json"])?;
        assert_eq!(config.pointer("/scaling_config/backend_replicas"), None);
        assert_eq!(config.pointer("/scaling_config/session_redis"), None);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_secret_that_sessions_are_bound_with_is_made_once_and_never_written_again() {
    in_namespace(async |space| {
        let mut stage = Stage::with(&space, json!({})).await?;
        let secrets = space.api::<Secret>();
        let made = secrets.get("s-hmac-secret").await?;
        let value = made.data.as_ref().unwrap()["hmac-secret"].clone();
        // Base64 of 32 bytes.
        assert_eq!((value.0.len(), value.0.last()), (44, Some(&b'=')));
        let text = String::from_utf8(value.0)?;
        assert!(!stage.operator.subject.output().contains(&text));

        // Somebody else may label it, and even turn it.
        let theirs = json!({
            "metadata": {"labels": {"theirs": "1"}},
            "stringData": {"hmac-secret": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="},
        });
        let turned = secrets.patch("s-hmac-secret", &PatchParams::default(), &Patch::Merge(&theirs)).await?;
        let mark = stage.operator.recorder.mark();
        stage.edit(json!({"config": {"metadata": {"team": "a"}}})).await?;
        stage.operator.subject.restart().await?;
        stage.edit(json!({"config": {"metadata": {"team": "b"}}})).await?;
        stage.look_again().await?;
        let named = Pattern::write().of("secrets").named("s-hmac-secret");
        stage.operator.recorder.since(mark).only(&named).assert_empty("write of the Secret");
        assert_eq!(secrets.get(&made.name_any()).await?, turned);
        Ok(())
    })
    .await;
}
