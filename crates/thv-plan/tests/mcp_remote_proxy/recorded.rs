//! Our children beside those that the Go operator made of the same manifest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::places::compare;
use crate::recordings::recorded;
use crate::support::{Scene, children};

/// What is in a recording because the API server put it there.
const OF_THE_API_SERVER: &[&str] = &[
    ".metadata.creationTimestamp",
    ".metadata.generation",
    ".metadata.namespace",
    ".metadata.ownerReferences[saas].uid",
    ".metadata.resourceVersion",
    ".metadata.uid",
    ".spec.clusterIP",
    ".spec.clusterIPs",
    ".spec.internalTrafficPolicy",
    ".spec.ipFamilies",
    ".spec.ipFamilyPolicy",
    ".spec.progressDeadlineSeconds",
    ".spec.replicas",
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
];

/// Where we want to differ, and why.
const DELIBERATE: &[(&str, &str)] = &[
    (".metadata.annotations.toolhive.stacklok.dev/content-checksum", "the digest of the file alone"),
    ("runconfig.json.mcpserver_generation", "the revision that the file is of"),
    (".oidc_config.ResourceURL", "the name of the Service, which exists"),
    ("runconfig.json.middleware_configs[usagemetrics]", "nothing phones home"),
    ("Deployment saas.metadata.annotations", "the revision"),
    (
        ".spec.template.metadata.annotations.toolhive.stacklok.dev/runconfig-checksum",
        "the digest of the file alone",
    ),
    (
        ".spec.template.metadata.annotations.toolhive.stacklok.dev/mcpserver-generation",
        "the revision that a pod is of",
    ),
    (".spec.template.spec.containers[toolhive].env[THV_MCPSERVER_GENERATION]", "binds a pod to its revision"),
    (".spec.template.spec.containers[toolhive].env[THV_MCPSERVER_REVISION]", "binds a pod to its revision"),
    (
        ".spec.template.spec.containers[toolhive].env[THV_RUNCONFIG_CHECKSUM]",
        "binds a pod to its configuration",
    ),
    (".spec.template.spec.containers[toolhive].args", "the flag means nothing to our proxy"),
    (
        ".spec.template.spec.containers[toolhive].readinessProbe.initialDelaySeconds",
        "a proxy that is ready is used at once",
    ),
    ("ServiceAccount saas-remote-proxy-runner.metadata.labels", "to find it again when it has to go"),
];

#[test]
fn children_differ_from_those_of_the_go_operator_only_where_we_want_it() {
    let mut theirs = BTreeMap::new();
    for (kind, file) in [
        ("ConfigMap", "configmaps"),
        ("Deployment", "deployments"),
        ("Role", "roles"),
        ("RoleBinding", "rolebindings"),
        ("Service", "services"),
        ("ServiceAccount", "serviceaccounts"),
    ] {
        for object in recorded(file) {
            if object["metadata"]["ownerReferences"][0]["kind"] == "MCPRemoteProxy" {
                theirs.insert(
                    (kind.to_owned(), object["metadata"]["name"].as_str().unwrap().to_owned()),
                    object,
                );
            }
        }
    }
    let (mut accidents, mut used) = (Vec::new(), BTreeSet::new());
    for child in children(&Scene::from_objects(recorded("input"), "saas").plan()) {
        let key = (child.kind().kind().to_owned(), child.name().to_owned());
        let mut recorded = theirs.remove(&key).unwrap_or_else(|| panic!("{key:?} is not recorded"));
        // The Go operator writes one variable twice.
        if let Some(env) = recorded.pointer_mut("/spec/template/spec/containers/0/env") {
            let mut seen = BTreeSet::new();
            env.as_array_mut().unwrap().retain(|variable| seen.insert(variable["name"].to_string()));
        }
        let mut lines = BTreeSet::new();
        let name = format!("{} {}", key.0, key.1);
        let mut ours: Value = child.body().clone();
        for field in ["apiVersion", "kind"] {
            ours[field] = recorded[field].clone();
        }
        compare(&recorded, &ours, &name, &mut lines);
        lines.retain(|line| !OF_THE_API_SERVER.iter().any(|field| line.ends_with(field)));
        for line in lines {
            match DELIBERATE.iter().find(|(field, _)| line.ends_with(field)) {
                Some((field, _)) => _ = used.insert(*field),
                None => accidents.push(line),
            }
        }
    }
    assert!(accidents.is_empty(), "not deliberate: {accidents:#?}");
    let unused: Vec<_> = DELIBERATE.iter().filter(|(field, _)| !used.contains(field)).collect();
    assert!(unused.is_empty(), "no difference any more: {unused:?}");
    // The proxy asks nothing of the API server.
    let left: Vec<&str> = theirs.keys().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(left, ["Role", "RoleBinding"]);
}
