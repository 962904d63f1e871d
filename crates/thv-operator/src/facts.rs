//! What is kept of children: a few hundred bytes each, where the objects themselves would take forty thousand.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ObjectMeta, OwnerReference};
use kube::core::PartialObjectMeta;
use serde_json::Value;
use thv_api::Kind;
use thv_api::kinds::MCPServerSpec;
use thv_api::names::{GROUP, annotations, field_managers, labels};
use thv_plan::{Applied, Child, Identity, LiveBackend, LiveDeployment, LivePod, PodHealth, digest};

use crate::fields::is_of;
use crate::key::Key;
use crate::seen::{SeenAutoscaler, SeenDeployment, SeenPod, SeenStatefulSet};
use crate::shelf::Sight;

/// The kinds whose objects have children. All of them are of our group.
const OWNERS: [&str; 1] = [MCPServerSpec::KIND];

/// A child of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
    generation: i64,
    /// The uid of the object that controls it.
    pub controller: String,
    labels: Box<[(Box<str>, Box<str>)]>,
    annotations: Box<[(Box<str>, Box<str>)]>,
    owners: Box<str>,
    /// Whether it is on its way out.
    pub is_going: bool,
    /// Whether we have applied it before. If not, somebody else made it, and we take it over.
    pub is_applied: bool,
    /// More about it, if it is a Deployment.
    pub deployment: Option<Box<LiveDeployment>>,
}

impl Facts {
    /// Reads them off an object's metadata; nothing if the object is not controlled by one of ours.
    pub fn read(metadata: &ObjectMeta) -> Option<Self> {
        let controller = controller(metadata)?;
        let owners: Vec<_> = metadata.owner_references.iter().flatten().map(owner_text).collect();
        Some(Self {
            uid: metadata.uid.clone()?,
            resource_version: metadata.resource_version.clone()?,
            generation: metadata.generation.unwrap_or_default(),
            controller: controller.uid.clone(),
            labels: pairs(metadata.labels.as_ref()),
            annotations: pairs(metadata.annotations.as_ref()),
            owners: owners.join("\n").into(),
            is_going: metadata.deletion_timestamp.is_some(),
            is_applied: applied_fields(metadata, field_managers::OPERATOR).is_some(),
            deployment: None,
        })
    }

    /// What would be different if anybody had edited what we own of `child`: for kinds that count the changes of
    /// their spec, that count and the metadata that we own; for the others, any change at all.
    pub fn fingerprint(&self, child: &Child) -> String {
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
pub(crate) fn child<K>(object: PartialObjectMeta<K>) -> Sight<Facts> {
    let metadata = &object.metadata;
    Sight { kept: Facts::read(metadata), owner: owner(metadata) }
}

/// What is kept of a Deployment.
pub(crate) fn deployment(object: SeenDeployment) -> Sight<Facts> {
    let SeenDeployment { metadata, spec } = object;
    let template = &spec.template.metadata.annotations;
    let live = identity(&metadata).map(|identity| LiveDeployment {
        identity,
        controller: controller(&metadata).map(|owner| owner.uid.clone()),
        replicas: spec.replicas.unwrap_or(1),
        replicas_are_ours: applied_fields(&metadata, field_managers::OPERATOR)
            .is_some_and(|FieldsV1(fields)| fields.pointer("/f:spec/f:replicas").is_some()),
        revision: annotation(&metadata, annotations::REVISION).and_then(|text| text.parse().ok()),
        stamp: template.get(annotations::MCP_SERVER_GENERATION).and_then(|text| text.parse().ok()),
        restarted_at: template.get(annotations::RESTARTED_AT).cloned(),
    });
    let facts = Facts::read(&metadata).map(|facts| Facts { deployment: live.map(Box::new), ..facts });
    Sight { kept: facts, owner: owner(&metadata) }
}

/// What is kept of the StatefulSet of a backend.
pub(crate) fn backend(object: SeenStatefulSet) -> Sight<LiveBackend> {
    let SeenStatefulSet { metadata, spec, status } = object;
    let owner = owner(&metadata).or_else(|| {
        // Made by a proxy of the Go operator, which has not adopted it yet: it is named after the server, and says so.
        let name = metadata.name.as_deref()?;
        let server = metadata.labels.as_ref().and_then(|all| all.get(labels::TOOLHIVE_NAME))?;
        (server == name).then(|| Key::new(metadata.namespace.as_deref().unwrap_or_default(), name))
    });
    let applied = annotation(&metadata, annotations::APPLIED_REVISION);
    let applied = applied.and_then(|text| text.parse::<Applied>().ok()).map(|applied| applied.token);
    let kept = identity(&metadata).filter(|_| owner.is_some()).map(|identity| LiveBackend {
        identity,
        applied,
        controller: controller(&metadata).map(|owner| owner.uid.clone()),
        replicas: spec.replicas.unwrap_or(1),
        ready_replicas: status.ready_replicas.unwrap_or_default(),
        replicas_before_stop: annotation(&metadata, annotations::REPLICAS_BEFORE_STOP)
            .and_then(|text| text.parse().ok()),
    });
    Sight { kept, owner }
}

/// A pod of a proxy, and the server that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodFacts {
    /// The name of the server.
    pub server: String,
    /// The pod.
    pub pod: LivePod,
}

/// What is kept of a pod.
pub(crate) fn pod(object: SeenPod) -> Sight<PodFacts> {
    let health = health(&object);
    let SeenPod { metadata, .. } = object;
    let server = metadata.labels.as_ref().and_then(|all| all.get(labels::TOOLHIVE_NAME)).cloned();
    let owner = server.as_ref().map(|name| Key::new(metadata.namespace.as_deref().unwrap_or_default(), name));
    let kept = server
        .zip(metadata.name.zip(metadata.uid))
        .map(|(server, (name, uid))| PodFacts { server, pod: LivePod { name, uid, health } });
    Sight { kept, owner }
}

fn health(pod: &SeenPod) -> PodHealth {
    const BROKEN: [&str; 3] = ["CrashLoopBackOff", "CreateContainerError", "InvalidImageName"];
    if pod.metadata.deletion_timestamp.is_some() {
        return PodHealth::Terminating;
    }
    let containers = &pod.status.container_statuses;
    for container in containers {
        let waiting = container.state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        if let Some(reason) = waiting.filter(|reason| BROKEN.contains(reason)) {
            return PodHealth::Failed(reason.to_owned());
        }
        if container.state.terminated.as_ref().is_some_and(|terminated| terminated.exit_code != 0) {
            return PodHealth::Failed("ContainerTerminated".to_owned());
        }
    }
    let is_ready = !containers.is_empty() && containers.iter().all(|container| container.ready);
    match pod.status.phase.as_deref() {
        Some("Failed") => PodHealth::Failed("PodFailed".to_owned()),
        Some("Running") if is_ready => PodHealth::Running,
        _ => PodHealth::Pending,
    }
}

/// The Deployment that an autoscaler scales.
pub(crate) fn autoscaler(object: SeenAutoscaler) -> Sight<String> {
    let target = object.spec.scale_target_ref;
    let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
    let is_deployment = target.kind == "Deployment";
    let owner = is_deployment.then(|| Key::new(namespace, &target.name));
    Sight { kept: is_deployment.then_some(target.name), owner }
}

/// Nothing is kept of it; that it has changed is all.
pub(crate) fn nothing<K>(_: PartialObjectMeta<K>) -> Sight<()> {
    Sight { kept: None, owner: None }
}

/// The fields that `manager` has applied, but for those of subresources.
pub(crate) fn applied_fields<'a>(metadata: &'a ObjectMeta, manager: &str) -> Option<&'a FieldsV1> {
    let ours = metadata.managed_fields.iter().flatten().find(|entry| is_of(entry, manager, "Apply", ""));
    ours?.fields_v1.as_ref()
}

fn identity(metadata: &ObjectMeta) -> Option<Identity> {
    Some(Identity { uid: metadata.uid.clone()?, resource_version: metadata.resource_version.clone()? })
}

fn annotation<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

/// The controlling owner, if it is one of our kinds.
fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    let is_controller = |owner: &&OwnerReference| owner.controller == Some(true) && is_of_our_kinds(owner);
    metadata.owner_references.iter().flatten().find(is_controller)
}

/// In whatever version its writer knows the kind.
fn is_of_our_kinds(owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map(|(group, _)| group);
    group == Some(GROUP) && OWNERS.contains(&owner.kind.as_str())
}

fn owner(metadata: &ObjectMeta) -> Option<Key> {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    controller(metadata).map(|owner| Key::new(namespace, &owner.name))
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
    use serde_json::json;

    use super::*;

    fn controlled_by(api_version: &str, kind: &str) -> bool {
        let metadata: ObjectMeta = serde_json::from_value(json!({"ownerReferences": [
            {"apiVersion": api_version, "kind": kind, "name": "s", "uid": "u", "controller": true},
        ]}))
        .unwrap();
        controller(&metadata).is_some()
    }

    #[test]
    fn owners_are_known_by_kind_and_group_in_every_version() {
        for kind in OWNERS {
            for version in ["v1alpha1", "v1beta1"] {
                assert!(controlled_by(&format!("{GROUP}/{version}"), kind), "{kind} {version}");
            }
            assert!(!controlled_by("apps/v1", kind), "{kind} of another group");
            assert!(!controlled_by(GROUP, kind), "{kind} of no version");
        }
        assert!(!controlled_by(&format!("{GROUP}/v1beta1"), "MCPGroup"));
    }
}
