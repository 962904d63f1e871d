//! What is kept of Deployments and StatefulSets.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ObjectMeta};
use thv_api::names::{annotations, field_managers};
use thv_plan::{Applied, Fixed, LiveDeployment, LiveStatefulSet, Rollout};

use super::child::{ChildFacts, Workload, projection};
use super::metadata::{Writer, annotation, applied_fields, controller, identity};
use super::partial::{PartialDeployment, PartialStatefulSet, PartialStatefulSetSpec, PartialWorkloadStatus};
use crate::cache::Projection;

/// Where the field manager of the operator has the generation on a pod template.
const STAMP: [&str; 5] =
    ["f:spec", "f:template", "f:metadata", "f:annotations", "f:toolhive.stacklok.dev/mcpserver-generation"];

/// What is kept of a Deployment.
pub(crate) fn deployment(object: PartialDeployment) -> Option<Projection<ChildFacts>> {
    let PartialDeployment { metadata, spec, status } = object;
    let template = &spec.template.metadata.annotations;
    let stamp = template.get(annotations::MCP_SERVER_GENERATION).filter(|_| is_ours(&metadata, &STAMP));
    let live = identity(&metadata).map(|identity| LiveDeployment {
        identity,
        controller: controller(&metadata),
        replicas: spec.replicas.unwrap_or(1),
        replicas_are_ours: is_ours(&metadata, &["f:spec", "f:replicas"]),
        revision: annotation(&metadata, annotations::REVISION).and_then(|text| text.parse().ok()),
        stamp: stamp.and_then(|text| text.parse().ok()),
        restarted_at: template.get(annotations::RESTARTED_AT).cloned(),
        config_hash: template.get(annotations::CONFIG_HASH).cloned(),
        rollout: rollout(&metadata, &status, status.available_replicas),
    });
    projection(&metadata, live.map(Workload::Deployment))
}

/// What is kept of a StatefulSet.
pub(crate) fn stateful_set(object: PartialStatefulSet) -> Option<Projection<ChildFacts>> {
    let PartialStatefulSet { metadata, spec, status } = object;
    let PartialStatefulSetSpec { replicas, service_name, selector, volume_claim_templates } = spec;
    let is_proxys = Writer::of(&metadata) == Writer::Proxy;
    let fixed = (!is_proxys).then(|| Box::new(Fixed { service_name, selector, volume_claim_templates }));
    let applied = annotation(&metadata, annotations::APPLIED_REVISION);
    let applied = applied.and_then(|text| text.parse::<Applied>().ok()).map(|applied| applied.token);
    let live = identity(&metadata).map(|identity| LiveStatefulSet {
        identity,
        applied,
        controller: controller(&metadata),
        replicas: replicas.unwrap_or(1),
        replicas_before_stop: annotation(&metadata, annotations::REPLICAS_BEFORE_STOP)
            .and_then(|text| text.parse().ok()),
        newest: status.update_revision.clone(),
        fixed,
        rollout: rollout(&metadata, &status, status.ready_replicas),
    });
    projection(&metadata, live.map(Workload::StatefulSet))
}

fn rollout(metadata: &ObjectMeta, status: &PartialWorkloadStatus, available: i32) -> Rollout {
    let gave_up = status.conditions.iter().find(|condition| {
        let has_failed = condition.type_ == "ReplicaFailure" && condition.status == "True";
        has_failed || condition.reason.as_deref() == Some("ProgressDeadlineExceeded")
    });
    Rollout {
        observed: status.observed_generation >= metadata.generation,
        replicas: status.replicas,
        updated: status.updated_replicas,
        available,
        gave_up: gave_up.and_then(|condition| condition.reason.clone()),
    }
}

/// Whether the operator's own field manager has applied the field at this path.
fn is_ours(metadata: &ObjectMeta, path: &[&str]) -> bool {
    applied_fields(metadata, field_managers::OPERATOR)
        .is_some_and(|FieldsV1(fields)| path.iter().try_fold(fields, |place, key| place.get(*key)).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stamp_counts_only_if_we_have_applied_it() {
        let stamp = |manager: &str| {
            let fields = json!({"f:spec": {"f:template": {"f:metadata": {"f:annotations": {
                "f:toolhive.stacklok.dev/mcpserver-generation": {},
            }}}}});
            let object = serde_json::from_value(json!({
                "metadata": {
                    "name": "s", "uid": "u", "resourceVersion": "1",
                    "managedFields": [
                        {"manager": manager, "operation": "Apply", "fieldsV1": fields},
                        {"manager": "toolhive-operator", "operation": "Apply", "fieldsV1": {"f:spec": {}}},
                    ],
                },
                "spec": {"template": {"metadata": {"annotations": {
                    "toolhive.stacklok.dev/mcpserver-generation": "7",
                }}}},
            }));
            let kept = deployment(object.unwrap()).unwrap().value;
            match kept.workload.as_deref() {
                Some(Workload::Deployment(live)) => live.stamp,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(stamp("kubectl"), None);
        assert_eq!(stamp("toolhive-operator"), Some(7));
    }

    #[test]
    fn what_cannot_be_changed_is_kept_of_stateful_sets_that_no_proxy_has_made() {
        let claim = json!({"metadata": {"name": "data"}, "spec": {"volumeMode": "Filesystem"}});
        let fixed = |manager: &str| {
            let object = serde_json::from_value(json!({
                "metadata": {
                    "name": "s", "uid": "u", "resourceVersion": "1", "managedFields": [{"manager": manager}],
                },
                "spec": {
                    "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "volumeClaimTemplates": [claim],
                },
            }));
            match stateful_set(object.unwrap()).unwrap().value.workload.as_deref() {
                Some(Workload::StatefulSet(live)) => live.fixed.clone(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(fixed("toolhive-proxyrunner"), None);
        let kept = fixed("thv-operator").unwrap();
        assert_eq!((kept.service_name.as_str(), &kept.selector["matchLabels"]["a"]), ("s", &json!("b")));
        assert_eq!(kept.volume_claim_templates, [claim]);
    }

    #[test]
    fn a_rollout_that_has_not_been_seen_or_has_given_up_is_known() {
        let metadata = ObjectMeta { generation: Some(2), ..ObjectMeta::default() };
        let status = |value| serde_json::from_value::<PartialWorkloadStatus>(value).unwrap();
        let old = status(json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1}));
        assert!(!rollout(&metadata, &old, 1).is_complete());
        let stuck = status(json!({
            "observedGeneration": 2, "replicas": 2, "updatedReplicas": 1,
            "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}],
        }));
        let stuck = rollout(&metadata, &stuck, 1);
        assert_eq!(stuck.gave_up.as_deref(), Some("ProgressDeadlineExceeded"));
        assert!(!stuck.is_complete());
    }
}
