//! CRDs, as far as the migrator looks at them.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde::Deserialize;
use thv_api::names::{GROUP, labels};
use thv_api::{lenient_metadata, part_of};

part_of!(Definition, CustomResourceDefinition);

/// A CRD without its schemas, which are most of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Definition {
    #[serde(deserialize_with = "lenient_metadata")]
    metadata: ObjectMeta,
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Debug, Deserialize)]
struct Spec {
    group: String,
    names: Names,
    versions: Vec<Version>,
}

#[derive(Clone, Debug, Deserialize)]
struct Names {
    kind: String,
    plural: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Version {
    name: String,
    storage: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    stored_versions: Vec<String>,
}

/// A kind with objects that may be stored in a former version.
#[derive(Clone, Debug)]
pub(super) struct Migration {
    /// The name of its CRD.
    pub crd: String,
    /// The uid of its CRD.
    pub uid: String,
    /// Moves with every change of the CRD's spec, and with nothing else.
    pub generation: i64,
    /// The version of the CRD that was read before any object was listed.
    pub resource_version: String,
    /// The kind, in its storage version.
    pub resource: ApiResource,
    /// The versions that objects may be stored in and are to be stored in no longer.
    pub former: Vec<String>,
}

impl Definition {
    /// What there is to migrate, if anything.
    pub(super) fn into_migration(self) -> Option<Migration> {
        let Self { metadata, spec, status } = self;
        let Spec { group, names, versions } = spec;
        let crd = metadata.name?;
        let label = metadata.labels.unwrap_or_default().remove(labels::AUTO_MIGRATE_STORAGE_VERSION);
        let is_opted_in = group == GROUP && has_suffix(&crd) && label.as_deref() == Some("true");
        if !is_opted_in || metadata.deletion_timestamp.is_some() {
            return None;
        }
        let storage = versions.into_iter().find(|version| version.storage)?.name;
        if status.stored_versions == [storage.as_str()] {
            return None;
        }
        let former = status.stored_versions.into_iter().filter(|version| *version != storage).collect();
        let kind = GroupVersionKind::gvk(&group, &storage, &names.kind);
        Some(Migration {
            crd,
            uid: metadata.uid?,
            generation: metadata.generation.unwrap_or_default(),
            resource_version: metadata.resource_version?,
            resource: ApiResource::from_gvk_with_plural(&kind, &names.plural),
            former,
        })
    }
}

impl Migration {
    /// The version that objects are to be stored in.
    pub(super) fn storage(&self) -> &str {
        &self.resource.version
    }
}

/// Whether the CRD of this name defines a kind of our API.
pub(super) fn has_suffix(crd: &str) -> bool {
    crd.strip_suffix(GROUP).is_some_and(|plural| plural.ends_with('.'))
}

/// A CRD, as events refer to it.
pub(super) fn reference(crd: &str, uid: Option<&str>) -> ObjectReference {
    ObjectReference {
        api_version: Some(CustomResourceDefinition::api_version(&()).into_owned()),
        kind: Some(super::KIND.to_owned()),
        name: Some(crd.to_owned()),
        uid: uid.map(str::to_owned),
        ..ObjectReference::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A CRD that is due for migration, with this on top.
    fn migration(change: impl FnOnce(&mut Value)) -> Option<Migration> {
        let mut crd = json!({
            "metadata": {
                "name": "relics.toolhive.stacklok.dev", "uid": "u", "resourceVersion": "7", "generation": 2,
                "labels": {"toolhive.stacklok.dev/auto-migrate-storage-version": "true"},
            },
            "spec": {
                "group": "toolhive.stacklok.dev", "scope": "Namespaced",
                "names": {"kind": "Relic", "plural": "relics", "listKind": "RelicList"},
                "versions": [
                    {"name": "v1alpha1", "served": true, "storage": false, "schema": {}},
                    {"name": "v1beta1", "served": true, "storage": true, "schema": {}},
                ],
            },
            "status": {"storedVersions": ["v1alpha1", "v1beta1"]},
        });
        change(&mut crd);
        serde_json::from_value::<Definition>(crd).unwrap().into_migration()
    }

    #[test]
    fn a_kind_that_may_be_stored_in_a_former_version_is_migrated() {
        let migration = migration(|_| ()).unwrap();
        assert_eq!(migration.storage(), "v1beta1");
        assert_eq!(migration.former, ["v1alpha1"]);
        assert_eq!(migration.resource.plural, "relics");
        assert_eq!((migration.generation, migration.resource_version.as_str()), (2, "7"));
    }

    #[test]
    fn a_kind_that_is_migrated_has_not_opted_in_or_is_not_ours_is_left_alone() {
        let changes: [fn(&mut Value); 6] = [
            |crd| crd["status"]["storedVersions"] = json!(["v1beta1"]),
            |crd| crd["metadata"]["labels"] = json!({}),
            |crd| {
                crd["metadata"]["labels"]["toolhive.stacklok.dev/auto-migrate-storage-version"] =
                    json!("yes");
            },
            |crd| crd["metadata"]["name"] = json!("relics.nottoolhive.stacklok.dev"),
            |crd| crd["spec"]["group"] = json!("example.com"),
            |crd| crd["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(migration(change).is_none(), "{number}");
        }
    }

    #[test]
    fn a_version_that_is_not_stored_any_more_but_listed_is_trimmed_as_well() {
        let migration = migration(|crd| crd["status"]["storedVersions"] = json!(["v1alpha1"])).unwrap();
        assert_eq!(migration.former, ["v1alpha1"]);
    }
}
