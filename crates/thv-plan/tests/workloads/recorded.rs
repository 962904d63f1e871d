//! Our children beside those that the Go operator made of the same manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thv_api::kinds::{EmbeddingServerSpec, MCPRegistrySpec};
use thv_plan::Child;

use crate::places::compare;
use crate::recordings::recorded;
use crate::support::{Scene, children};

/// What is in a recording because the API server put it there.
const OF_THE_API_SERVER: &[&str] = &[
    ".imagePullPolicy",
    ".metadata.creationTimestamp",
    ".metadata.generation",
    ".metadata.namespace",
    ".metadata.ownerReferences[embed].uid",
    ".metadata.ownerReferences[registry].uid",
    ".metadata.resourceVersion",
    ".metadata.uid",
    ".spec.clusterIP",
    ".spec.clusterIPs",
    ".spec.internalTrafficPolicy",
    ".spec.ipFamilies",
    ".spec.ipFamilyPolicy",
    ".spec.persistentVolumeClaimRetentionPolicy",
    ".spec.podManagementPolicy",
    ".spec.progressDeadlineSeconds",
    ".spec.revisionHistoryLimit",
    ".spec.sessionAffinity",
    ".spec.strategy",
    ".spec.template.spec.dnsPolicy",
    ".spec.template.spec.restartPolicy",
    ".spec.template.spec.schedulerName",
    ".spec.template.spec.securityContext",
    ".spec.template.spec.serviceAccount",
    ".spec.template.spec.terminationGracePeriodSeconds",
    ".spec.type",
    ".spec.updateStrategy",
    ".status",
    ".terminationMessagePath",
    ".terminationMessagePolicy",
    // Empty in ours, hence absent.
    "[embedding].resources",
    // The Go operator sets the number once, and then leaves it to others.
    "Deployment registry-api.spec.replicas",
];

/// Where we want to differ, and why.
const DELIBERATE: &[(&str, &str)] = &[
    (".metadata.annotations.toolhive.stacklok.dev/content-checksum", "the digest of the file alone"),
    (
        ".spec.template.metadata.annotations.toolhive.stacklok.dev/config-hash",
        "the digest of what the pods run, not of the whole spec",
    ),
    ("ConfigMap registry-registry-server-config.metadata.labels", "to find it again when it has to go"),
];

#[test]
fn children_differ_from_recorded_ones_only_where_we_want_it() {
    let mut theirs: BTreeMap<(String, String), Value> = BTreeMap::new();
    for file in
        ["configmaps", "deployments", "rolebindings", "roles", "serviceaccounts", "services", "statefulsets"]
    {
        for object in recorded(file) {
            let is_ours = ["EmbeddingServer", "MCPRegistry"]
                .contains(&object["metadata"]["ownerReferences"][0]["kind"].as_str().unwrap());
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            if is_ours {
                theirs.insert((text(&object["kind"]), text(&object["metadata"]["name"])), object);
            }
        }
    }
    let server = Scene::<EmbeddingServerSpec>::among(recorded("input"), "embed").plan();
    let registry = Scene::<MCPRegistrySpec>::among(recorded("input"), "registry").plan();
    let (mut used, mut accidents) = (BTreeSet::new(), Vec::new());
    for child in children(&server).iter().chain(children(&registry)) {
        for line in differences(child, &mut theirs) {
            match DELIBERATE.iter().find(|(field, _)| line.ends_with(field)) {
                Some((field, _)) => _ = used.insert(*field),
                None => accidents.push(line),
            }
        }
    }
    assert!(theirs.is_empty(), "ours has no {:?}", theirs.keys());
    assert!(accidents.is_empty(), "not deliberate: {accidents:#?}");
    let unused: Vec<_> = DELIBERATE.iter().filter(|(field, _)| !used.contains(field)).collect();
    assert!(unused.is_empty(), "no difference any more: {unused:?}");
}

fn differences(child: &Child, theirs: &mut BTreeMap<(String, String), Value>) -> BTreeSet<String> {
    let key = (child.kind().kind().to_owned(), child.name().to_owned());
    let mut recorded = theirs.remove(&key).unwrap_or_else(|| panic!("{key:?} is not recorded"));
    let claims = recorded.pointer_mut("/spec/volumeClaimTemplates").and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten().filter_map(Value::as_object_mut) {
        // The API server puts it there.
        claim.remove("status");
    }
    let mut lines = BTreeSet::new();
    compare(&recorded, child.body(), &format!("{} {}", key.0, key.1), &mut lines);
    lines.retain(|line| !OF_THE_API_SERVER.iter().any(|field| line.ends_with(field)));
    lines
}
