//! Our children beside those that the Go operator made of the same manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::places::compare;
use crate::recordings::recorded;
use crate::support::{Scene, children};

/// What is in a recording because the API server put it there.
const OF_THE_API_SERVER: &[&str] = &[
    ".metadata.creationTimestamp",
    ".metadata.generation",
    ".metadata.namespace",
    ".metadata.ownerReferences[plain-stdio].uid",
    ".metadata.ownerReferences[web].uid",
    ".metadata.resourceVersion",
    ".metadata.uid",
    ".spec.clusterIP",
    ".spec.clusterIPs",
    ".spec.internalTrafficPolicy",
    ".spec.ipFamilies",
    ".spec.ipFamilyPolicy",
    ".spec.progressDeadlineSeconds",
    ".spec.revisionHistoryLimit",
    ".spec.strategy",
    ".spec.template.spec.containers[toolhive].imagePullPolicy",
    ".spec.template.spec.containers[toolhive].terminationMessagePath",
    ".spec.template.spec.containers[toolhive].terminationMessagePolicy",
    ".spec.template.spec.dnsPolicy",
    ".spec.template.spec.restartPolicy",
    ".spec.template.spec.schedulerName",
    ".spec.template.spec.serviceAccount",
    ".spec.type",
    ".status",
    // Empty in ours, hence absent.
    ".spec.template.spec.containers[toolhive].resources",
    // A count that its server left to others.
    "Deployment plain-stdio.spec.replicas",
];

/// Where we want to differ, and why.
const DELIBERATE: &[(&str, &str)] = &[
    (
        "ConfigMap web-authz-inline.metadata.labels.toolhive.stacklok.io/managed-by",
        "to find it again when it has to go",
    ),
    (".metadata.annotations.toolhive.stacklok.dev/content-checksum", "the digest of the file alone"),
    ("Deployment plain-stdio.metadata.annotations", "the revision"),
    ("Deployment web.metadata.annotations.toolhive.stacklok.dev/revision", "the revision"),
    (
        ".spec.template.metadata.annotations.toolhive.stacklok.dev/runconfig-checksum",
        "the digest of the file alone",
    ),
    (".spec.template.spec.containers[toolhive].env[THV_MCPSERVER_REVISION]", "binds a pod to its revision"),
    (
        ".spec.template.spec.containers[toolhive].env[THV_RUNCONFIG_CHECKSUM]",
        "binds a pod to its configuration",
    ),
    (".args.patch.metadata", "the user's template is not read into a type and written again"),
    (".args.patch.spec.containers", "the user's template is not read into a type and written again"),
    (
        ".args.patch.spec.containers[mcp].resources",
        "the user's template is not read into a type and written again",
    ),
    ("Role plain-stdio-proxy-runner.rules", "the proxy may do what it has to and nothing else"),
    ("Role web-proxy-runner.rules", "the proxy may do what it has to and nothing else"),
    ("-proxy-runner.metadata.labels", "to find it again when it has to go"),
    ("-sa.metadata.labels", "to find it again when it has to go"),
];

/// Takes arguments apart, so that differences within the patch are seen.
fn with_readable_arguments(mut object: Value) -> Value {
    let Some(args) = object.pointer_mut("/spec/template/spec/containers/0/args") else { return object };
    let texts: Vec<&str> = args.as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let patch = texts[1].strip_prefix("--k8s-pod-patch=").unwrap();
    let patch: Value = serde_json::from_str(patch).unwrap();
    *args = json!({"command": texts[0], "patch": patch, "image": texts[2]});
    object
}

#[test]
fn children_differ_only_where_we_want_it() {
    let mut theirs: BTreeMap<(String, String), Value> = BTreeMap::new();
    for file in ["configmaps", "deployments", "rolebindings", "roles", "serviceaccounts", "services"] {
        for object in recorded(file) {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            theirs.insert((text(&object["kind"]), text(&object["metadata"]["name"])), object);
        }
    }
    let (mut used, mut accidents) = (BTreeSet::new(), Vec::new());
    for server in ["plain-stdio", "web"] {
        let scene = Scene::from_objects(recorded("input"), server);
        let plan = scene.plan();
        for child in children(&plan) {
            let key = (child.kind().kind().to_owned(), child.name().to_owned());
            let recorded = theirs.remove(&key).unwrap_or_else(|| panic!("{key:?} is not recorded"));
            let mut lines = BTreeSet::new();
            let name = format!("{} {}", key.0, key.1);
            let ours = with_readable_arguments(child.body().clone());
            compare(&with_readable_arguments(recorded), &ours, &name, &mut lines);
            lines.retain(|line| !OF_THE_API_SERVER.iter().any(|field| line.ends_with(field)));
            // The configuration is compared where it is built, key by key.
            lines.retain(|line| !line.contains("runconfig.json"));
            for line in lines {
                match DELIBERATE.iter().find(|(field, _)| line.ends_with(field)) {
                    Some((field, _)) => _ = used.insert(*field),
                    None => accidents.push(line),
                }
            }
        }
        let left: Vec<_> = theirs.keys().filter(|(_, name)| name.starts_with(server)).collect();
        assert!(left.is_empty(), "ours has no {left:?}");
    }
    assert!(accidents.is_empty(), "not deliberate: {accidents:#?}");
    let unused: Vec<_> = DELIBERATE.iter().filter(|(field, _)| !used.contains(field)).collect();
    assert!(unused.is_empty(), "no difference any more: {unused:?}");
}
