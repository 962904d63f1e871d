//! What is changed of a remote proxy: every leaf, to another value. The tests against an API server do the same.

use serde_json::{Value, json};

use super::edits::{another, far_another};

/// Another value for a leaf of the spec of a remote proxy.
pub(crate) fn remote_another(pointer: &str, value: &Value) -> Value {
    match pointer {
        "/remoteUrl" => json!("https://mcp.other.svc.cluster.local/v1/mcp"),
        "/podTemplateSpec/spec/volumes/0/emptyDir/medium" => json!(""),
        _ => another(pointer, value),
    }
}

/// Another value for a leaf of what a remote proxy refers to.
pub(crate) fn remote_far_another(pointer: &str, value: &Value) -> Value {
    match (pointer.rsplit('/').next().unwrap_or_default(), value.as_str().unwrap_or_default()) {
        ("type", "awsSts") => json!("unauthenticated"),
        ("region", _) => json!("eu-west-2"),
        ("fallbackRoleArn" | "roleArn", _) => json!("arn:aws:iam::123456789012:role/other"),
        _ => far_another(pointer, value),
    }
}
