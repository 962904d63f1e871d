//! `MCPRemoteProxy` and `MCPServerEntry`: what holds for an `MCPServer` holds for them.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPGroupSpec, MCPRemoteProxy, MCPRemoteProxyPhase, MCPRemoteProxySpec, MCPServerEntry,
    MCPServerEntryPhase, MCPServerEntrySpec,
};
use thv_testbed::{Mark, Pattern, Space, Verb, in_namespace, wait};

use super::difference::{Children, places};
use super::rollout::{CHECKSUM, REVISION, STAMP, config, edited, secret, variable};
use super::{Operator, pod_annotations};
use crate::fixture::{json_of, replicas};

/// The proxy that a test is about.
const NAME: &str = "s";

/// An operator and a proxy.
struct Stage {
    space: Space,
    operator: Operator,
}

impl Stage {
    /// A proxy that the operator has dealt with, with `spec` on top of what one needs.
    async fn with(space: &Space, spec: Value) -> Result<Self> {
        let operator = Operator::start(space).await?;
        let stage = Self { space: space.clone(), operator };
        let mut whole = json!({"remoteUrl": "https://mcp.example.com/mcp"});
        for (field, value) in spec.as_object().into_iter().flatten() {
            whole[field] = value.clone();
        }
        config::<MCPRemoteProxySpec>(space, NAME, whole).await?;
        stage.settled().await?;
        Ok(stage)
    }

    fn proxies(&self) -> Api<MCPRemoteProxy> {
        self.space.api()
    }

    /// Waits until the operator has dealt with the proxy as it is.
    async fn settled(&self) -> Result<MCPRemoteProxy> {
        let generation = self.proxies().get(NAME).await?.metadata.generation;
        let done = |proxy: &MCPRemoteProxy| {
            proxy.status.as_ref().and_then(|status| status.observed_generation) >= generation
        };
        let settled = wait::until(&self.proxies(), NAME, "the operator has dealt with it", done).await;
        settled.map_err(|error| {
            error.context(format!("the operator wrote:\n{}", self.operator.subject.output()))
        })
    }

    async fn edit(&self, spec: Value) -> Result<MCPRemoteProxy> {
        let patch = Patch::Merge(json!({"spec": spec}));
        self.proxies().patch(NAME, &PatchParams::default(), &patch).await?;
        self.settled().await
    }

    async fn deployment(&self) -> Result<Deployment> {
        self.operator.deployment(NAME).await
    }

    async fn children(&self) -> Result<Children> {
        Children::of(&self.space, &self.proxies().get(NAME).await?).await
    }

    /// Has the proxy looked at once more, by a change that means nothing, and waits until something later is dealt with.
    async fn look_again(&self, round: &str) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.com/look": round}}}));
        self.proxies().patch(NAME, &PatchParams::default(), &patch).await?;
        let name = format!("probe-{round}");
        config::<MCPRemoteProxySpec>(&self.space, &name, json!({"remoteUrl": "https://mcp.example.com"}))
            .await?;
        let done = |proxy: &MCPRemoteProxy| proxy.status.is_some();
        wait::until(&self.proxies(), &name, "the operator has dealt with it", done).await.map(drop)
    }
}

/// The configuration of the proxy.
async fn run_config(space: &Space) -> Result<Value> {
    let map = space.api::<ConfigMap>().get("s-runconfig").await?;
    let text = map.data.and_then(|mut data| data.remove("runconfig.json")).unwrap_or_default();
    Ok(serde_json::from_str(&text)?)
}

/// Status and reason of a condition.
fn condition(proxy: &MCPRemoteProxy, type_: &str) -> Option<(String, String)> {
    let mut all = proxy.status.iter().flat_map(|status| status.conditions.iter().flatten());
    all.find(|one| one.type_ == type_).map(|one| (one.status.clone(), one.reason.clone()))
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what may not be there")]
fn pair(status: &str, reason: &str) -> Option<(String, String)> {
    Some((status.to_owned(), reason.to_owned()))
}

fn overrides(proxy_deployment: Value) -> Value {
    json!({"resourceOverrides": {"proxyDeployment": proxy_deployment}})
}

#[tokio::test]
async fn s1_08_of_a_remote_proxy_annotations_are_at_their_level_and_the_checksum_stays_ours() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let before = stage.children().await?;
        let on_pods = json!({"annotations": {"vault": "true", CHECKSUM: "mine"}, "labels": {"mesh": "on"}});
        stage
            .edit(overrides(json!({"annotations": {"team": "x"}, "podTemplateMetadataOverrides": on_pods})))
            .await?;
        let deployment = stage.deployment().await?;
        let keys: Vec<String> = pod_annotations(&deployment).into_keys().collect();
        assert_eq!(keys, [STAMP, CHECKSUM, "vault"]);
        let mut own = deployment.annotations().clone();
        own.remove("deployment.kubernetes.io/revision");
        assert_eq!(own.into_keys().collect::<Vec<_>>(), ["team", REVISION]);
        let map = space.api::<ConfigMap>().get("s-runconfig").await?;
        let checksum = &map.annotations()["toolhive.stacklok.dev/content-checksum"];
        assert_eq!(pod_annotations(&deployment)[CHECKSUM], *checksum);
        let expected = edited([
            "Deployment/s metadata.annotations.team",
            "Deployment/s spec.template.metadata.annotations.vault",
            "Deployment/s spec.template.metadata.labels.mesh",
        ]);
        assert_eq!(before.changes(&stage.children().await?), expected);
        let proxy = stage.proxies().get(NAME).await?;
        assert_eq!(condition(&proxy, "OverridesAccepted"), pair("False", "ReservedNamesIgnored"));

        // Once converged, nothing is written; and what is removed leaves nothing behind.
        let mark = stage.operator.recorder.mark();
        stage.look_again("again").await?;
        let apply = Pattern::verb(Verb::Apply).of("deployments").named(NAME);
        stage.operator.recorder.since(mark).only(&apply).assert_empty("apply");
        stage.edit(json!({"resourceOverrides": null})).await?;
        let left = before.changes(&stage.children().await?);
        assert_eq!(left, edited([]), "only the revision is another one");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_08_of_a_remote_proxy_only_the_configuration_that_changes_rolls_the_pods() {
    in_namespace(async |space| {
        let on_pods = json!({"podTemplateMetadataOverrides": {"annotations": {"vault": "true"}}});
        let stage = Stage::with(&space, overrides(on_pods)).await?;
        let before = stage.children().await?;
        let old = pod_annotations(&stage.deployment().await?)[CHECKSUM].clone();
        stage.edit(json!({"audit": {"enabled": true}})).await?;
        let deployment = stage.deployment().await?;
        assert_ne!(pod_annotations(&deployment)[CHECKSUM], old);
        assert_eq!(pod_annotations(&deployment)["vault"], "true");
        let changed = before.changes(&stage.children().await?);
        let expected = edited([
            "ConfigMap/s-runconfig data[runconfig.json].audit_config",
            "ConfigMap/s-runconfig data[runconfig.json].middleware_configs[audit]",
        ]);
        assert_eq!(changed, expected);
        assert_eq!(stage.operator.rollouts(NAME).await?, 2);
        stage.edit(json!({"sessionAffinity": "None"})).await?;
        assert_eq!(stage.operator.rollouts(NAME).await?, 2, "no pod sees it");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_15_of_a_remote_proxy_replicas_are_the_users_or_nobodys() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let deployments = space.api::<Deployment>();
        let apply = Pattern::verb(Verb::Apply).of("deployments").named(NAME).whole();
        let sent = |mark: Mark| -> Vec<Option<i64>> {
            let log = stage.operator.recorder.since(mark).only(&apply);
            let done = log.iter().filter(|apply| matches!(apply.answered, Some(200..300)));
            done.map(|apply| apply.body.as_ref()?.pointer("/spec/replicas")?.as_i64()).collect()
        };
        assert_eq!(sent(Mark::default()), [None]);
        let scale = |count: i32| Patch::Merge(json!({"spec": {"replicas": count}}));
        deployments.patch_scale(NAME, &PatchParams::default(), &scale(3)).await?;
        stage.edit(json!({"audit": {"enabled": true}})).await?;
        assert_eq!(replicas(&stage.deployment().await?), 3, "a rollout leaves the number alone");

        // A number is authoritative, and one that is given up stays what it was.
        let proxy = stage.edit(json!({"replicas": 2})).await?;
        assert_eq!(replicas(&stage.deployment().await?), 2);
        assert_eq!(
            condition(&proxy, "SessionStorageWarning"),
            pair("True", "SessionStorageMissingForReplicas")
        );
        let mark = stage.operator.recorder.mark();
        let proxy = stage.edit(json!({"replicas": null})).await?;
        stage.look_again("released").await?;
        assert_eq!(replicas(&stage.deployment().await?), 2);
        assert_eq!(sent(mark).last(), Some(&None));
        assert_eq!(
            condition(&proxy, "SessionStorageWarning"),
            pair("False", "SessionStorageWarningNotApplicable")
        );
        deployments.patch_scale(NAME, &PatchParams::default(), &scale(4)).await?;
        stage.look_again("scaled").await?;
        assert_eq!(replicas(&stage.deployment().await?), 4);

        let proxy = stage.edit(json!({"replicas": 0})).await?;
        assert_eq!(replicas(&stage.deployment().await?), 0);
        assert_eq!(proxy.status.and_then(|status| status.phase), Some(MCPRemoteProxyPhase::Pending));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s2_15_of_a_remote_proxy_the_password_of_redis_reaches_the_pods_by_reference_only() {
    in_namespace(async |space| {
        secret(&space, "redis", json!({"word": "hush-hush"})).await?;
        let storage = json!({
            "provider": "redis", "address": "redis:6379", "passwordRef": {"name": "redis", "key": "word"},
        });
        let stage = Stage::with(&space, json!({"replicas": 2, "sessionStorage": storage})).await?;
        let proxy = stage.proxies().get(NAME).await?;
        assert_eq!(condition(&proxy, "SessionStorageWarning"), pair("False", "SessionStorageConfigured"));
        let password = variable(&stage.deployment().await?, "THV_SESSION_REDIS_PASSWORD");
        let expected = json!({"secretKeyRef": {"name": "redis", "key": "word"}});
        assert_eq!(password["valueFrom"], expected);
        let config = run_config(&space).await?;
        assert_eq!(config["scaling_config"]["session_redis"]["address"], "redis:6379");
        assert!(!format!("{:?}", stage.children().await?).contains("hush-hush"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_of_a_remote_proxy_any_change_of_a_volume_reaches_the_pods_and_a_removed_one_leaves_nothing() {
    in_namespace(async |space| {
        let patch = |source: Value| {
            let mut volume = json!({"name": "extra"});
            for (field, value) in source.as_object().into_iter().flatten() {
                volume[field] = value.clone();
            }
            let mount = json!({"name": "extra", "mountPath": "/extra"});
            let container = json!({"name": "toolhive", "volumeMounts": [mount]});
            json!({"podTemplateSpec": {"spec": {"volumes": [volume], "containers": [container]}}})
        };
        let stage = Stage::with(&space, json!({})).await?;
        let plain = stage.children().await?;
        stage.edit(patch(json!({"emptyDir": {}}))).await?;
        let mut before = stage.children().await?;
        let place = "Deployment/s spec.template.spec.volumes[extra]";
        for (change, at) in [
            (json!({"emptyDir": {"medium": "Memory"}}), ".emptyDir.medium"),
            (json!({"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}), ".emptyDir.sizeLimit"),
        ] {
            stage.edit(patch(change)).await?;
            let after = stage.children().await?;
            assert_eq!(before.changes(&after), edited([&format!("{place}{at}")]));
            before = after;
        }
        // Another source takes the place of the old one, of which nothing stays.
        for source in [
            json!({"secret": {"secretName": "a"}}),
            json!({"configMap": {"name": "b"}}),
            json!({"projected": {"sources": [{"configMap": {"name": "c"}}]}}),
            json!({"emptyDir": {}}),
        ] {
            stage.edit(patch(source)).await?;
            let volumes = json_of(&stage.deployment().await?)["spec"]["template"]["spec"]["volumes"].clone();
            let extra = volumes.as_array().and_then(|all| all.iter().find(|one| one["name"] == "extra"));
            assert_eq!(extra.and_then(Value::as_object).map(serde_json::Map::len), Some(2), "{extra:?}");
        }
        let mark = stage.operator.recorder.mark();
        stage.look_again("volumes").await?;
        let apply = Pattern::verb(Verb::Apply).of("deployments").named(NAME);
        stage.operator.recorder.since(mark).only(&apply).assert_empty("apply");
        stage.edit(json!({"podTemplateSpec": null})).await?;
        assert_eq!(plain.changes(&stage.children().await?), edited([]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_url_that_leads_inside_is_refused_by_the_status_and_what_runs_stays() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({"allowPrivateEndpoint": true})).await?;
        let before = stage.children().await?;
        for url in ["http://127.0.0.1:8080", "http://169.254.169.254/", "https://kubernetes.default.svc"] {
            let proxy = stage.edit(json!({"remoteUrl": url})).await?;
            assert_eq!(condition(&proxy, "ConfigurationValid"), pair("False", "RemoteURLInvalid"), "{url}");
            assert_eq!(condition(&proxy, "Ready"), pair("False", "NotReady"), "{url}");
            assert_eq!(before.changes(&stage.children().await?), places([]), "{url}");
        }
        let proxy = stage.edit(json!({"remoteUrl": "https://10.0.0.1/mcp"})).await?;
        assert_eq!(condition(&proxy, "ConfigurationValid"), pair("True", "ConfigurationValid"));
        assert_eq!(run_config(&space).await?["remote_url"], "https://10.0.0.1/mcp");
        let proxy = stage.edit(json!({"allowPrivateEndpoint": false})).await?;
        assert_eq!(condition(&proxy, "ConfigurationValid"), pair("False", "RemoteURLInvalid"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_proxy_waits_for_the_secret_of_a_header_and_goes_on_when_it_appears() {
    in_namespace(async |space| {
        let header = json!([{"headerName": "X-Api-Key", "valueSecretRef": {"name": "keys", "key": "token"}}]);
        let stage = Stage::with(&space, json!({"headerForward": {"addHeadersFromSecret": header}})).await?;
        let proxy = stage.proxies().get(NAME).await?;
        assert_eq!(condition(&proxy, "ConfigurationValid"), pair("False", "HeaderSecretNotFound"));
        assert!(space.api::<Deployment>().get_opt(NAME).await?.is_none());
        secret(&space, "keys", json!({"token": "hush-hush"})).await?;
        wait::until(&space.api::<Service>(), "mcp-s-remote-proxy", "it is there", |_| true).await?;
        let made = wait::until(&space.api::<Deployment>(), NAME, "it is there", |_| true).await?;
        let value = variable(&made, "TOOLHIVE_SECRET_HEADER_FORWARD_X_API_KEY_S");
        assert_eq!(value["valueFrom"], json!({"secretKeyRef": {"name": "keys", "key": "token"}}));
        assert!(!json_of(&made).to_string().contains("hush-hush"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_entry_says_at_once_when_what_it_needs_comes_and_goes() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let entries: Api<MCPServerEntry> = space.api();
        let header = json!([{"headerName": "X-Api-Key", "valueSecretRef": {"name": "keys", "key": "token"}}]);
        let spec = json!({
            "remoteUrl": "https://mcp.example.com/mcp", "transport": "streamable-http", "groupRef": {"name": "g"},
            "headerForward": {"addHeadersFromSecret": header},
        });
        config::<MCPServerEntrySpec>(&space, "far", spec).await?;
        let until = async |phase: MCPServerEntryPhase| {
            let is_so = |entry: &MCPServerEntry| entry.status.as_ref().and_then(|it| it.phase) == Some(phase);
            wait::until(&entries, "far", phase.as_str(), is_so).await
        };
        until(MCPServerEntryPhase::Failed).await?;
        secret(&space, "keys", json!({"token": "1"})).await?;
        config::<MCPGroupSpec>(&space, "g", json!({})).await?;
        until(MCPServerEntryPhase::Valid).await?;
        space.api::<Secret>().delete("keys", &DeleteParams::default()).await?;
        let entry = until(MCPServerEntryPhase::Failed).await?;
        let all = entry.status.and_then(|status| status.conditions).unwrap_or_default();
        let told = all.iter().find(|one| one.type_ == "HeaderSecretRefsValidated").map(|one| one.reason.as_str());
        assert_eq!(told, Some("HeaderSecretNotFound"));
        operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}
