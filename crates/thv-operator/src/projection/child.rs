//! What is kept of children.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::Value;
use thv_plan::{Child, Controller, LiveDeployment, LiveStatefulSet, digest};

use super::metadata::{Writer, controller, our_controller, owner_relation};
use super::partial::MetadataOnly;
use crate::cache::Projection;
use crate::takeover::{self, Part};

/// Facts about an object that is a child of ours, or could become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChildFacts {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
    generation: i64,
    /// Who controls it, of whatever kind.
    pub controller: Option<Box<Controller>>,
    labels: Box<[(Box<str>, Box<str>)]>,
    annotations: Box<[(Box<str>, Box<str>)]>,
    owners: Box<str>,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// Who has written it.
    pub(crate) writer: Writer,
    /// Whether fields of the Go operator have to be taken over before we apply.
    pub needs_takeover: bool,
    /// More about it, if it is a workload.
    pub workload: Option<Box<Workload>>,
}

/// What a plan may want to know of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// A Deployment.
    Deployment(LiveDeployment),
    /// A StatefulSet.
    StatefulSet(LiveStatefulSet),
}

/// What an object that has the name of a child is to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belonging {
    /// The child.
    Child,
    /// A child that has lost its owner, or never had one: it becomes the child when it is applied.
    Orphan,
    /// The child of an earlier object of the owner's kind and name. The garbage collector takes it.
    Leftover,
    /// Somebody else's.
    Foreign,
}

impl ChildFacts {
    /// Reads them off an object's metadata; nothing if the object can be no child of ours: nobody of our group controls
    /// it, and no program of ours has written it.
    pub(crate) fn read(metadata: &ObjectMeta) -> Option<Self> {
        let writer = Writer::of(metadata);
        if our_controller(metadata).is_none() && writer == Writer::Other {
            return None;
        }
        let owners: Vec<_> = metadata.owner_references.iter().flatten().map(owner_text).collect();
        Some(Self {
            uid: metadata.uid.clone()?,
            resource_version: metadata.resource_version.clone()?,
            generation: metadata.generation.unwrap_or_default(),
            controller: controller(metadata).map(Box::new),
            labels: pairs(metadata.labels.as_ref()),
            annotations: pairs(metadata.annotations.as_ref()),
            owners: owners.join("\n").into(),
            is_terminating: metadata.deletion_timestamp.is_some(),
            writer,
            needs_takeover: takeover::is_due(metadata, Part::Main),
            workload: None,
        })
    }

    /// Whether the object with this uid controls it.
    pub(crate) fn is_controlled_by(&self, uid: &str) -> bool {
        self.controller.as_ref().is_some_and(|controller| controller.uid == uid)
    }

    /// What it is to an owner that wants `child`.
    pub(crate) fn belonging(
        &self,
        child: &Child,
        owner_kind: &str,
        owner_name: &str,
        owner_uid: &str,
    ) -> Belonging {
        match self.controller.as_deref() {
            Some(Controller { uid, .. }) if uid == owner_uid => Belonging::Child,
            Some(Controller { kind, name, .. }) if kind == owner_kind && name == owner_name => {
                Belonging::Leftover
            }
            None if self.writer.is_operator() && self.is_identified(child) => Belonging::Orphan,
            Some(_) | None => Belonging::Foreign,
        }
    }

    /// Whether it has the labels by which the child is known.
    fn is_identified(&self, child: &Child) -> bool {
        let has = |(key, value): (&String, &String)| {
            self.labels.iter().any(|(name, live)| **name == **key && **live == **value)
        };
        !child.identity().is_empty() && child.identity().iter().all(has)
    }

    /// What would be different if anybody had edited what we own of `child`: for kinds that count the changes of
    /// their spec, that count and the metadata that we own; for the others, any change at all.
    pub(crate) fn fingerprint(&self, child: &Child) -> String {
        if !child.kind().has_generation() {
            return format!("{} {}", self.uid, self.resource_version);
        }
        let owned = |field: &str, live: &[(Box<str>, Box<str>)]| -> Vec<Value> {
            let wanted = child.body().pointer(&format!("/metadata/{field}")).and_then(Value::as_object);
            let keys = wanted.into_iter().flat_map(|wanted| wanted.keys());
            keys.map(|key| {
                let value = live.iter().find(|(name, _)| **name == **key).map(|(_, value)| &**value);
                Value::from(value)
            })
            .collect()
        };
        digest(&serde_json::json!([
            self.uid,
            self.generation,
            owned("labels", &self.labels),
            owned("annotations", &self.annotations),
            self.owners,
        ]))
    }
}

/// What is kept of a child that has nothing of interest but metadata.
pub(crate) fn project<K>(object: MetadataOnly<K>) -> Option<Projection<ChildFacts>> {
    projection(&object.metadata, None)
}

/// What is kept of a child with this metadata.
pub(super) fn projection(
    metadata: &ObjectMeta,
    workload: Option<Workload>,
) -> Option<Projection<ChildFacts>> {
    let facts = ChildFacts::read(metadata)?;
    let value = ChildFacts { workload: workload.map(Box::new), ..facts };
    let relations = owner_relation(metadata).into_iter().collect();
    Some(Projection { value, relations, definition: None })
}

fn owner_text(owner: &OwnerReference) -> String {
    format!("{} {} {} {}", owner.kind, owner.name, owner.uid, owner.controller.unwrap_or_default())
}

fn pairs(map: Option<&std::collections::BTreeMap<String, String>>) -> Box<[(Box<str>, Box<str>)]> {
    // Of long values, such as copies of whole objects, it is enough to know whether they have changed.
    const LONGEST: usize = 128;
    let keep = |value: &String| {
        if value.len() <= LONGEST {
            value.as_str().into()
        } else {
            digest(&Value::from(value.as_str())).into()
        }
    };
    map.into_iter().flatten().map(|(key, value)| (key.as_str().into(), keep(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use thv_plan::ChildKind;

    use super::*;

    fn facts(manager: &str, label: &str, controller: Option<(&str, &str, &str)>) -> Option<ChildFacts> {
        let owners: Vec<Value> = controller
            .iter()
            .map(|(kind, name, uid)| {
                let version =
                    if *kind == "Other" { "example.com/v1" } else { "toolhive.stacklok.dev/v1beta1" };
                json!({"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true})
            })
            .collect();
        let metadata = json!({
            "uid": "c", "resourceVersion": "1", "labels": {"of": label, "more": "x"},
            "ownerReferences": owners, "managedFields": [{"manager": manager, "operation": "Apply"}],
        });
        ChildFacts::read(&serde_json::from_value(metadata).unwrap())
    }

    #[test]
    fn a_child_is_known_by_uid_and_an_orphan_by_writer_and_labels() {
        let child = Child::new(ChildKind::ConfigMap, "c", json!({}))
            .identified_by(BTreeMap::from([("of".to_owned(), "s".to_owned())]));
        let belonging = |manager, label, controller| {
            facts(manager, label, controller).map(|facts| facts.belonging(&child, "MCPServer", "s", "u"))
        };
        let ours = Some(("MCPServer", "s", "u"));
        assert_eq!(belonging("kubectl", "x", ours), Some(Belonging::Child));
        assert_eq!(belonging("kubectl", "s", Some(("MCPServer", "s", "old"))), Some(Belonging::Leftover));
        assert_eq!(
            belonging("toolhive-operator", "s", Some(("MCPGroup", "s", "v"))),
            Some(Belonging::Foreign)
        );
        assert_eq!(belonging("toolhive-operator", "s", Some(("Other", "s", "v"))), Some(Belonging::Foreign));
        assert_eq!(belonging("toolhive-operator", "s", None), Some(Belonging::Orphan));
        assert_eq!(belonging("thv-operator", "s", None), Some(Belonging::Orphan));
        assert_eq!(belonging("toolhive-operator", "t", None), Some(Belonging::Foreign), "of another name");
        assert_eq!(belonging("toolhive-proxyrunner", "s", None), Some(Belonging::Foreign));
        assert_eq!(belonging("kubectl", "s", None), None, "it is not even kept");
    }
}
