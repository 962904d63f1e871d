//! The kinds that only hold configuration for others, groups, and composite tools. They have no children, and their
//! passes ask for nothing: what comes of an edit is a digest in the status.

mod cases;
mod schema;

use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::case::{Case, edits};
use super::crash::Workload;
use super::{crash, fixed_point, foreign, single_edit, withdrawal};

pub(super) use cases::{
    COMPOSITE_TOOL, MCP_AUTHZ_CONFIG, MCP_EXTERNAL_AUTH_CONFIG, MCP_GROUP, MCP_OIDC_CONFIG,
    MCP_TELEMETRY_CONFIG, MCP_TOOL_CONFIG, MCP_WEBHOOK_CONFIG,
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
        ("timeout" | "retryDelay", Value::String(text)) if text != "5s" => json!(format!("1{text}")),
        // Of a composite tool.
        ("type", Value::String(text)) if pointer.starts_with("/steps/") && text == "tool" => {
            json!("elicitation")
        }
        ("type", Value::String(text)) if ["elicitation", "forEach"].contains(&text.as_str()) => json!("tool"),
        ("type", Value::String(text)) if text == "object" => json!("array"),
        ("type", Value::String(text)) if text == "string" => json!("integer"),
        ("type", Value::String(text)) if text == "integer" => json!("number"),
        ("action", _) => json!("abort"),
        _ => edits::far_another(pointer, value),
    }
}

/// All of them. They share one mechanism, and so a namespace and an operator in most tests.
const ALL: [&Case; 8] = [
    &COMPOSITE_TOOL,
    &MCP_AUTHZ_CONFIG,
    &MCP_EXTERNAL_AUTH_CONFIG,
    &MCP_GROUP,
    &MCP_OIDC_CONFIG,
    &MCP_TELEMETRY_CONFIG,
    &MCP_TOOL_CONFIG,
    &MCP_WEBHOOK_CONFIG,
];

/// Those whose status says something of their spec.
fn all_but_groups() -> impl Iterator<Item = &'static Case> {
    ALL.into_iter().filter(|case| case.kind != MCP_GROUP.kind)
}

#[tokio::test]
async fn g2_g4_every_leaf_of_configuration_changed_alone_on_the_api_server_has_exactly_its_effects() {
    in_namespace(async |space| single_edit::rule(&space, &ALL).await).await;
}

#[tokio::test]
async fn g1_configuration_is_at_a_fixed_point_over_touches_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &ALL).await).await;
}

#[tokio::test]
async fn g3_of_configuration_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &ALL).await).await;
}

#[tokio::test]
async fn g4_of_configuration_what_an_input_caused_goes_with_it() {
    let cases: Vec<_> = all_but_groups().collect();
    in_namespace(async |space| withdrawal::rule(&space, &cases).await).await;
}

/// A crash after every write on an object, from its beginning to its end. Nothing is written when one goes that nobody
/// keeps.
async fn crash_all_along(case: &'static Case) {
    crash::rule(case, Workload::Create).await;
    crash::rule(case, Workload::Update).await;
    if ![COMPOSITE_TOOL.kind, MCP_GROUP.kind].contains(&case.kind) {
        crash::rule(case, Workload::Delete).await;
    }
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_configuration_ends_in_the_same_state() {
    crash_all_along(&MCP_TOOL_CONFIG).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_a_group_ends_in_the_same_state() {
    crash_all_along(&MCP_GROUP).await;
}

#[tokio::test]
#[ignore = "soak: it takes minutes, and kinds that hold configuration differ in nothing here"]
async fn soak_a_crash_after_any_write_on_configuration_of_any_kind_ends_in_the_same_state() {
    for case in all_but_groups() {
        crash_all_along(case).await;
    }
}
