//! Errors say where something is wrong.

use serde_json::json;

use super::super::{Schema, merge};
use super::fails;

#[test]
fn an_error_names_the_path() {
    let document = |value: serde_json::Value| {
        let container = json!({ "name": "mcp", "ports": [{ "containerPort": 80, "protocol": value }] });
        json!({ "spec": { "template": { "spec": { "containers": [container] } } } })
    };
    let (original, patch) = (document(json!({})), document(json!({ "$patch": "x" })));
    let error = merge(&original, &patch, Schema::STATEFUL_SET).unwrap_err();
    let path = "spec.template.spec.containers[name=mcp].ports[containerPort=80].protocol";
    assert_eq!(error.path(), path);
    assert!(fails(Schema::STATEFUL_SET, original, patch).starts_with(&format!("{path}: `$patch: x`")));
}
