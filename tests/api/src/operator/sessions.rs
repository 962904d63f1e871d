//! Where sessions are kept: what is said about it, and how the password gets there.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, EnvVar, Secret};
use kube::api::ListParams;
use serde_json::{Value, json};
use thv_api::conditions::mcp_server::SessionStorageWarning;
use thv_api::names::env;
use thv_testbed::{Mark, Space, in_namespace};

use super::difference::places;
use super::scene::{NAME, NEW_REVISION, Scene, assert_says, condition, conditions};
use crate::fixture::{apply, json_of};

const PASSWORD: &str = "correct-horse-battery-staple";
/// The same as the API server shows it in a Secret.
const ENCODED: &str = "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ==";

#[tokio::test]
async fn s2_06_replicas_without_shared_sessions_warn_and_the_warning_clears() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let server = scene.operator.servers().get(NAME).await?;
        assert_says(&server, SessionStorageWarning::NotApplicable);
        let (before, said) = (scene.children().await?, conditions(&server));
        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"replicas": 2})).await?;
        assert_says(&server, SessionStorageWarning::Missing);
        let mut others = conditions(&server);
        others.insert("SessionStorageWarning".to_owned(), said["SessionStorageWarning"].clone());
        assert_eq!(others, said, "only the warning turns");
        assert_eq!(scene.sent(mark), [Some(2)]);
        scene.assert_changed(&before, ["Deployment/s spec.replicas"]).await?;

        let since = condition::<SessionStorageWarning>(&server).last_transition_time;
        let server = scene.edit(json!({"sessionStorage": {"provider": "memory"}})).await?;
        assert_says(&server, SessionStorageWarning::Missing);
        assert_eq!(condition::<SessionStorageWarning>(&server).last_transition_time, since);
        let redis = json!({"sessionStorage": {"provider": "redis", "address": "redis:6379"}});
        assert_says(&scene.edit(redis.clone()).await?, SessionStorageWarning::Configured);
        assert_says(&scene.edit(json!({"replicas": 1})).await?, SessionStorageWarning::NotApplicable);
        assert_says(&scene.edit(json!({"replicas": 2})).await?, SessionStorageWarning::Configured);
        assert_says(&scene.edit(json!({"sessionStorage": null})).await?, SessionStorageWarning::Missing);
        assert_says(&scene.edit(json!({"replicas": null})).await?, SessionStorageWarning::NotApplicable);
        assert_eq!(scene.live().await?, 2);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_16_the_password_of_redis_reaches_the_proxy_by_reference_only() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let before = scene.children().await?;
        secret(&space, "redis", &["password", "other"]).await?;
        let storage = json!({
            "provider": "redis", "address": "redis.own:6379", "passwordRef": {"name": "redis", "key": "password"},
        });
        let mark = scene.operator.recorder.mark();
        scene.edit(json!({"sessionStorage": storage})).await?;
        assert_eq!(scene.applies(mark).len(), 1);
        let variable = password_of(&scene).await?.unwrap();
        assert_eq!(json_of(&variable), from_secret("redis", "password"));
        let place = "Deployment/s spec.template.spec.containers[toolhive].env[THV_SESSION_REDIS_PASSWORD]";
        let config = "ConfigMap/s-runconfig data[runconfig.json].scaling_config";
        let mut expected = places(NEW_REVISION);
        expected.extend([place.to_owned(), config.to_owned()]);
        assert_eq!(before.changes(&scene.children().await?), expected);
        assert!(run_config(&scene).await?.contains("redis.own:6379"));
        assert_secret_is_nowhere(&scene).await?;

        // Another key is another variable, and nothing but that and the revision.
        let before = scene.children().await?;
        scene.edit(json!({"sessionStorage": {"passwordRef": {"key": "other"}}})).await?;
        assert_eq!(json_of(&password_of(&scene).await?.unwrap()), from_secret("redis", "other"));
        let mut expected = places(NEW_REVISION);
        expected.insert(format!("{place}.valueFrom.secretKeyRef.key"));
        assert_eq!(before.changes(&scene.children().await?), expected);
        assert_secret_is_nowhere(&scene).await?;

        scene.edit(json!({"sessionStorage": null})).await?;
        assert_eq!(password_of(&scene).await?, None);
        assert!(!run_config(&scene).await?.contains("redis.own"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_16_so_does_that_of_the_redis_of_the_whole_operator() {
    in_namespace(async |space| {
        secret(&space, "shared-redis", &["redis-password"]).await?;
        let environment = BTreeMap::from([
            (env::DEFAULT_REDIS_ADDR, "redis.shared:6379"),
            (env::DEFAULT_REDIS_SECRET_NAME, "shared-redis"),
        ]);
        let scene = Scene::empty(&space, &environment).await?;
        scene.make(json!({"replicas": 2, "sessionStorage": {"provider": "memory"}})).await?;
        assert_eq!(password_of(&scene).await?, None);
        assert!(!run_config(&scene).await?.contains("redis.shared"));

        let mark = scene.operator.recorder.mark();
        let server = scene.edit(json!({"sessionStorage": null})).await?;
        assert_eq!(scene.applies(mark).len(), 1);
        let variable = password_of(&scene).await?.unwrap();
        assert_eq!(json_of(&variable), from_secret("shared-redis", "redis-password"));
        assert!(run_config(&scene).await?.contains("redis.shared:6379"));
        assert_says(&server, SessionStorageWarning::Configured);
        assert_secret_is_nowhere(&scene).await
    })
    .await;
}

/// A Secret with the password under each of these keys.
async fn secret(space: &Space, name: &str, keys: &[&str]) -> Result<()> {
    let data: BTreeMap<_, _> = keys.iter().map(|key| (*key, PASSWORD)).collect();
    let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data});
    let made = apply(&space.api::<Secret>(), name, "test", &body).await?;
    assert_eq!(json_of(&made)["data"][keys[0]], ENCODED);
    Ok(())
}

fn from_secret(name: &str, key: &str) -> Value {
    let source = json!({"secretKeyRef": {"name": name, "key": key}});
    json!({"name": env::SESSION_REDIS_PASSWORD, "valueFrom": source})
}

/// The variable with the password, as the Deployment has it.
async fn password_of(scene: &Scene) -> Result<Option<EnvVar>> {
    let pod = scene.deployment().await?.spec.unwrap().template.spec.unwrap();
    let mut variables = pod.containers.into_iter().flat_map(|container| container.env.unwrap_or_default());
    Ok(variables.find(|variable| variable.name == env::SESSION_REDIS_PASSWORD))
}

async fn run_config(scene: &Scene) -> Result<String> {
    let map = scene.space.api::<ConfigMap>().get("s-runconfig").await?;
    Ok(map.data.unwrap()["runconfig.json"].clone())
}

/// Fails the test if the password is in a ConfigMap, in the Deployment, in what the operator sent or in its log.
async fn assert_secret_is_nowhere(scene: &Scene) -> Result<()> {
    let maps = scene.space.api::<ConfigMap>().list(&ListParams::default()).await?;
    assert!(maps.items.iter().any(|map| map.metadata.name.as_deref() == Some("s-runconfig")));
    let mut texts: Vec<String> = maps.items.iter().map(|map| json_of(map).to_string()).collect();
    texts.push(json_of(&scene.deployment().await?).to_string());
    let sent = scene.operator.recorder.since(Mark::default());
    texts.extend(sent.iter().filter_map(|request| request.body.as_ref()).map(ToString::to_string));
    texts.push(scene.operator.subject.output());
    for text in texts {
        assert!(!text.contains(PASSWORD) && !text.contains(ENCODED), "{text}");
    }
    Ok(())
}
