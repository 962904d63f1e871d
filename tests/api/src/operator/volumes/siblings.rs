//! What a remote proxy, an embedding server and a registry refer to, and what of that is in their pods.

use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::super::difference::Places;
use super::super::rollout::{config_map, secret};
use super::super::stage::Stage;
use super::{EMBEDDING_SERVER, REGISTRY, REMOTE_PROXY, auth_server, oidc, telemetry, with_fields};

fn in_config<const N: usize>(all: [&str; N]) -> Places {
    all.iter().map(|place| format!("ConfigMap/s-runconfig data[runconfig.json].{place}")).collect()
}

fn all<const N: usize>(sets: [Places; N]) -> Places {
    sets.into_iter().flatten().collect()
}

/// Settings with an authorization server.
fn settings(signing: &str, hmac: &str) -> Value {
    json!({"type": "embeddedAuthServer", "embeddedAuthServer": auth_server(signing, hmac, "keys-v1")})
}

/// Where the pods of a remote proxy have certificate authorities of a ConfigMap.
fn bundle(volume: &str, folder: &str) -> Places {
    let mount = format!("containers[toolhive].volumeMounts[{folder}]");
    REMOTE_PROXY.places([&format!("volumes[{volume}]"), &mount])
}

#[tokio::test]
async fn s4_11_s4_01_s4_02_another_secret_or_bundle_of_a_remote_proxy_reaches_its_pods() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for map in ["ca-v1", "ca-v2"] {
            config_map(&space, map, json!({"ca.crt": map})).await?;
        }
        for name in ["keys-v1", "keys-v2"] {
            secret(&space, name, json!({"signing": name, "hmac": name, "client": name})).await?;
        }
        stage.settle("MCPOIDCConfig", "oidc", oidc("ca-v1", "ca.crt")).await?;
        stage.settle("MCPTelemetryConfig", "otel", telemetry("ca-v1")).await?;
        stage.settle("MCPExternalAuthConfig", "auth", settings("keys-v1", "keys-v1")).await?;
        let url = "https://s.example.com";
        let header = json!([{"headerName": "X-Key", "valueSecretRef": {"name": "keys-v1", "key": "client"}}]);
        let spec = json!({
            "remoteUrl": "https://mcp.example.com",
            "oidcConfigRef": {"name": "oidc", "audience": url, "resourceUrl": url},
            "telemetryConfigRef": {"name": "otel"},
            "authServerRef": {"kind": "MCPExternalAuthConfig", "name": "auth"},
            "headerForward": {"addHeadersFromSecret": header},
        });
        let made = stage.settle(REMOTE_PROXY.kind, "s", spec).await?;
        assert_eq!(made.data["status"]["phase"], "Pending", "{:#}", made.data["status"]);

        let edit = |kind: &'static str, name: &'static str, spec: Value| {
            stage.shift(&REMOTE_PROXY, stage.edit(kind, name, spec))
        };
        let changed = edit("MCPExternalAuthConfig", "auth", settings("keys-v2", "keys-v1")).await?;
        assert_eq!(changed, REMOTE_PROXY.places(["volumes[authserver-signing-key-0].secret.secretName"]));
        let changed = edit("MCPExternalAuthConfig", "auth", settings("keys-v2", "keys-v2")).await?;
        assert_eq!(changed, REMOTE_PROXY.places(["volumes[authserver-hmac-secret-0].secret.secretName"]));
        let changed = edit("MCPOIDCConfig", "oidc", oidc("ca-v2", "ca.crt")).await?;
        let expected = in_config([
            "oidc_config.CACertPath",
            "thv_ca_bundle",
            "middleware_configs[auth].parameters.oidc_config.CACertPath",
        ]);
        let mounts = ["ca-v1", "ca-v2"]
            .map(|map| bundle(&format!("oidc-ca-bundle-{map}"), &format!("/config/certs/{map}")));
        assert_eq!(changed, all([expected, all(mounts)]));
        let changed = edit("MCPTelemetryConfig", "otel", telemetry("ca-v2")).await?;
        let expected = in_config([
            "telemetry_config.caCertPath",
            "middleware_configs[telemetry].parameters.config.caCertPath",
        ]);
        let mounts = ["ca-v1", "ca-v2"]
            .map(|map| bundle(&format!("otel-ca-bundle-{map}"), &format!("/config/certs/otel/{map}")));
        assert_eq!(changed, all([expected, all(mounts)]));
        let header = json!([{"headerName": "X-Key", "valueSecretRef": {"name": "keys-v2", "key": "client"}}]);
        let changed =
            stage.change(&REMOTE_PROXY, json!({"headerForward": {"addHeadersFromSecret": header}})).await?;
        let variable = "env[TOOLHIVE_SECRET_HEADER_FORWARD_X_KEY_S].valueFrom.secretKeyRef.name";
        assert_eq!(changed, REMOTE_PROXY.in_container([variable]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_02_s4_07_the_token_of_an_embedding_server_comes_changes_and_goes_with_its_reference() {
    in_namespace(async |space| {
        let stage = with_fields(&space, &EMBEDDING_SERVER, &json!({})).await?;
        let token = |name: &str| json!({"hfTokenSecretRef": {"name": name, "key": "token"}});
        let variable = || EMBEDDING_SERVER.in_container(["env[HF_TOKEN]"]);
        assert_eq!(stage.change(&EMBEDDING_SERVER, token("v1")).await?, variable());
        let name = EMBEDDING_SERVER.in_container(["env[HF_TOKEN].valueFrom.secretKeyRef.name"]);
        assert_eq!(stage.change(&EMBEDDING_SERVER, token("v2")).await?, name);
        assert_eq!(stage.change(&EMBEDDING_SERVER, json!({"hfTokenSecretRef": null})).await?, variable());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_02_s4_03_s4_07_volumes_of_a_registry_come_change_and_go_with_its_spec() {
    in_namespace(async |space| {
        let stage = with_fields(&space, &REGISTRY, &json!({})).await?;
        let pgpass = |name: &str, key: &str| json!({"pgpassSecretRef": {"name": name, "key": key}});
        stage.change(&REGISTRY, pgpass("v1", "k")).await?;
        let changed = stage.change(&REGISTRY, pgpass("v2", "k")).await?;
        assert_eq!(changed, REGISTRY.places(["volumes[pgpass-secret].secret.secretName"]));
        let changed = stage.change(&REGISTRY, pgpass("v2", "l")).await?;
        let items = ["volumes[pgpass-secret].secret.items[k]", "volumes[pgpass-secret].secret.items[l]"];
        assert_eq!(changed, REGISTRY.places(items));

        let volume = |source: Value, mount: &str| {
            json!({
                "volumes": [super::with(json!({"name": "data"}), &source)],
                "volumeMounts": [{"name": "data", "mountPath": mount}],
            })
        };
        let changed = stage.change(&REGISTRY, volume(json!({"configMap": {"name": "a"}}), "/data")).await?;
        let mount = REGISTRY.in_container(["volumeMounts[/data]"]);
        assert_eq!(changed, all([REGISTRY.places(["volumes[data]"]), mount]));
        let changed = stage.change(&REGISTRY, volume(json!({"configMap": {"name": "b"}}), "/data")).await?;
        assert_eq!(changed, REGISTRY.places(["volumes[data].configMap.name"]));
        let changed = stage.change(&REGISTRY, volume(json!({"configMap": {"name": "b"}}), "/other")).await?;
        assert_eq!(changed, REGISTRY.in_container(["volumeMounts[/data]", "volumeMounts[/other]"]));

        let none = json!({"volumes": null, "volumeMounts": null, "pgpassSecretRef": null});
        let changed = stage.change(&REGISTRY, none).await?;
        let expected = REGISTRY.places([
            "initContainers",
            "volumes[data]",
            "volumes[pgpass-secret]",
            "volumes[pgpass]",
            "containers[registry-api].env",
            "containers[registry-api].volumeMounts[/home/appuser/.pgpass]",
            "containers[registry-api].volumeMounts[/other]",
        ]);
        assert_eq!(changed, expected);
        Ok(())
    })
    .await;
}
