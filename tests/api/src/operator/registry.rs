//! Registries with specs that make no sense.

use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{in_namespace, wait};

use super::Operator;
use super::rules::api_of;
use crate::fixture::apply;

fn manifest(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPRegistry", "metadata": {"name": name},
        "spec": spec,
    })
}

/// Specs that the schema accepts and that make no sense, and what of each is told where.
fn bad() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let config = "sources: []\n";
    let reserved = json!([{"name": "registry-server-config", "emptyDir": {}}]);
    vec![
        ("reserved", json!({"configYAML": config, "volumes": reserved}), "SpecValid", "spec.volumes[0].name"),
        (
            "shapeless",
            json!({"configYAML": config, "volumeMounts": ["data"]}),
            "SpecValid",
            "spec.volumeMounts[0]",
        ),
        (
            "keyless",
            json!({"configYAML": config, "pgpassSecretRef": {"key": ""}}),
            "SpecValid",
            "spec.pgpassSecretRef.name",
        ),
        (
            "no-template",
            json!({"configYAML": config, "podTemplateSpec": {"spec": {"containers": 7}}}),
            "PodTemplateValid",
            "spec.podTemplateSpec.spec.containers",
        ),
        (
            "headless",
            json!({"configYAML": config, "podTemplateSpec": {"spec": {
                "containers": [{"name": "registry-api", "$patch": "delete"}],
            }}}),
            "PodTemplateValid",
            "registry-api",
        ),
    ]
}

fn condition<'a>(registry: &'a DynamicObject, type_: &str) -> &'a Value {
    let mut all = registry.data["status"]["conditions"].as_array().into_iter().flatten();
    all.find(|condition| condition["type"] == type_).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn a_registry_with_a_bad_spec_says_so_and_can_be_deleted_whoever_looked_after_it_before() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let registries = api_of(&space, &manifest("x", &Value::Null));
        for (name, spec, type_, told) in bad() {
            apply(&registries, name, "user", &manifest(name, &spec)).await?;
            let failed = |registry: &DynamicObject| registry.data["status"]["phase"] == "Failed";
            let registry = wait::until(&registries, name, "it has failed", failed).await?;
            let bad = condition(&registry, type_);
            assert_eq!(bad["status"], "False", "{name}: {bad}");
            assert!(bad["message"].as_str().unwrap_or_default().contains(told), "{name}: {bad}");
            assert_eq!(condition(&registry, "Ready")["reason"], "ValidationFailed", "{name}");

            // The Go operator has left a finalizer, and would never take it away.
            let go = PatchParams { field_manager: Some("thv-operator".to_owned()), ..PatchParams::default() };
            let finalizer =
                json!({"metadata": {"finalizers": ["mcpregistry.toolhive.stacklok.dev/finalizer"]}});
            registries.patch(name, &go, &Patch::Merge(&finalizer)).await?;
            registries.delete(name, &DeleteParams::default()).await?;
            wait::gone(&registries, name).await?;
        }
        operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}
