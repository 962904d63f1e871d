//! The kinds that only hold configuration for others, and groups. They have no children, and their passes ask for
//! nothing: what comes of an edit is a digest in the status.

mod cases;
mod schema;

use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::case::edits;
use super::crash::Workload;
use super::{crash, fixed_point, foreign, single_edit, withdrawal};

pub(super) use cases::{
    MCP_AUTHZ_CONFIG, MCP_EXTERNAL_AUTH_CONFIG, MCP_GROUP, MCP_OIDC_CONFIG, MCP_TELEMETRY_CONFIG,
    MCP_TOOL_CONFIG, MCP_WEBHOOK_CONFIG,
};

/// Another value for a leaf.
fn another(pointer: &str, value: &Value) -> Value {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    match (last, value) {
        _ if pointer.starts_with("/config/policies/") => json!("forbid(principal, action, resource);"),
        ("entities_json", _) => {
            json!(r#"[{"uid": {"type": "Team", "id": "a"}, "attrs": {}, "parents": []}]"#)
        }
        ("region", _) => json!("eu-west-2"),
        ("tenantId", _) => json!("other.example.com"),
        ("subjectTokenType", _) => json!("jwt"),
        ("cacheSkew", _) => json!("45s"),
        _ => edits::far_another(pointer, value),
    }
}

/// Tests of a kind, one for each rule.
macro_rules! rules {
    ($($module:ident $case:ident: $($rule:ident)*;)*) => {
        $(mod $module {
            use super::*;

            $(rules!(@ $case $rule);)*
        })*
    };
    (@ $case:ident fixed_point) => {
        #[tokio::test]
        async fn g1_fixed_point_over_touches_restarts_and_changes_of_leader() {
            in_namespace(async |space| fixed_point::rule(&space, &$case).await).await;
        }
    };
    (@ $case:ident single_edit) => {
        #[tokio::test]
        async fn g2_g4_every_leaf_changed_alone_on_the_api_server_has_exactly_its_effects() {
            in_namespace(async |space| single_edit::rule(&space, &$case).await).await;
        }
    };
    (@ $case:ident foreign) => {
        #[tokio::test]
        async fn g3_what_others_write_survives_and_nothing_loops() {
            in_namespace(async |space| foreign::rule(&space, &$case).await).await;
        }
    };
    (@ $case:ident withdrawal) => {
        #[tokio::test]
        async fn g4_what_an_input_caused_goes_with_it() {
            in_namespace(async |space| withdrawal::rule(&space, &$case).await).await;
        }
    };
    (@ $case:ident create) => {
        #[tokio::test]
        async fn g1_g2_a_crash_after_the_nth_creating_write_ends_in_the_same_state() {
            crash::rule(&$case, Workload::Create).await;
        }
    };
    (@ $case:ident update) => {
        #[tokio::test]
        async fn g1_g2_a_crash_after_the_nth_updating_write_ends_in_the_same_state() {
            crash::rule(&$case, Workload::Update).await;
        }
    };
    (@ $case:ident delete) => {
        #[tokio::test]
        async fn g1_g4_a_crash_after_the_nth_deleting_write_ends_in_the_same_state() {
            crash::rule(&$case, Workload::Delete).await;
        }
    };
}

rules! {
    mcp_authz_config MCP_AUTHZ_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
    mcp_external_auth_config MCP_EXTERNAL_AUTH_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
    // The status of a group says nothing of its spec, and nothing is written when it goes.
    mcp_group MCP_GROUP: fixed_point single_edit foreign create update;
    mcp_oidc_config MCP_OIDC_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
    mcp_telemetry_config MCP_TELEMETRY_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
    mcp_tool_config MCP_TOOL_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
    mcp_webhook_config MCP_WEBHOOK_CONFIG: fixed_point single_edit foreign withdrawal create update delete;
}
