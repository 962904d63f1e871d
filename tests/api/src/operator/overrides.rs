//! Labels and annotations of users, each at the level that it is meant for.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use kube::ResourceExt;
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPExternalAuthConfigSpec, MCPOIDCConfigSpec, MCPServer, MCPTelemetryConfigSpec, MCPToolConfigSpec,
};
use thv_testbed::{Space, in_namespace, wait};

use super::difference::{Places, places};
use super::rollout::{Birth, CHECKSUM, REVISION, STAMP, config, edited, minted};
use super::{Operator, minimal, pod_annotations};
use crate::crds;

type Pairs = BTreeMap<String, String>;

/// The labels and annotations of a Deployment and of its pods.
#[derive(Debug, PartialEq, Eq)]
struct Levels {
    deployment: (Pairs, Pairs),
    pods: (Pairs, Pairs),
}

impl Levels {
    /// What is there of users: all that is not ours, at both levels. Ours have to be there.
    fn of_users(deployment: &Deployment) -> Self {
        let pods = deployment.spec.as_ref().unwrap().template.metadata.clone().unwrap();
        let mut all = Self {
            deployment: (deployment.labels().clone(), deployment.annotations().clone()),
            pods: (pods.labels.unwrap(), pods.annotations.unwrap()),
        };
        for labels in [&mut all.deployment.0, &mut all.pods.0] {
            for (key, value) in ours() {
                assert_eq!(labels.remove(key).as_deref(), Some(value), "{key}");
            }
        }
        all.deployment.1.remove(REVISION).unwrap();
        all.deployment.1.remove("deployment.kubernetes.io/revision");
        all.pods.1.remove(STAMP).unwrap();
        all.pods.1.remove(CHECKSUM).unwrap();
        all
    }

    fn new<const N: usize>(all: [(Level, &str, &str); N]) -> Self {
        let mut levels = Self { deployment: Default::default(), pods: Default::default() };
        for (level, key, value) in all {
            let pairs = match level {
                Level::Label => &mut levels.deployment.0,
                Level::Annotation => &mut levels.deployment.1,
                Level::PodLabel => &mut levels.pods.0,
                Level::PodAnnotation => &mut levels.pods.1,
            };
            pairs.insert(key.to_owned(), value.to_owned());
        }
        levels
    }
}

enum Level {
    Label,
    Annotation,
    PodLabel,
    PodAnnotation,
}
use Level::{Annotation, Label, PodAnnotation, PodLabel};

/// The labels that tell the server `s` from others, which are those of the selector.
fn ours() -> [(&'static str, &'static str); 5] {
    [
        ("app", "mcpserver"),
        ("app.kubernetes.io/name", "mcpserver"),
        ("app.kubernetes.io/instance", "s"),
        ("toolhive", "true"),
        ("toolhive-name", "s"),
    ]
}

const VAULT: &str = "vault.hashicorp.com/agent-inject";

/// Changes of the overrides of the Deployment.
fn overrides(proxy_deployment: Value) -> Value {
    json!({"spec": {"resourceOverrides": {"proxyDeployment": proxy_deployment}}})
}

fn on_pods(metadata: Value) -> Value {
    overrides(json!({"podTemplateMetadataOverrides": metadata}))
}

/// What an edit of a minimal server comes to: the levels, the places that changed, and the number of rollouts.
async fn after(space: &Space, edit: Value) -> Result<(Operator, Levels, Places, usize)> {
    let operator = Operator::start(space).await?;
    operator.server("s", minimal()).await?;
    let (before, selector) = (operator.children().await?, selector(&operator.deployment("s").await?));
    let mark = operator.recorder.mark();
    operator.edit("s", edit).await?;
    let changed = before.changes(&operator.children().await?);
    let deployment = operator.deployment("s").await?;
    assert_eq!(self::selector(&deployment), selector);
    operator.assert_applies(mark, usize::from(!changed.is_empty()));
    let rollouts = operator.rollouts("s").await?;
    Ok((operator, Levels::of_users(&deployment), changed, rollouts))
}

fn selector(deployment: &Deployment) -> Pairs {
    deployment.spec.as_ref().unwrap().selector.match_labels.clone().unwrap()
}

#[tokio::test]
async fn s1_01_annotations_of_pods_are_ours_and_the_users_and_no_others() {
    in_namespace(async |space| {
        let edit = on_pods(json!({"annotations": {VAULT: "true"}}));
        let (operator, levels, changed, rollouts) = after(&space, edit).await?;
        assert_eq!(levels, Levels::new([(PodAnnotation, VAULT, "true")]));
        let keys: Vec<String> = pod_annotations(&operator.deployment("s").await?).into_keys().collect();
        assert_eq!(keys, [STAMP, CHECKSUM, VAULT]);
        let place = format!("Deployment/s spec.template.metadata.annotations[{VAULT}]");
        assert_eq!((changed, rollouts), (edited([&place]), 2));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_02_annotations_of_the_deployment_stay_off_its_pods() {
    in_namespace(async |space| {
        let edit = overrides(json!({"annotations": {"team": "x"}}));
        let (operator, levels, changed, rollouts) = after(&space, edit).await?;
        assert_eq!(levels, Levels::new([(Annotation, "team", "x")]));
        // Nothing about the pods has changed, so nothing rolls.
        assert_eq!((changed, rollouts), (places(["Deployment/s metadata.annotations.team"]), 1));

        // The same key may have another value at the other level.
        operator.edit("s", on_pods(json!({"annotations": {"team": "y"}}))).await?;
        let both = Levels::of_users(&operator.deployment("s").await?);
        assert_eq!(both, Levels::new([(Annotation, "team", "x"), (PodAnnotation, "team", "y")]));
        assert_eq!(operator.rollouts("s").await?, 2);
        Ok(())
    })
    .await;
}

/// The configurations that the server of the next test refers to.
async fn configs(space: &Space) -> Result<()> {
    config::<MCPTelemetryConfigSpec>(space, "otel", telemetry("a:4318")).await?;
    config::<MCPOIDCConfigSpec>(space, "oidc", oidc("https://a.example")).await?;
    config::<MCPToolConfigSpec>(space, "tools", json!({"toolsFilter": ["echo"]})).await?;
    for audience in ["one", "two"] {
        let exchange = json!({"tokenUrl": "https://login.example/token", "audience": audience});
        let spec = json!({"type": "tokenExchange", "tokenExchange": exchange});
        config::<MCPExternalAuthConfigSpec>(space, audience, spec).await?;
    }
    Ok(())
}

fn telemetry(endpoint: &str) -> Value {
    json!({"openTelemetry": {"enabled": true, "endpoint": endpoint, "tracing": {"enabled": true}}})
}

fn oidc(issuer: &str) -> Value {
    json!({"type": "inline", "inline": {"issuer": issuer}})
}

#[tokio::test]
async fn s1_03_every_change_of_the_configuration_rolls_the_pods_and_nothing_else_does() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        configs(&space).await?;
        let server = json!({
            "image": "localhost/server:1", "transport": "streamable-http",
            "telemetryConfigRef": {"name": "otel"},
            "oidcConfigRef": {"name": "oidc", "audience": "s"},
            "toolConfigRef": {"name": "tools"},
            "externalAuthConfigRef": {"name": "one"},
            "resourceOverrides": on_pods(json!({"annotations": {VAULT: "true"}}))["spec"]["resourceOverrides"],
        });
        operator.server("s", server).await?;
        let expected = || Levels::new([(PodAnnotation, VAULT, "true")]);
        for (number, what) in ["telemetry", "oidc", "external-auth", "tools"].into_iter().enumerate() {
            let old = operator.deployment("s").await?;
            let mark = operator.recorder.mark();
            match what {
                "telemetry" => config::<MCPTelemetryConfigSpec>(&space, "otel", telemetry("b:4318")).await?,
                "oidc" => config::<MCPOIDCConfigSpec>(&space, "oidc", oidc("https://b.example")).await?,
                "external-auth" => {
                    operator.edit("s", json!({"spec": {"externalAuthConfigRef": {"name": "two"}}})).await?;
                }
                _ => config::<MCPToolConfigSpec>(&space, "tools", json!({"toolsFilter": ["add"]})).await?,
            }
            let new = operator.rolled(&old).await?;
            assert_eq!(Levels::of_users(&new), expected(), "{what}");
            assert_ne!(Birth::of(&new).checksum, Birth::of(&old).checksum, "{what}");
            let file = space.api::<k8s_openapi::api::core::v1::ConfigMap>().get("s-runconfig").await?;
            let written = &file.annotations()["toolhive.stacklok.dev/content-checksum"];
            assert_eq!(&Birth::of(&new).checksum, written, "{what}");
            assert_eq!(operator.rollouts("s").await?, number + 2, "{what}");
            operator.assert_applies(mark, 1);

            // The same once more, and something that no configuration contains: neither rolls anything.
            let mark = operator.recorder.mark();
            config::<MCPToolConfigSpec>(&space, "unused", json!({"toolsFilter": [what]})).await?;
            operator.edit("s", json!({"metadata": {"labels": {"round": what}}})).await?;
            operator.outlast(what).await?;
            assert_eq!(operator.rollouts("s").await?, number + 2, "{what}");
            operator.assert_applies(mark, 0);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_04_a_users_checksum_does_not_displace_ours() {
    in_namespace(async |space| {
        let edit = on_pods(json!({"annotations": {CHECKSUM: "mine"}}));
        let (operator, levels, changed, rollouts) = after(&space, edit).await?;
        assert_eq!(levels, Levels::new([]));
        assert_ne!(Birth::of(&operator.deployment("s").await?).checksum, "mine");
        assert_eq!((changed, rollouts), (places([]), 1));
        let server = operator.servers().get("s").await?;
        assert!(wait::has_condition(&server, "OverridesAccepted", "False"), "{:?}", server.status);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_05_overrides_cause_no_write_loop() {
    in_namespace(async |space| {
        let all = json!({
            "annotations": {"team": "x"}, "labels": {"tier": "edge"}, "env": [{"name": "A", "value": "b"}],
            "podTemplateMetadataOverrides": {"annotations": {VAULT: "true"}, "labels": {"mesh": "on"}},
        });
        let (mut operator, levels, _, rollouts) = after(&space, overrides(all)).await?;
        let expected = || {
            Levels::new([
                (Annotation, "team", "x"),
                (Label, "tier", "edge"),
                (PodAnnotation, VAULT, "true"),
                (PodLabel, "mesh", "on"),
            ])
        };
        assert_eq!((levels, rollouts), (expected(), 2));
        operator.assert_fixed("loop").await?;
        assert_eq!(Levels::of_users(&operator.deployment("s").await?), expected());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_06_overrides_that_are_taken_back_vanish_with_one_rollout() {
    in_namespace(async |space| {
        let all = json!({
            "annotations": {"team": "x"},
            "podTemplateMetadataOverrides": {"annotations": {VAULT: "true"}, "labels": {"mesh": "on"}},
        });
        let (mut operator, ..) = after(&space, overrides(all)).await?;
        let before = operator.children().await?;
        let mark = operator.recorder.mark();
        operator.edit("s", json!({"spec": {"resourceOverrides": null}})).await?;
        assert_eq!(Levels::of_users(&operator.deployment("s").await?), Levels::new([]));
        let on_pods = format!("Deployment/s spec.template.metadata.annotations[{VAULT}]");
        let expected = edited([
            "Deployment/s metadata.annotations.team",
            &on_pods,
            "Deployment/s spec.template.metadata.labels.mesh",
        ]);
        assert_eq!(before.changes(&operator.children().await?), expected);
        operator.assert_applies(mark, 1);
        assert_eq!(operator.rollouts("s").await?, 3);
        operator.assert_fixed("removed").await
    })
    .await;
}

#[tokio::test]
async fn s1_07_labels_of_pods_stay_off_the_deployment_and_its_selector() {
    in_namespace(async |space| {
        let edit = on_pods(json!({"labels": {"mesh": "on", "app": "mine", "toolhive-name": "other"}}));
        // That the selector stays as it is, and that ours win, is asserted on the way.
        let (operator, levels, changed, rollouts) = after(&space, edit).await?;
        assert_eq!(levels, Levels::new([(PodLabel, "mesh", "on")]));
        let expected = edited(["Deployment/s spec.template.metadata.labels.mesh"]);
        assert_eq!((changed, rollouts), (expected, 2));
        let server = operator.servers().get("s").await?;
        let told = condition(&server, "OverridesAccepted");
        for label in ["app", "toolhive-name"] {
            let field = format!("podTemplateMetadataOverrides.labels[{label}]");
            assert!(told["message"].as_str().unwrap().contains(&field), "{told}");
        }
        Ok(())
    })
    .await;
}

/// A condition of a server.
fn condition(server: &MCPServer, kind: &str) -> Value {
    let status = crate::fixture::json_of(server)["status"].clone();
    let all = status["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter()
        .find(|condition| condition["type"] == kind)
        .unwrap_or_else(|| panic!("no {kind} in {status}"))
}

#[tokio::test]
async fn s1_09_every_override_lands_at_its_own_level_and_at_no_other() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", minimal()).await?;
        let (key, value) = ("example.com/key", "v");
        let pair = || json!({key: value});
        let place = |level: &str| format!("Deployment/s {level}[{key}]");
        let rows = [
            (json!({"labels": pair()}), Label, place("metadata.labels"), false),
            (json!({"annotations": pair()}), Annotation, place("metadata.annotations"), false),
            (
                json!({"podTemplateMetadataOverrides": {"labels": pair()}}),
                PodLabel,
                place("spec.template.metadata.labels"),
                true,
            ),
            (
                json!({"podTemplateMetadataOverrides": {"annotations": pair()}}),
                PodAnnotation,
                place("spec.template.metadata.annotations"),
                true,
            ),
        ];
        for (row, level, place, rolls) in rows {
            let (before, rollouts) = (operator.children().await?, operator.rollouts("s").await?);
            operator.edit("s", overrides(row.clone())).await?;
            let levels = Levels::of_users(&operator.deployment("s").await?);
            assert_eq!(levels, Levels::new([(level, key, value)]), "{row}");
            let expected = if rolls { edited([&place]) } else { places([&place]) };
            assert_eq!(before.changes(&operator.children().await?), expected, "{row}");
            assert_eq!(operator.rollouts("s").await?, rollouts + usize::from(rolls), "{row}");
            operator.edit("s", json!({"spec": {"resourceOverrides": null}})).await?;
            let levels = Levels::of_users(&operator.deployment("s").await?);
            assert_eq!(levels, Levels::new([]), "{row}");
            let since = before.changes(&operator.children().await?);
            assert_eq!(since.is_superset(&minted()), rolls, "{row}: {since:?}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s1_10_the_description_says_where_sidecar_annotations_belong() {
    in_namespace(async |space| {
        crds::install(&space).await?;
        let api = kube::Api::all(space.client());
        let served: k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition =
            api.get("mcpservers.toolhive.stacklok.dev").await?;
        for version in served.spec.versions {
            let schema = version.schema.unwrap().open_api_v3_schema.unwrap();
            let below = |schema: &JSONSchemaProps, field: &str| schema.properties.as_ref().unwrap()[field].clone();
            let path = ["spec", "resourceOverrides", "proxyDeployment"];
            let deployment = path.iter().fold(schema, |schema, field| below(&schema, field));
            let text = below(&deployment, "annotations").description.unwrap();
            assert!(text.contains("podTemplateMetadataOverrides"), "{}: {text}", version.name);
            assert!(text.to_lowercase().contains("sidecar"), "{}: {text}", version.name);
            let text = below(&deployment, "podTemplateMetadataOverrides").description.unwrap();
            assert!(text.to_lowercase().contains("sidecar"), "{}: {text}", version.name);
        }
        Ok(())
    })
    .await;
}
