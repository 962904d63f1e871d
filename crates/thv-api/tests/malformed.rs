//! One malformed object among others of its kind neither hides them nor goes unnoticed.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

use kube_core::{ObjectList, Resource};
use serde_json::{Value, json};
use thv_api::{Kind, Object, Watched, kinds};

/// Lists a bad object before a good one.
fn is_reported<S: Kind>(good: Value, bad: Value, path: &str) {
    let object = |name: &str, spec: &Value| {
        json!({
            "apiVersion": format!("toolhive.stacklok.dev/{}", S::STORAGE.as_str()),
            "kind": S::KIND,
            "metadata": {
                "name": name, "namespace": "default", "uid": format!("uid-of-{name}"), "resourceVersion": "7",
            },
            "spec": spec,
        })
    };
    let list: ObjectList<Watched<Object<S>>> = serde_json::from_value(json!({
        "apiVersion": format!("toolhive.stacklok.dev/{}", S::STORAGE.as_str()),
        "kind": format!("{}List", S::KIND),
        "metadata": { "resourceVersion": "7" },
        "items": [object("bad", &bad), object("good", &good)],
    }))
    .unwrap_or_else(|error| panic!("{}: the list does not decode: {error}", S::KIND));

    let [first, second] = list.items.as_slice() else { panic!("{}: {list:?}", S::KIND) };
    let malformed = first.0.as_ref().expect_err("the bad object decodes");
    assert_eq!(malformed.path, path, "{}: {malformed}", S::KIND);
    assert!(malformed.to_string().starts_with(path), "{malformed}");
    assert_eq!(first.meta().name.as_deref(), Some("bad"));
    assert_eq!(first.meta().uid.as_deref(), Some("uid-of-bad"));
    assert_eq!(first.meta().resource_version.as_deref(), Some("7"));
    let good = second.0.as_ref().unwrap_or_else(|error| panic!("{}: {error}", S::KIND));
    assert_eq!(good.metadata.name.as_deref(), Some("good"));
}

macro_rules! reported {
    ($( $test:ident $spec:ident $good:tt $bad:tt $path:literal );+ $(;)?) => {
        $(
            #[test]
            fn $test() {
                is_reported::<kinds::$spec>(json!($good), json!($bad), $path);
            }
        )+
    };
}

reported! {
    embedding_server EmbeddingServerSpec
        {}
        { "port": 0 }
        "spec.port";
    mcp_authz_config MCPAuthzConfigSpec
        { "type": "cedarv1", "config": {} }
        { "type": "cedarv1", "config": "permit" }
        "spec.config";
    mcp_external_auth_config MCPExternalAuthConfigSpec
        { "type": "unauthenticated" }
        { "type": "magic" }
        "spec.type";
    mcp_group MCPGroupSpec
        {}
        { "description": 5 }
        "spec.description";
    mcp_oidc_config MCPOIDCConfigSpec
        { "type": "inline", "inline": { "issuer": "https://id.example.com" } }
        { "type": "inline", "inline": { "issuer": "https://id.example.com", "insecureAllowHTTP": "yes" } }
        "spec.inline.insecureAllowHTTP";
    mcp_registry MCPRegistrySpec
        { "configYAML": "x" }
        { "configYAML": "x", "imagePullSecrets": [{ "name": 1 }] }
        "spec.imagePullSecrets[0].name";
    mcp_remote_proxy MCPRemoteProxySpec
        { "remoteUrl": "https://mcp.example.com" }
        { "remoteUrl": "https://mcp.example.com", "transport": "stdio" }
        "spec.transport";
    mcp_server MCPServerSpec
        { "image": "x" }
        { "image": "x", "rateLimiting": { "shared": { "maxTokens": 1, "refillPeriod": "1 minute" } } }
        "spec.rateLimiting.shared.refillPeriod";
    mcp_server_entry MCPServerEntrySpec
        { "remoteUrl": "https://x", "transport": "sse", "groupRef": { "name": "g" } }
        { "remoteUrl": "https://x", "transport": "sse", "groupRef": "g" }
        "spec.groupRef";
    mcp_telemetry_config MCPTelemetryConfigSpec
        {}
        { "openTelemetry": { "headers": ["a"] } }
        "spec.openTelemetry.headers";
    mcp_tool_config MCPToolConfigSpec
        {}
        { "toolsOverride": { "fetch": { "annotations": { "readOnlyHint": "yes" } } } }
        "spec.toolsOverride.fetch.annotations.readOnlyHint";
    mcp_webhook_config MCPWebhookConfigSpec
        { "mutating": [{ "name": "a", "url": "https://x" }] }
        { "mutating": [{ "name": "a", "url": "https://x", "timeout": "soon" }] }
        "spec.mutating[0].timeout";
    virtual_mcp_composite_tool_definition VirtualMCPCompositeToolDefinitionSpec
        { "name": "a", "steps": [] }
        { "name": "a", "steps": [{ "id": "one", "type": "loop" }] }
        "spec.steps[0].type";
    virtual_mcp_server VirtualMCPServerSpec
        { "groupRef": { "name": "g" }, "incomingAuth": { "type": "anonymous" } }
        {
            "groupRef": { "name": "g" },
            "incomingAuth": { "type": "anonymous" },
            "config": { "operational": { "timeouts": { "default": "never" } } }
        }
        "spec.config.operational.timeouts.default";
}

#[test]
fn a_missing_spec_is_reported_where_a_spec_is_needed() {
    let watched: Watched<kinds::MCPServer> =
        serde_json::from_value(json!({ "metadata": { "name": "empty" } })).unwrap();
    let malformed = watched.0.unwrap_err();
    assert!(malformed.reason.contains("spec"), "{malformed}");
    assert_eq!(malformed.metadata.name.as_deref(), Some("empty"));
}

#[test]
fn even_malformed_metadata_names_the_object() {
    let watched: Watched<kinds::MCPGroup> = serde_json::from_value(json!({
        "metadata": { "name": "odd", "namespace": "default", "resourceVersion": "9", "labels": ["a"] },
        "spec": {},
    }))
    .unwrap();
    assert!(watched.0.is_err());
    assert_eq!(watched.meta().name.as_deref(), Some("odd"));
    assert_eq!(watched.meta().resource_version.as_deref(), Some("9"));
}
