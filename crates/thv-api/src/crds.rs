//! The custom resource definitions.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceStatus,
    CustomResourceSubresources, CustomResourceValidation,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::kinds::{
    EmbeddingServerSpec, MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec,
    MCPRegistrySpec, MCPRemoteProxySpec, MCPServerEntrySpec, MCPServerSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec, VirtualMCPCompositeToolDefinitionSpec, VirtualMCPServerSpec,
};
use crate::names::{CATEGORY, GROUP, labels};
use crate::object::{Column, Kind, Served};
use crate::schema::{props, schema_of};

/// Calls a function for every kind, ordered by the name of the definition.
macro_rules! for_every_kind {
    ($function:ident) => {
        [
            $function::<EmbeddingServerSpec>(),
            $function::<MCPAuthzConfigSpec>(),
            $function::<MCPExternalAuthConfigSpec>(),
            $function::<MCPGroupSpec>(),
            $function::<MCPOIDCConfigSpec>(),
            $function::<MCPRegistrySpec>(),
            $function::<MCPRemoteProxySpec>(),
            $function::<MCPServerEntrySpec>(),
            $function::<MCPServerSpec>(),
            $function::<MCPTelemetryConfigSpec>(),
            $function::<MCPToolConfigSpec>(),
            $function::<MCPWebhookConfigSpec>(),
            $function::<VirtualMCPCompositeToolDefinitionSpec>(),
            $function::<VirtualMCPServerSpec>(),
        ]
    };
}

/// The definitions of all kinds, ordered by name. The same on every call.
pub fn crds() -> Vec<CustomResourceDefinition> {
    for_every_kind!(crd).into()
}

/// The definition of one kind.
pub fn crd<S: Kind>() -> CustomResourceDefinition {
    let schema = root_schema::<S>();
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: Some(format!("{}.{GROUP}", S::PLURAL)),
            labels: Some([(labels::AUTO_MIGRATE_STORAGE_VERSION.to_owned(), "true".to_owned())].into()),
            ..ObjectMeta::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: GROUP.to_owned(),
            names: CustomResourceDefinitionNames {
                categories: Some(vec![CATEGORY.to_owned()]),
                kind: S::KIND.to_owned(),
                list_kind: Some(format!("{}List", S::KIND)),
                plural: S::PLURAL.to_owned(),
                short_names: Some(S::SHORT_NAMES.iter().map(|name| (*name).to_owned()).collect()),
                singular: Some(S::SINGULAR.to_owned()),
            },
            scope: "Namespaced".to_owned(),
            versions: S::VERSIONS.iter().map(|served| version::<S>(served, schema.clone())).collect(),
            ..CustomResourceDefinitionSpec::default()
        },
        status: None,
    }
}

fn version<S: Kind>(served: &Served, schema: Value) -> CustomResourceDefinitionVersion {
    CustomResourceDefinitionVersion {
        name: served.version.as_str().to_owned(),
        served: true,
        storage: served.version == S::STORAGE,
        deprecated: served.deprecation.map(|_| true),
        deprecation_warning: served.deprecation.map(str::to_owned),
        additional_printer_columns: Some(S::COLUMNS.iter().map(column).collect()),
        schema: Some(CustomResourceValidation { open_api_v3_schema: Some(props(schema)) }),
        selectable_fields: None,
        subresources: Some(CustomResourceSubresources {
            scale: None,
            status: Some(CustomResourceSubresourceStatus(json!({}))),
        }),
    }
}

fn column(column: &Column) -> CustomResourceColumnDefinition {
    CustomResourceColumnDefinition {
        name: column.name.to_owned(),
        type_: column.type_.to_owned(),
        json_path: column.path.to_owned(),
        priority: column.is_wide.then_some(1),
        ..CustomResourceColumnDefinition::default()
    }
}

fn root_schema<S: Kind>() -> Value {
    let mut spec = schema_of::<S>();
    let mut status = schema_of::<S::Status>();
    // Here the reader wants to know what the field is for, not what the Rust type is.
    for (schema, description) in [(&mut spec, "What you want."), (&mut status, "What is there.")] {
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), description.into());
        }
    }
    json!({
        "type": "object",
        "description": S::DESCRIPTION,
        "properties": {
            "apiVersion": { "type": "string", "description": "The API group and version of this object." },
            "kind": { "type": "string", "description": "The kind of this object." },
            "metadata": { "type": "object" },
            "spec": spec,
            "status": status,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_keyword_is_lost_on_the_way_to_the_api_type() {
        fn check<S: Kind>() {
            let schema = root_schema::<S>();
            let typed = serde_json::to_value(props(schema.clone())).unwrap();
            assert_eq!(integers(typed), integers(schema), "{}", S::KIND);
        }
        /// Bounds are floating point numbers in the API type.
        fn integers(value: Value) -> Value {
            match value {
                Value::Number(number) => number.as_f64().into(),
                Value::Array(items) => items.into_iter().map(integers).collect(),
                Value::Object(fields) => {
                    fields.into_iter().map(|(key, value)| (key, integers(value))).collect()
                }
                other => other,
            }
        }
        for_every_kind!(check);
    }

    #[test]
    fn there_is_one_definition_for_every_kind() {
        let names: Vec<Option<String>> = crds().into_iter().map(|crd| crd.metadata.name).collect();
        assert_eq!(names.len(), 14);
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(crds(), crds());
    }

    #[test]
    fn every_definition_stores_exactly_one_version() {
        for crd in crds() {
            let stored = crd.spec.versions.iter().filter(|version| version.storage).count();
            assert_eq!(stored, 1, "{:?}", crd.metadata.name);
        }
    }

    #[test]
    fn every_field_says_what_it_is_for() {
        fn check(path: &str, schema: &Value) {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let path = format!("{path}.{name}");
                let described = property["description"].as_str().is_some_and(|text| !text.is_empty());
                assert!(described || name == "metadata", "{path} has no description");
                check(&path, property);
            }
            for inner in [schema.get("items"), schema.get("additionalProperties")].into_iter().flatten() {
                check(&format!("{path}[]"), inner);
            }
        }
        for crd in crds() {
            for version in &crd.spec.versions {
                check(
                    &crd.spec.names.kind,
                    &serde_json::to_value(&version.schema).unwrap()["openAPIV3Schema"],
                );
            }
        }
    }

    /// What rules can say beyond this came with later versions of Kubernetes than the lowest that CONTRIBUTING names.
    #[test]
    fn rules_use_only_what_the_lowest_version_of_kubernetes_knows() {
        fn check(schema: &Value) -> usize {
            let rules = schema["x-kubernetes-validations"].as_array().map(Vec::as_slice).unwrap_or_default();
            for rule in rules {
                let keys: Vec<&str> = rule.as_object().unwrap().keys().map(String::as_str).collect();
                assert_eq!(keys, ["message", "rule"], "{rule}");
            }
            let inner = schema.as_object().into_iter().flatten().map(|(_, value)| value);
            let items = schema.as_array().into_iter().flatten();
            rules.len() + inner.chain(items).map(check).sum::<usize>()
        }
        let count: usize = crds().iter().map(|crd| check(&serde_json::to_value(crd).unwrap())).sum();
        assert!(count > 0);
    }
}
