//! What can be wrong with a spec by itself, and what to do about it.
//!
//! The schema lets all of this pass, and the API server would refuse the objects that come of it. The configuration is not
//! looked at: it is the registry server's.

use thv_api::kinds::MCPRegistrySpec;

use super::volumes;
use crate::invalid::InvalidList;
use crate::syntax;

/// Longest name of a registry: `<name>-registry-api` is the value of a label.
const MAX_NAME: usize = 50;

/// Everything that is wrong.
pub(super) fn validate(name: &str, spec: &MCPRegistrySpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    let message = format!(
        "a Service is named after it, so it may have {MAX_NAME} characters at most, and only lower-case letters, digits \
         and hyphens: create the registry under another name"
    );
    invalid.unless(syntax::is_dns_label(name, MAX_NAME), "metadata.name", message);
    invalid.required(&spec.config_yaml, "spec.configYAML");
    if let Some(pgpass) = &spec.pgpass_secret_ref {
        invalid.required(&pgpass.name, "spec.pgpassSecretRef.name");
        invalid.required(&pgpass.key, "spec.pgpassSecretRef.key");
    }
    volumes::check(name, spec, &mut invalid);
    invalid
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validated(fields: Value) -> InvalidList {
        let mut spec = json!({"configYAML": "sources: []"});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        validate("reg", &serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn a_plain_spec_is_fine() {
        assert_eq!(validated(json!({})), InvalidList::default());
        let fine = json!({
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "pgpass", "futureSource": {"x": 1}}],
            "volumeMounts": [
                {"name": "data", "mountPath": "/data"},
                {"name": "data", "mountPath": "/more"},
                {"name": "pgpass", "mountPath": "/home/appuser/.pgpass"},
            ],
        });
        assert_eq!(validated(fine), InvalidList::default(), "names are reserved where they are used");
    }

    #[test]
    fn everything_invalid_of_a_registry_is_told_with_its_place() {
        let pgpass = json!({"name": "pg", "key": "pgpass"});
        for (fields, place) in [
            (json!({"configYAML": " "}), "spec.configYAML"),
            (json!({"pgpassSecretRef": {"key": "k"}}), "spec.pgpassSecretRef.name"),
            (json!({"pgpassSecretRef": {"name": "pg", "key": ""}}), "spec.pgpassSecretRef.key"),
            (json!({"volumes": [{"name": "registry-server-config"}]}), "spec.volumes[0].name"),
            (json!({"volumes": [{"name": "a"}, {"name": "a"}]}), "spec.volumes[1].name"),
            (json!({"volumes": [{"name": "pgpass"}], "pgpassSecretRef": pgpass}), "spec.volumes[0].name"),
            (json!({"volumes": [{"name": 7}]}), "spec.volumes[0].name"),
            (json!({"volumes": ["data"]}), "spec.volumes[0]"),
            (
                json!({"volumes": [{"name": "a", "configMap": {"items": {}}}]}),
                "spec.volumes[0].configMap.items",
            ),
            (
                json!({"volumeMounts": [{"name": "a", "mountPath": "/config/"}]}),
                "spec.volumeMounts[0].mountPath",
            ),
            (
                json!({
                    "volumeMounts": [{"name": "a", "mountPath": "/home/appuser/.pgpass"}],
                    "pgpassSecretRef": pgpass,
                }),
                "spec.volumeMounts[0].mountPath",
            ),
        ] {
            let invalid = validated(fields);
            assert!(invalid.len() == 1 && invalid[0].path == place, "{place}: {invalid:?}");
        }
    }
}
