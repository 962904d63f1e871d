//! Pod templates that users write: `spec.podTemplateSpec`.
//!
//! What the user wrote stays JSON. Reading it into a type and writing it again would lose the fields that the type
//! does not know and the directives of a merge patch.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde_json::Value;
use thv_api::value::RawObject;

use crate::invalid::Invalid;

/// The field with the user's template.
pub(crate) const FIELD: &str = "spec.podTemplateSpec";

/// What keeps a template from being one.
pub(crate) fn validate(template: &RawObject) -> Result<(), Invalid> {
    let value = Value::Object(template.0.clone());
    serde_path_to_error::deserialize::<_, PodTemplateSpec>(&value).map(drop).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { FIELD.to_owned() } else { format!("{FIELD}.{path}") };
        Invalid::new(place, error.inner().to_string())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: Value) -> RawObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn unknown_fields_and_directives_of_a_merge_patch_are_fine() {
        let template = json!({
            "spec": {
                "futureField": {"x": [1, null]},
                "containers": [{"name": "mcp", "env": [{"$patch": "replace"}]}, {"name": "old", "$patch": "delete"}],
                "$setElementOrder/containers": [{"name": "mcp"}],
            },
        });
        assert_eq!(validate(&raw(template)), Ok(()));
    }

    #[test]
    fn a_wrong_type_is_told_with_its_place() {
        for (template, place) in [
            (json!({"spec": {"containers": {}}}), "spec.podTemplateSpec.spec.containers"),
            (json!({"spec": {"containers": [{"name": 7}]}}), "spec.podTemplateSpec.spec.containers[0].name"),
            (json!({"spec": {"nodeSelector": {"a": 1}}}), "spec.podTemplateSpec.spec.nodeSelector.a"),
            (json!({"metadata": "x"}), "spec.podTemplateSpec.metadata"),
        ] {
            let error = validate(&raw(template)).unwrap_err();
            assert_eq!(error.path, place, "{error}");
        }
        let quantity =
            json!({"spec": {"containers": [{"name": "mcp", "resources": {"limits": {"cpu": 1}}}]}});
        assert_eq!(validate(&raw(quantity)), Ok(()), "a number is a quantity too");
    }
}
