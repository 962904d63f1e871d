//! Volumes, mounts, pull secrets and pod patches: whatever is rendered is kept that way.

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::{Value, json};
use thv_api::kinds::{MCPOIDCConfigSpec, MCPTelemetryConfigSpec, MCPWebhookConfigSpec};
use thv_testbed::{Exchange, Pattern, Space, Verb, in_namespace};

use super::Operator;
use super::difference::{Places, places};
use super::rollout::{config, config_map, edited, patch, reconfigured, secret};

fn oidc(map: &str, key: &str) -> Value {
    let bundle = json!({"configMapRef": {"name": map, "key": key}});
    json!({"type": "inline", "inline": {"issuer": "https://login.example", "caBundleRef": bundle}})
}

fn telemetry(map: &str) -> Value {
    json!({"openTelemetry": {
        "enabled": true, "endpoint": "otel:4318", "tracing": {"enabled": true},
        "caBundleRef": {"configMapRef": {"name": map, "key": "ca.crt"}},
    }})
}

fn webhooks(hmac: &str, hmac_key: &str, ca: &str) -> Value {
    json!({"validating": [{
        "name": "w", "url": "https://hook.example",
        "hmacSecretRef": {"name": hmac, "key": hmac_key},
        "tlsConfig": {"caSecretRef": {"name": ca, "key": "ca.crt"}},
    }]})
}

/// A server with a volume of every source that there can be, and everything that they come from.
async fn everything(space: &Space) -> Result<Operator> {
    let operator = Operator::start(space).await?;
    for map in ["ca-v1", "ca-v2"] {
        config_map(space, map, json!({"ca.crt": map, "other.crt": map})).await?;
    }
    for map in ["profiles-v1", "profiles-v2"] {
        config_map(space, map, json!({"profile.json": "{}", "other.json": "{}"})).await?;
    }
    for name in ["hook-v1", "hook-v2"] {
        secret(space, name, json!({"hmac": name, "other": name, "ca.crt": name})).await?;
    }
    config::<MCPOIDCConfigSpec>(space, "oidc", oidc("ca-v1", "ca.crt")).await?;
    config::<MCPTelemetryConfigSpec>(space, "otel", telemetry("ca-v1")).await?;
    config::<MCPWebhookConfigSpec>(space, "hooks", webhooks("hook-v1", "hmac", "hook-v1")).await?;
    let spec = json!({
        "image": "localhost/server:1", "transport": "streamable-http",
        "oidcConfigRef": {"name": "oidc", "audience": "s"},
        "telemetryConfigRef": {"name": "otel"},
        "webhookConfigRef": {"name": "hooks"},
        "permissionProfile": {"type": "configmap", "name": "profiles-v1", "key": "profile.json"},
        "volumes": [volume("/srv/data", "/data", true)],
        "resourceOverrides": {"proxyDeployment": {"imagePullSecrets": [{"name": "pull-v1"}]}},
        "podTemplateSpec": backend_volume("a"),
    });
    operator.server("s", spec).await?;
    Ok(operator)
}

fn volume(host_path: &str, mount_path: &str, read_only: bool) -> Value {
    json!({"name": "data", "hostPath": host_path, "mountPath": mount_path, "readOnly": read_only})
}

/// A volume of the user's for the backend, which is mounted in the container of the server.
fn backend_volume(map: &str) -> Value {
    json!({"spec": {
        "volumes": [{"name": "extra", "configMap": {"name": map}}],
        "containers": [{"name": "mcp", "volumeMounts": [{"name": "extra", "mountPath": "/extra"}]}],
    }})
}

/// What a change of something comes to: the places that it changes, with one apply and one rollout.
pub(crate) async fn shift(operator: &Operator, change: impl Future<Output = Result<()>>) -> Result<Places> {
    let (before, rollouts) = (operator.children().await?, operator.rollouts("s").await?);
    let old = operator.deployment("s").await?;
    let mark = operator.recorder.mark();
    change.await?;
    operator.rolled(&old).await?;
    operator.assert_applies(mark, 1);
    assert_eq!(operator.rollouts("s").await?, rollouts + 1);
    Ok(before.changes(&operator.children().await?))
}

/// The same for an edit of the spec.
async fn edit(operator: &Operator, spec: Value) -> Result<Places> {
    shift(operator, async { operator.edit("s", json!({ "spec": spec })).await.map(drop) }).await
}

/// Places in the pod template.
pub(crate) fn in_pods<const N: usize>(all: [&str; N]) -> Places {
    all.iter().map(|place| format!("Deployment/s spec.template.spec.{place}")).collect()
}

/// Places in the configuration.
fn in_config<const N: usize>(all: [&str; N]) -> Places {
    all.iter().map(|place| format!("ConfigMap/s-runconfig data[runconfig.json].{place}")).collect()
}

pub(crate) fn all<const N: usize>(sets: [Places; N]) -> Places {
    sets.into_iter().flatten().collect()
}

/// Where the configuration names the certificate authorities of the identity provider.
fn oidc_places() -> Places {
    let places = ["oidc_config.CACertPath", "thv_ca_bundle"];
    all([in_config(places), in_config(["middleware_configs[auth].parameters.oidc_config.CACertPath"])])
}

/// Where the configuration names a Secret of the webhook.
fn webhook_places(field: &str) -> Places {
    let middleware = "middleware_configs[validating-webhook].parameters.webhooks[w]";
    in_config([&format!("validating_webhooks[w].{field}"), &format!("{middleware}.{field}")])
}

/// Takes the volumes and mounts of webhooks out of `changed`, and tells how many of each there were. Their names hold
/// digests.
fn take_webhook_mounts(changed: &mut Places) -> (usize, usize) {
    let before = changed.clone();
    changed.retain(|place| !place.contains("volumes[whsec-"));
    let volumes = before.len() - changed.len();
    changed.retain(|place| !place.contains("volumeMounts[/etc/toolhive/webhooks/"));
    (volumes, before.len() - changed.len() - volumes)
}

#[tokio::test]
async fn s4_11_s4_02_another_reference_reaches_the_pods() {
    in_namespace(async |space| {
        let operator = everything(&space).await?;

        let changed =
            shift(&operator, config::<MCPOIDCConfigSpec>(&space, "oidc", oidc("ca-v2", "ca.crt"))).await?;
        let expected = in_pods([
            "volumes[oidc-ca-bundle-ca-v1]",
            "volumes[oidc-ca-bundle-ca-v2]",
            "containers[toolhive].volumeMounts[/config/certs/ca-v1]",
            "containers[toolhive].volumeMounts[/config/certs/ca-v2]",
        ]);
        assert_eq!(changed, all([reconfigured([]), oidc_places(), expected]));

        let otel = config::<MCPTelemetryConfigSpec>(&space, "otel", telemetry("ca-v2"));
        let changed = shift(&operator, otel).await?;
        let expected = in_pods([
            "volumes[otel-ca-bundle-ca-v1]",
            "volumes[otel-ca-bundle-ca-v2]",
            "containers[toolhive].volumeMounts[/config/certs/otel/ca-v1]",
            "containers[toolhive].volumeMounts[/config/certs/otel/ca-v2]",
        ]);
        let paths = in_config([
            "telemetry_config.caCertPath",
            "middleware_configs[telemetry].parameters.config.caCertPath",
        ]);
        assert_eq!(changed, all([reconfigured([]), paths, expected]));

        for (hooks, field) in [
            (webhooks("hook-v2", "hmac", "hook-v1"), "hmac_secret_ref"),
            (webhooks("hook-v2", "hmac", "hook-v2"), "tls_config.ca_bundle_path"),
        ] {
            let mut changed =
                shift(&operator, config::<MCPWebhookConfigSpec>(&space, "hooks", hooks)).await?;
            assert_eq!(take_webhook_mounts(&mut changed), (2, 2), "{field}");
            assert_eq!(changed, all([reconfigured([]), webhook_places(field)]));
        }

        let changed = edit(&operator, json!({"permissionProfile": {"name": "profiles-v2"}})).await?;
        assert_eq!(changed, all([edited([]), in_pods(["volumes[permission-profile].configMap.name"])]));

        let pull =
            json!({"resourceOverrides": {"proxyDeployment": {"imagePullSecrets": [{"name": "pull-v2"}]}}});
        let changed = edit(&operator, pull).await?;
        let mut expected = edited([]);
        for secret in ["pull-v1", "pull-v2"] {
            expected.insert(format!("Deployment/s spec.template.spec.imagePullSecrets[{secret}]"));
            expected.insert(format!("ServiceAccount/s-proxy-runner imagePullSecrets[{secret}]"));
            expected.insert(format!("ServiceAccount/s-sa imagePullSecrets[{secret}]"));
        }
        assert_eq!(changed, expected);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_03_a_change_of_one_detail_reaches_the_pods() {
    in_namespace(async |space| {
        let operator = everything(&space).await?;
        let data =
            |host_path, mount_path, read_only| json!({"volumes": [volume(host_path, mount_path, read_only)]});
        // The backend gets the same volumes, by way of the configuration.
        let listed = || in_config(["volumes[0]", "permission_profile.read[0]"]);

        let changed = edit(&operator, data("/srv/other", "/data", true)).await?;
        assert_eq!(changed, all([edited([]), listed(), in_pods(["volumes[data].hostPath.path"])]));
        let changed = edit(&operator, data("/srv/other", "/other", true)).await?;
        let moved = in_pods([
            "containers[toolhive].volumeMounts[/data]",
            "containers[toolhive].volumeMounts[/other]",
        ]);
        assert_eq!(changed, all([edited([]), listed(), moved]));
        let changed = edit(&operator, data("/srv/other", "/other", false)).await?;
        let rights = in_config(["volumes[0]", "permission_profile.read", "permission_profile.write"]);
        let mount = in_pods(["containers[toolhive].volumeMounts[/other].readOnly"]);
        assert_eq!(changed, all([edited([]), rights, mount]));

        let changed =
            shift(&operator, config::<MCPOIDCConfigSpec>(&space, "oidc", oidc("ca-v1", "other.crt"))).await?;
        let items = in_pods([
            "volumes[oidc-ca-bundle-ca-v1].configMap.items[ca.crt]",
            "volumes[oidc-ca-bundle-ca-v1].configMap.items[other.crt]",
        ]);
        assert_eq!(changed, all([reconfigured([]), oidc_places(), items]));
        let hooks = webhooks("hook-v1", "other", "hook-v1");
        let mut changed = shift(&operator, config::<MCPWebhookConfigSpec>(&space, "hooks", hooks)).await?;
        assert_eq!(take_webhook_mounts(&mut changed), (2, 2));
        assert_eq!(changed, all([reconfigured([]), webhook_places("hmac_secret_ref")]));
        let changed = edit(&operator, json!({"permissionProfile": {"key": "other.json"}})).await?;
        assert_eq!(changed, all([edited([]), in_config(["permission_profile_name_or_path"])]));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_04_what_the_api_server_defaults_causes_no_write() {
    in_namespace(async |space| {
        let mut operator = everything(&space).await?;
        operator.assert_fixed("defaults").await?;

        // A container of the user's beside that of the server changes the argument of the proxy once.
        let mut template = backend_volume("a");
        let containers = template["spec"]["containers"].as_array_mut().unwrap();
        containers.insert(0, json!({"name": "first", "image": "localhost/sidecar:1"}));
        let changed = edit(&operator, json!({"podTemplateSpec": template})).await?;
        assert_eq!(changed, edited(["Deployment/s spec.template.spec.containers[toolhive].args[1]"]));
        operator.assert_fixed("sidecar").await
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_06_everything_is_read_once_and_before_the_first_write() {
    in_namespace(async |space| {
        let operator = everything(&space).await?;
        operator.settle("reads").await?;
        let mark = operator.recorder.mark();
        operator.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        let status = Pattern::verb(Verb::Apply).of("mcpservers").named("s").subresource("status");
        let end = operator.recorder.seen(mark, &status).await?.number;
        // The pass ends with the status.
        let log = operator.recorder.since(mark);
        let is_probe = |name: &str| name.contains("probe");
        let is_meant =
            |exchange: &&Exchange| exchange.number <= end && !exchange.name.as_deref().is_some_and(is_probe);
        let pass: Vec<_> = log.iter().filter(is_meant).collect();
        let first_write = pass.iter().find(|exchange| exchange.verb.is_write()).unwrap().number;
        let reads: Vec<_> =
            pass.iter().filter(|exchange| matches!(exchange.verb, Verb::Get | Verb::List)).collect();
        assert!(reads.iter().all(|read| read.number < first_write), "{log}");
        let mut paths: Vec<&str> = reads.iter().map(|read| read.path.as_str()).collect();
        paths.sort_unstable();
        let names: Vec<&str> = paths.iter().map(|path| path.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["ca-v1", "profiles-v1", "hook-v1"], "{log}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_07_what_is_taken_back_vanishes_with_one_update() {
    in_namespace(async |space| {
        let mut operator = everything(&space).await?;
        let changed = edit(&operator, json!({"resourceOverrides": null})).await?;
        let expected = edited([
            "Deployment/s spec.template.spec.imagePullSecrets",
            "ServiceAccount/s-proxy-runner imagePullSecrets",
            "ServiceAccount/s-sa imagePullSecrets",
        ]);
        assert_eq!(changed, expected);
        let changed = edit(&operator, json!({"podTemplateSpec": null})).await?;
        assert_eq!(changed, edited(["Deployment/s spec.template.spec.containers[toolhive].args[1]"]));
        let changed = edit(&operator, json!({"volumes": null})).await?;
        let mount = in_pods(["volumes[data]", "containers[toolhive].volumeMounts[/data]"]);
        assert_eq!(changed, all([edited([]), in_config(["volumes", "permission_profile.read"]), mount]));
        let references = ["oidcConfigRef", "telemetryConfigRef", "webhookConfigRef", "permissionProfile"];
        let none: serde_json::Map<String, Value> =
            references.iter().map(|field| ((*field).to_owned(), Value::Null)).collect();
        let mut changed = edit(&operator, none.into()).await?;
        assert_eq!(take_webhook_mounts(&mut changed), (2, 2));
        let gone = in_pods([
            "volumes[oidc-ca-bundle-ca-v1]",
            "volumes[otel-ca-bundle-ca-v1]",
            "volumes[permission-profile]",
            "containers[toolhive].volumeMounts[/config/certs/ca-v1]",
            "containers[toolhive].volumeMounts[/config/certs/otel/ca-v1]",
            "containers[toolhive].volumeMounts[/etc/toolhive/profiles]",
            "containers[toolhive].env[OTEL_RESOURCE_ATTRIBUTES]",
        ]);
        let on_deployment = |place: &&String| place.starts_with("Deployment");
        let expected = all([edited([]), gone]);
        let (changed, expected) =
            (changed.iter().filter(on_deployment), expected.iter().filter(on_deployment));
        assert_eq!(changed.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        let deployment = crate::fixture::json_of(&operator.deployment("s").await?);
        let pod = &deployment["spec"]["template"]["spec"];
        assert_eq!(pod["volumes"].as_array().unwrap().len(), 1, "{pod}");
        assert_eq!(pod["containers"][0]["volumeMounts"].as_array().unwrap().len(), 1, "{pod}");
        assert_eq!(pod.get("imagePullSecrets"), None);
        operator.assert_fixed("removed").await
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_09_volumes_of_the_users_template_are_covered_as_well() {
    in_namespace(async |space| {
        let operator = everything(&space).await?;
        let args = "Deployment/s spec.template.spec.containers[toolhive].args[1]";
        let patched = async || -> Result<Value> {
            let deployment = crate::fixture::json_of(&operator.deployment("s").await?);
            let argument = deployment["spec"]["template"]["spec"]["containers"][0]["args"][1].clone();
            Ok(serde_json::from_str(argument.as_str().unwrap().strip_prefix("--k8s-pod-patch=").unwrap())?)
        };
        assert_eq!(patched().await?["spec"]["volumes"], backend_volume("a")["spec"]["volumes"]);
        let volumes = [
            json!({"name": "extra", "configMap": {"name": "b"}}),
            json!({"name": "extra", "configMap": {"name": "b", "items": [{"key": "k", "path": "p"}]}}),
            json!({"name": "extra", "emptyDir": {"medium": "Memory"}}),
            json!({"name": "extra", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}),
            json!({"name": "extra", "csi": {"driver": "example.com", "volumeAttributes": {"a": "b"}}}),
        ];
        for volume in volumes {
            let changed =
                edit(&operator, json!({"podTemplateSpec": {"spec": {"volumes": [volume]}}})).await?;
            assert_eq!(changed, edited([args]), "{volume}");
            assert_eq!(patched().await?["spec"]["volumes"], json!([volume]));
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_10_new_content_under_the_same_name_rolls_nothing() {
    in_namespace(async |space| {
        let operator = everything(&space).await?;
        operator.settle("rotation").await?;
        let before = operator.children().await?;
        let mark = operator.recorder.mark();
        patch(&space.api::<Secret>(), "hook-v1", json!({"stringData": {"hmac": "new", "ca.crt": "new"}}))
            .await?;
        patch(&space.api::<ConfigMap>(), "ca-v1", json!({"data": {"ca.crt": "new"}})).await?;
        operator.outlast("rotation").await?;
        let after = operator.children().await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), places([])));
        assert_eq!(operator.rollouts("s").await?, 1);
        let writes = operator.writes(mark);
        assert!(writes.is_empty(), "{writes:?}");
        // The operator has looked at it, and found the same names and keys.
        let reads = Pattern::verb(Verb::Get).of("secrets").named("hook-v1");
        operator.recorder.seen(mark, &reads).await?;
        Ok(())
    })
    .await;
}
