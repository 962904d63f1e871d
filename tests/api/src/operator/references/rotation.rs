//! Content that changes behind a name that stays.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::annotations::{RESTART_ON_ROTATION, ROTATED_CONTENT};
use thv_testbed::{Mark, Pattern, Verb, in_namespace};

use super::super::difference::{Places, places};
use super::super::drift::shift;
use super::super::pod_annotations;
use super::super::rollout::{config_map, minted, patch, reconfigured, secret};
use super::{Stage, condition, server};
use crate::fixture::json_of;

/// Where the pods of the proxy have the digest of what they use.
const ON_PROXY: &str =
    "Deployment/s spec.template.metadata.annotations[toolhive.stacklok.dev/rotated-content]";
/// Where the proxy is told what the pods of the backend look like, their digest included.
const FOR_BACKEND: &str = "Deployment/s spec.template.spec.containers[toolhive].args[1]";

/// A server whose proxy uses a variable, a file and certificate authorities, and whose backend uses a variable.
async fn with_secrets(stage: &Stage) -> Result<()> {
    let space = &stage.space;
    for name in ["of-exchange", "of-webhook", "of-backend"] {
        secret(space, name, json!({"k": "1", "unused": "1"})).await?;
    }
    config_map(space, "authorities", json!({"ca.crt": "1"})).await?;
    let exchange = json!({
        "tokenUrl": "https://login.example.com/token", "audience": "backend", "clientId": "proxy",
        "clientSecretRef": {"name": "of-exchange", "key": "k"},
    });
    stage
        .settle("MCPExternalAuthConfig", "auth", json!({"type": "tokenExchange", "tokenExchange": exchange}))
        .await?;
    let webhook = json!({
        "name": "w", "url": "https://hook.example.com", "hmacSecretRef": {"name": "of-webhook", "key": "k"},
    });
    stage.settle("MCPWebhookConfig", "hooks", json!({"validating": [webhook]})).await?;
    let bundle = json!({"configMapRef": {"name": "authorities", "key": "ca.crt"}});
    let inline = json!({"issuer": "https://login.example.com", "caBundleRef": bundle});
    stage.settle("MCPOIDCConfig", "oidc", json!({"type": "inline", "inline": inline})).await?;
    let spec = server(json!({
        "externalAuthConfigRef": {"name": "auth"}, "webhookConfigRef": {"name": "hooks"},
        "oidcConfigRef": {"name": "oidc", "audience": "s"},
        "secrets": [{"name": "of-backend", "key": "k", "targetEnvName": "KEY"}],
    }));
    stage.settle("MCPServer", "s", spec).await?;
    stage.operator.settle("rotation").await
}

/// Gives the server the annotation with this value, or takes it away.
async fn wish(stage: &Stage, value: Option<&str>) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {RESTART_ON_ROTATION: value}}});
    stage.api("MCPServer").patch("s", &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

async fn rotate(stage: &Stage, name: &str, content: &str) -> Result<()> {
    patch(&stage.space.api::<Secret>(), name, json!({"stringData": {"k": content}})).await.map(drop)
}

/// Shows that a pass has read the Secret since `mark`, and that nothing came of it.
async fn came_to_nothing(stage: &Stage, mark: Mark, name: &str) -> Result<()> {
    let read = Pattern::verb(Verb::Get).of("secrets").named(name);
    stage.operator.recorder.seen(mark, &read).await?;
    stage.calm().await?;
    let writes = stage.operator.writes(mark);
    assert!(writes.is_empty(), "{writes:?}");
    Ok(())
}

/// The digest on the pods of the proxy, and that for the pods of the backend.
async fn digests(stage: &Stage) -> Result<(Option<String>, Option<String>)> {
    let deployment = stage.operator.deployment("s").await?;
    let args = json_of(&deployment).pointer("/spec/template/spec/containers/0/args/1").cloned();
    let patch = args.as_ref().and_then(Value::as_str).and_then(|arg| arg.strip_prefix("--k8s-pod-patch="));
    let patch: Value = serde_json::from_str(patch.context("there is no patch of the backend's pods")?)?;
    let of_backend = patch["metadata"]["annotations"][ROTATED_CONTENT].as_str().map(str::to_owned);
    Ok((pod_annotations(&deployment).get(ROTATED_CONTENT).cloned(), of_backend))
}

/// The places that change when pods are replaced for nothing but this.
fn only<const N: usize>(all: [&str; N]) -> Places {
    minted().into_iter().chain(places(all)).collect()
}

#[tokio::test]
async fn s4_11_s4_10_new_content_rolls_nothing_unless_it_is_asked_for_and_then_just_the_pods_that_use_it() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        with_secrets(&stage).await?;
        let names = ["of-exchange", "of-webhook", "of-backend"];
        let (before, version) = (stage.operator.children().await?, stage.operator.at_rest().await?);
        for name in names {
            let mark = stage.operator.recorder.mark();
            rotate(&stage, name, "2").await?;
            came_to_nothing(&stage, mark, name).await?;
        }
        let after = stage.operator.children().await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
        assert_eq!(stage.operator.at_rest().await?, version);

        // Whoever asks for it gets digests, and with them one rollout.
        let changed = shift(&stage.operator, wish(&stage, Some("true"))).await?;
        assert_eq!(changed, only([ON_PROXY, FOR_BACKEND]));
        assert!(matches!(digests(&stage).await?, (Some(_), Some(_))));
        for (name, place) in names.into_iter().zip([ON_PROXY, ON_PROXY, FOR_BACKEND]) {
            let changed = shift(&stage.operator, rotate(&stage, name, "3")).await?;
            assert_eq!(changed, only([place]), "{name}");
        }
        let authorities = async {
            let new = json!({"data": {"ca.crt": "2"}});
            patch(&space.api::<ConfigMap>(), "authorities", new).await.map(drop)
        };
        assert_eq!(shift(&stage.operator, authorities).await?, only([ON_PROXY]));

        // What is not content, and content that nobody uses, is nothing to restart for.
        stage.operator.settle("content").await?;
        for (name, change) in [
            ("of-exchange", json!({"metadata": {"labels": {"round": "2"}}})),
            ("of-webhook", json!({"stringData": {"unused": "2"}})),
            ("of-backend", json!({"stringData": {"k": "3"}, "metadata": {"annotations": {"round": "2"}}})),
        ] {
            let mark = stage.operator.recorder.mark();
            patch(&space.api::<Secret>(), name, change).await?;
            came_to_nothing(&stage, mark, name).await?;
        }

        // Taken back, it leaves nothing behind.
        let changed = shift(&stage.operator, wish(&stage, None)).await?;
        assert_eq!(changed, only([ON_PROXY, FOR_BACKEND]));
        assert_eq!(digests(&stage).await?, (None, None));
        assert_eq!(stage.operator.children().await?.changes(&before).len(), minted().len());
        stage.operator.settle("withdrawn").await?;
        let mark = stage.operator.recorder.mark();
        rotate(&stage, "of-exchange", "4").await?;
        came_to_nothing(&stage, mark, "of-exchange").await
    })
    .await;
}

#[tokio::test]
async fn a_wish_for_restarts_that_is_not_understood_is_told_and_changes_nothing() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        with_secrets(&stage).await?;
        let before = stage.operator.children().await?;
        wish(&stage, Some("yes")).await?;
        stage.says("MCPServer", "s", ("SettingsIgnored", "True"), RESTART_ON_ROTATION).await?;
        wish(&stage, Some("false")).await?;
        let is_silent = |server: &kube::api::DynamicObject| {
            let message = condition(server, "SettingsIgnored")["message"].clone();
            !message.as_str().unwrap_or_default().contains(RESTART_ON_ROTATION)
        };
        stage.until("MCPServer", "s", "it has nothing to say of it", is_silent).await?;
        stage.calm().await?;
        let after = stage.operator.children().await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn new_rules_in_a_config_map_roll_the_proxy_since_they_are_part_of_its_configuration() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let rules = |policy: &str| {
            let document = json!({"version": "1.0", "type": "cedarv1", "cedar": {"policies": [policy], "entities_json": "[]"}});
            json!({"authz.json": document.to_string()})
        };
        config_map(&space, "rules", rules("permit(principal, action, resource);")).await?;
        let authz = json!({"type": "configMap", "configMap": {"name": "rules", "key": "authz.json"}});
        stage.settle("MCPServer", "s", server(json!({"authzConfig": authz}))).await?;
        stage.operator.settle("rules").await?;

        let new = config_map(&space, "rules", rules("forbid(principal, action, resource);"));
        let changed: BTreeMap<bool, Places> = shift(&stage.operator, new).await?.into_iter().fold(
            BTreeMap::new(),
            |mut all: BTreeMap<bool, Places>, place| {
                all.entry(place.ends_with("cedar.policies[0]")).or_default().insert(place);
                all
            },
        );
        assert_eq!(changed[&false], reconfigured([]));
        assert_eq!(changed[&true].len(), 2, "{changed:?}");

        // A label on it is no new rule.
        stage.operator.settle("labels").await?;
        let mark = stage.operator.recorder.mark();
        let label = json!({"metadata": {"labels": {"round": "2"}}});
        patch(&space.api::<ConfigMap>(), "rules", label).await?;
        stage.operator.recorder.seen(mark, &Pattern::verb(Verb::Get).of("configmaps").named("rules")).await?;
        stage.calm().await?;
        let writes = stage.operator.writes(mark);
        assert!(writes.is_empty(), "{writes:?}");
        Ok(())
    })
    .await;
}
