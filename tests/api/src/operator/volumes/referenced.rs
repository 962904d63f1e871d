//! What a virtual server refers to, itself or by way of others, and what of that is in its pods.

use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::super::difference::{Places, places};
use super::super::shift::VIRTUAL_SERVER;
use super::{auth_server, entry, everything, oidc, telemetry};

/// Places in the pod template.
fn in_pods<const N: usize>(all: [&str; N]) -> Places {
    VIRTUAL_SERVER.places(all)
}

/// Where the configuration says this.
fn in_config<const N: usize>(all: [&str; N]) -> Places {
    all.iter().map(|place| format!("ConfigMap/s-vmcp-config data[config.yaml].{place}")).collect()
}

fn all<const N: usize>(sets: [Places; N]) -> Places {
    sets.into_iter().flatten().collect()
}

#[tokio::test]
async fn s4_01_another_secret_with_the_signing_key_reaches_the_pods_with_one_rollout() {
    in_namespace(async |space| {
        let stage = everything(&space).await?;
        let edit = json!({"authServerConfig": auth_server("keys-v2", "keys-v1", "keys-v1")});
        let changed = stage.change(&VIRTUAL_SERVER, edit).await?;
        // The file keeps its place, so the configuration stays as it is.
        assert_eq!(changed, in_pods(["volumes[authserver-signing-key-0].secret.secretName"]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_02_every_other_secret_and_bundle_of_a_virtual_server_reaches_its_pods() {
    in_namespace(async |space| {
        let stage = everything(&space).await?;
        let edit = |server: Value| stage.change(&VIRTUAL_SERVER, json!({ "authServerConfig": server }));
        let changed = edit(auth_server("keys-v1", "keys-v2", "keys-v1")).await?;
        assert_eq!(changed, in_pods(["volumes[authserver-hmac-secret-0].secret.secretName"]));
        let changed = edit(auth_server("keys-v1", "keys-v2", "keys-v2")).await?;
        let variable = "env[TOOLHIVE_UPSTREAM_CLIENT_SECRET_MAIN].valueFrom.secretKeyRef.name";
        assert_eq!(changed, VIRTUAL_SERVER.in_container([variable]));
        let password = json!({"sessionStorage": {"passwordRef": {"name": "keys-v2"}}});
        let changed = stage.change(&VIRTUAL_SERVER, password).await?;
        let variable = "env[THV_SESSION_REDIS_PASSWORD].valueFrom.secretKeyRef.name";
        assert_eq!(changed, VIRTUAL_SERVER.in_container([variable]));

        // Nobody edits the virtual server from here on.
        let changed = stage
            .shift(&VIRTUAL_SERVER, stage.edit("MCPOIDCConfig", "oidc", oidc("ca-v2", "ca.crt")))
            .await?;
        let expected = in_pods([
            "volumes[oidc-ca-bundle-ca-v1]",
            "volumes[oidc-ca-bundle-ca-v2]",
            "containers[vmcp].volumeMounts[/config/certs/ca-v1]",
            "containers[vmcp].volumeMounts[/config/certs/ca-v2]",
        ]);
        assert_eq!(changed, all([expected, in_config(["incomingAuth.oidc.caBundlePath"])]));
        let changed = stage
            .shift(&VIRTUAL_SERVER, stage.edit("MCPTelemetryConfig", "otel", telemetry("ca-v2")))
            .await?;
        let expected = in_pods([
            "volumes[otel-ca-bundle-ca-v1]",
            "volumes[otel-ca-bundle-ca-v2]",
            "containers[vmcp].volumeMounts[/config/certs/otel/ca-v1]",
            "containers[vmcp].volumeMounts[/config/certs/otel/ca-v2]",
        ]);
        assert_eq!(changed, all([expected, in_config(["telemetry.caCertPath"])]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_02_the_bundles_of_entries_come_change_and_go_with_them() {
    in_namespace(async |space| {
        let stage = everything(&space).await?;
        let of = async |name: &str, map: &str, key: &str| {
            let made = async { stage.make("MCPServerEntry", name, entry(map, key)).await.map(drop) };
            stage.shift(&VIRTUAL_SERVER, made).await
        };
        let changed = of("ctx", "ca-v2", "ca.crt").await?;
        assert_eq!(changed, in_pods(["volumes[ca-bundle-ctx].configMap.name"]));
        let changed = of("ctx", "ca-v2", "other.crt").await?;
        let items = in_pods([
            "volumes[ca-bundle-ctx].configMap.items[ca.crt]",
            "volumes[ca-bundle-ctx].configMap.items[other.crt]",
        ]);
        assert_eq!(changed, all([items, in_config(["backends[ctx].caBundlePath"])]));

        // One that joins the group, and one that leaves it.
        let joins = || {
            let mounts = in_pods([
                "volumes[ca-bundle-new]",
                "containers[vmcp].volumeMounts[/etc/toolhive/ca-bundles/new]",
            ]);
            all([mounts, in_config(["backends[new]"])])
        };
        assert_eq!(of("new", "ca-v1", "ca.crt").await?, joins());
        let leave = stage.edit("MCPServerEntry", "new", json!({"groupRef": {"name": "elsewhere"}}));
        assert_eq!(stage.shift(&VIRTUAL_SERVER, leave).await?, joins());
        // The last one takes the whole list with it.
        let changed = stage.shift(&VIRTUAL_SERVER, stage.delete("MCPServerEntry", "ctx")).await?;
        let gone = in_pods([
            "volumes[ca-bundle-ctx]",
            "containers[vmcp].volumeMounts[/etc/toolhive/ca-bundles/ctx]",
        ]);
        assert_eq!(changed, all([gone, in_config(["backends"])]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_02_a_gateway_that_discovers_its_backends_has_the_bundles_of_entries_as_well() {
    in_namespace(async |space| {
        let stage = everything(&space).await?;
        let changed =
            stage.change(&VIRTUAL_SERVER, json!({"outgoingAuth": {"source": "discovered"}})).await?;
        // It reads its backends itself, so it has rights to.
        let (rights, changed): (Places, Places) =
            changed.into_iter().partition(|place| place.starts_with("Role/s-vmcp rules"));
        assert!(!rights.is_empty());
        assert_eq!(changed, in_config(["backends", "outgoingAuth.source"]));
        let other = async { stage.make("MCPServerEntry", "ctx", entry("ca-v2", "ca.crt")).await.map(drop) };
        let changed = stage.shift(&VIRTUAL_SERVER, other).await?;
        assert_eq!(changed, in_pods(["volumes[ca-bundle-ctx].configMap.name"]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_07_what_a_virtual_server_does_not_ask_for_any_more_vanishes_with_one_update() {
    in_namespace(async |space| {
        let mut stage = everything(&space).await?;
        let changed = stage.change(&VIRTUAL_SERVER, json!({"imagePullSecrets": null})).await?;
        let expected = places([
            "Deployment/s spec.template.spec.imagePullSecrets",
            "ServiceAccount/s-vmcp imagePullSecrets",
        ]);
        assert_eq!(changed, expected);
        let taken_back = json!({
            "telemetryConfigRef": null, "authServerConfig": null, "sessionStorage": null,
            "incomingAuth": {"type": "anonymous", "oidcConfigRef": null},
        });
        stage.change(&VIRTUAL_SERVER, taken_back).await?;
        stage.shift(&VIRTUAL_SERVER, stage.delete("MCPServerEntry", "ctx")).await?;
        let deployment = stage.operator.deployment("s").await?;
        let pod = &crate::fixture::json_of(&deployment)["spec"]["template"]["spec"];
        assert_eq!(pod["volumes"].as_array().unwrap().len(), 1, "{pod:#}");
        let container = &pod["containers"][0];
        assert_eq!(container["volumeMounts"].as_array().unwrap().len(), 1, "{container:#}");
        let names: Vec<&str> =
            container["env"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
        let left = |name: &&&str| {
            ["TOOLHIVE_UPSTREAM_", "OTEL_", "THV_SESSION_"].iter().any(|it| name.starts_with(it))
        };
        assert_eq!(names.iter().find(left), None, "{names:?}");
        stage.assert_fixed(&VIRTUAL_SERVER).await
    })
    .await;
}
