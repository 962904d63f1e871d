//! What can be wrong with a spec by itself, and what to do about it.
//!
//! The schema lets all of this pass, and the API server would refuse the objects that come of it.

use thv_api::kinds::{EmbeddingServerSpec, ModelCache};

use super::overrides;
use crate::invalid::InvalidList;
use crate::proxy::validate;
use crate::quantity::is_amount;
use crate::syntax;

/// Longest name of a server: its StatefulSet puts `<name>-<hash>` into a label.
const MAX_NAME: usize = 52;

/// Everything that is wrong.
pub(super) fn validate(name: &str, spec: &EmbeddingServerSpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    let message = format!(
        "a Service is named after it, so it may have {MAX_NAME} characters at most, and only lower-case letters, digits \
         and hyphens: create the server under another name"
    );
    invalid.unless(syntax::is_dns_label(name, MAX_NAME), "metadata.name", message);
    invalid.required(&spec.model, "spec.model");
    invalid.required(&spec.image, "spec.image");
    if let Some(token) = &spec.hf_token_secret_ref {
        invalid.required(&token.name, "spec.hfTokenSecretRef.name");
        invalid.required(&token.key, "spec.hfTokenSecretRef.key");
    }
    validate::variables("spec.env", spec.env.as_deref().unwrap_or_default(), &mut invalid);
    if let Some(resources) = &spec.resources {
        validate::resources(resources, &mut invalid);
    }
    if let Some(ModelCache { enabled: true, size, storage_class_name: _, access_mode: _ }) = &spec.model_cache
    {
        let message = format!("{size:?} is no amount: write it like 10Gi");
        invalid.unless(is_amount(size), "spec.modelCache.size", message);
    }
    if let Some(all) = &spec.resource_overrides {
        overrides::check(all, &mut invalid);
    }
    invalid
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(fields: Value) -> EmbeddingServerSpec {
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn a_plain_spec_is_fine() {
        assert_eq!(validate("embed", &spec(json!({}))), InvalidList::default());
        let cache = json!({"modelCache": {"enabled": false, "size": "unused"}});
        assert_eq!(validate("embed", &spec(cache)), InvalidList::default());
    }

    #[test]
    fn everything_invalid_of_an_embedding_server_is_told_with_its_place() {
        let overrides = |more| json!({"resourceOverrides": more});
        for (fields, place) in [
            (json!({"model": " "}), "spec.model"),
            (json!({"image": ""}), "spec.image"),
            (json!({"hfTokenSecretRef": {"name": "", "key": "k"}}), "spec.hfTokenSecretRef.name"),
            (json!({"env": [{"name": "A=B", "value": "x"}]}), "spec.env"),
            (json!({"resources": {"limits": {"cpu": "lots"}}}), "spec.resources.limits.cpu"),
            (json!({"modelCache": {"size": "big"}}), "spec.modelCache.size"),
            (
                overrides(json!({"statefulSet": {"labels": {"a": "b c"}}})),
                "spec.resourceOverrides.statefulSet.labels",
            ),
            (
                overrides(json!({"statefulSet": {"annotations": {"a b": "c"}}})),
                "spec.resourceOverrides.statefulSet.annotations",
            ),
            (
                overrides(json!({"statefulSet": {"podTemplateMetadataOverrides": {"labels": {"-": "x"}}}})),
                "spec.resourceOverrides.statefulSet.podTemplateMetadataOverrides.labels",
            ),
            (overrides(json!({"service": {"labels": {"": "x"}}})), "spec.resourceOverrides.service.labels"),
            (
                overrides(json!({"persistentVolumeClaim": {"annotations": {"": "x"}}})),
                "spec.resourceOverrides.persistentVolumeClaim.annotations",
            ),
        ] {
            let invalid = validate("embed", &spec(fields));
            assert!(invalid.len() == 1 && invalid[0].path == place, "{place}: {invalid:?}");
        }
        for name in ["a.b".to_owned(), "a".repeat(53)] {
            assert_eq!(validate(&name, &spec(json!({}))).len(), 1, "{name}");
        }
    }
}
