//! `MCPServerEntry`. It has no children: what comes of an edit is what its conditions say.

use serde_json::json;
use thv_testbed::in_namespace;

use super::case::{Case, Effects, edits, is_observed};
use super::crash::Workload;
use super::mcp_remote_proxy::add_header;
use super::{STRANGERS, crash, fixed_point, foreign, single_edit, withdrawal};
use crate::operator::Program;

pub(super) const MCP_SERVER_ENTRY: Case = Case {
    program: Program::Shipped,
    kind: "MCPServerEntry",
    example: include_str!("entry.yaml"),
    name: "listed",
    more: "",
    shared: "",
    minimal: || {
        json!({
            "remoteUrl": "https://mcp.example.com/mcp", "transport": "streamable-http",
            "groupRef": {"name": "nowhere"},
        })
    },
    companions: |_| Vec::new(),
    children: Vec::new,
    workloads: 0,
    strangers: STRANGERS,
    is_converged: is_observed,
    pulse: None,
    refer_to_secret: Some(add_header),

    // Everything has a twin that is as good, and no URL is looked up.
    near: Effects::Alike { all: &[], but: &[] },
    far: "",
    references: &[],
    another: edits::another,
    far_another: edits::far_another,
    refused: &[],

    left: &["headerForward"],
    theirs: || json!({"headerForward": {"addPlaintextHeaders": {"X-Theirs": "1"}}}),
    edit: || json!({"spec": {"remoteUrl": "https://mcp.example.com/other"}}),
    change: || json!({"spec": {"remoteUrl": "https://mcp.example.com/other", "caBundleRef": null}}),
    stays: &[],
};

#[tokio::test]
async fn g2_g4_every_leaf_of_an_entry_changed_alone_on_the_api_server_has_exactly_its_effects() {
    in_namespace(async |space| single_edit::rule(&space, &[&MCP_SERVER_ENTRY]).await).await;
}

#[tokio::test]
async fn g1_an_entry_is_at_a_fixed_point_over_touches_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &[&MCP_SERVER_ENTRY]).await).await;
}

#[tokio::test]
async fn g3_of_an_entry_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &[&MCP_SERVER_ENTRY]).await).await;
}

#[tokio::test]
async fn g4_of_an_entry_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| withdrawal::rule(&space, &[&MCP_SERVER_ENTRY]).await).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_an_entry_ends_in_the_same_state() {
    crash::rule(&MCP_SERVER_ENTRY, Workload::Create).await;
    crash::rule(&MCP_SERVER_ENTRY, Workload::Update).await;
}
