//! Whatever the API server may hand us comes back as it was: no field is lost, renamed or reformatted.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod support;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::Value;
use support::{defaulted, objects, schema};
use thv_api::{Kind, Object, Watched, kinds};

fn survives<S: Kind>() {
    let schema = schema::<S>();
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() });
    let outcome = runner.run(&objects::<S>(), |object| {
        let stored = defaulted(&schema, &object);
        let decoded: Watched<Object<S>> =
            serde_json::from_value(stored.clone()).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let decoded = decoded.0.map_err(|malformed| TestCaseError::fail(malformed.to_string()))?;
        prop_assert_eq!(serde_json::to_value(&decoded).unwrap(), stored);

        // Without an API server between, the same defaults apply.
        let from_file: Object<S> =
            serde_json::from_value(object).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(from_file.spec, decoded.spec);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}: {error}", S::KIND);
    }
}

macro_rules! survive {
    ($( $test:ident $spec:ident ),+ $(,)?) => {
        $(
            #[test]
            fn $test() {
                survives::<kinds::$spec>();
            }
        )+
    };
}

survive! {
    embedding_server EmbeddingServerSpec,
    mcp_authz_config MCPAuthzConfigSpec,
    mcp_external_auth_config MCPExternalAuthConfigSpec,
    mcp_group MCPGroupSpec,
    mcp_oidc_config MCPOIDCConfigSpec,
    mcp_registry MCPRegistrySpec,
    mcp_remote_proxy MCPRemoteProxySpec,
    mcp_server MCPServerSpec,
    mcp_server_entry MCPServerEntrySpec,
    mcp_telemetry_config MCPTelemetryConfigSpec,
    mcp_tool_config MCPToolConfigSpec,
    mcp_webhook_config MCPWebhookConfigSpec,
    virtual_mcp_composite_tool_definition VirtualMCPCompositeToolDefinitionSpec,
    virtual_mcp_server VirtualMCPServerSpec,
}

#[test]
fn an_older_version_reads_the_same_and_is_written_in_the_storage_version() {
    let manifest = |version: &str| {
        serde_json::json!({
            "apiVersion": format!("toolhive.stacklok.dev/{version}"),
            "kind": "MCPServer",
            "metadata": { "name": "fetch" },
            "spec": { "image": "ghcr.io/stackloklabs/gofetch/server:1.0.1" },
        })
    };
    let old: kinds::MCPServer = serde_json::from_value(manifest("v1alpha1")).unwrap();
    let new: kinds::MCPServer = serde_json::from_value(manifest("v1beta1")).unwrap();
    assert_eq!(old, new);
    let written: Value = serde_json::to_value(&old).unwrap();
    assert_eq!(written["apiVersion"], "toolhive.stacklok.dev/v1beta1");
}

#[test]
fn a_kind_without_required_fields_needs_no_spec() {
    let group = serde_json::json!({ "metadata": { "name": "all" } });
    let group: kinds::MCPGroup = serde_json::from_value(group).unwrap();
    assert_eq!(group.spec.description, None);

    let embedding = serde_json::json!({ "metadata": { "name": "emb" } });
    let embedding: kinds::EmbeddingServer = serde_json::from_value(embedding).unwrap();
    assert_eq!((embedding.spec.port.get(), embedding.spec.replicas), (8080, 1));
}
