//! Every setting has an effect on the configuration of the proxy or on its pod, is refused, or is on a list.

use serde_json::{Value, json};
use thv_config::RunConfig;
use thv_plan::InvalidList;
use thv_plan::mcp_server::{resolve, run_config as build, wiring};
use thv_plan::run_config::Wiring;

use crate::golden::manifests;
use crate::support::Manifests;

/// Settings of a server that its Deployment, its Service or its backend has, or others look at.
const ELSEWHERE: &[&str] = &[
    "MCPServer/podTemplateSpec/spec/nodeSelector/kubernetes.io~1os",
    "MCPServer/replicas",
    "MCPServer/resourceOverrides/proxyDeployment/annotations/owner",
    "MCPServer/resourceOverrides/proxyDeployment/env/0/name",
    "MCPServer/resourceOverrides/proxyDeployment/env/0/value",
    "MCPServer/resourceOverrides/proxyService/annotations/svc",
    "MCPServer/resources/limits/cpu",
    "MCPServer/resources/limits/memory",
    "MCPServer/secrets/0/targetEnvName",
    "MCPServer/serviceAccount",
    "MCPServer/sessionAffinity",
    // Nothing that runs depends on the group.
    "MCPServer/groupRef/name",
    "MCPGroup/description",
];

/// Settings without effect, each told in the status or in the documentation of its field.
const NO_EFFECT: &[&str] = &[
    // The transport is HTTP, so that clients speak the same.
    "MCPServer/proxyMode",
    // The transport dictates the value.
    "MCPServer/env/2/value",
    // The name of a volume is that of the pod.
    "MCPServer/volumes/0/name",
    "MCPServer/volumes/1/name",
    "MCPToolConfig/toolsOverride/echo/annotations/readOnlyHint",
];

type Outcome = (Result<RunConfig, InvalidList>, Wiring);

fn outcome(manifests: &Manifests, server: &str) -> Outcome {
    let snapshot = manifests.snapshot(server);
    let resolved = resolve(&snapshot);
    (build(&snapshot, &resolved, 1), wiring(&resolved))
}

/// The pointers to all leaves of a value.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| leaves(field, &format!("{path}/{}", escape(key)), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| leaves(item, &format!("{path}/{index}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(path.to_owned()),
    }
}

/// Another value of the same type.
fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) => match text.as_str() {
            "None" => json!("ClientIP"),
            "sse" => json!("streamable-http"),
            "streamable-http" => json!("sse"),
            "fail" => json!("ignore"),
            "ignore" => json!("fail"),
            "GET" => json!("POST"),
            // Durations and sampling rates.
            text if text.starts_with(|c: char| c.is_ascii_digit()) => json!(format!("1{text}")),
            text => json!(format!("{text}x")),
        },
        other => panic!("{other} is no leaf"),
    }
}

fn without_effect(case: &str, server: &str) -> Vec<String> {
    let manifests = manifests(case);
    let before = outcome(&manifests, server);
    before.0.as_ref().unwrap();
    let mut idle = Vec::new();
    for (kind, name, manifest) in manifests.all() {
        if !kind.starts_with("MCP") {
            continue;
        }
        let mut paths = Vec::new();
        leaves(&manifest["spec"], "", &mut paths);
        for path in paths {
            let mut edited = manifests.clone();
            edited.edit(kind, name, |it| {
                let leaf = it["spec"].pointer_mut(&path).unwrap();
                *leaf = changed(leaf);
            });
            if edited.try_server(server).is_some_and(|_| outcome(&edited, server) == before) {
                idle.push(format!("{kind}{path}"));
            }
        }
    }
    idle
}

#[test]
fn every_setting_has_its_effect() {
    let mut expected: Vec<_> = ELSEWHERE.iter().chain(NO_EFFECT).map(|path| (*path).to_owned()).collect();
    expected.sort();
    let mut found = without_effect("everything", "web");
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(without_effect("auth-server", "notes"), Vec::<String>::new());
    assert_eq!(without_effect("github", "github"), Vec::<String>::new());
}
