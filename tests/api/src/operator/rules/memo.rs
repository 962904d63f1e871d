//! `Memo`: a kind that exists for tests only. It passes the rules with nothing but this file.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ApiResource, DynamicObject};
use serde_json::json;
use thv_testbed::{Pattern, Verb, in_namespace, wait};

use super::case::reference::Reference;
use super::case::{Case, Effects, edits, is_observed};
use super::crash::Workload;
use super::{STRANGERS, crash, fixed_point, foreign, single_edit, withdrawal};
use crate::operator::Program;

/// The server of memos that are about none.
const NOBODY: &str = "nobody";

pub(super) const MEMO: Case = Case {
    program: Program::WithTestKinds,
    kind: "Memo",
    // The server has the name of the memo.
    example: r#"
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServer
metadata: {name: note}
spec: {image: localhost/server:1, transport: streamable-http}
---
apiVersion: v1
kind: Secret
metadata: {name: ink}
stringData: {black: "1"}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: Memo
metadata: {name: note}
spec:
  text: remember the server
  serverRef: {name: note}
  depotRef: {name: attic}
  secretRef: {name: ink}
"#,
    name: "note",
    more: "",
    shared: "",
    minimal: || json!({"text": "nothing", "serverRef": {"name": NOBODY}}),
    companions: |_| Vec::new(),
    children: || vec![ApiResource::erase::<ConfigMap>(&())],
    workloads: 0,
    strangers: STRANGERS,
    is_converged: |memo| is_observed(memo) && has_seen_its_server(memo),
    pulse: Some(|| Pattern::verb(Verb::Get).of("secrets").named("ink")),
    refer_to_secret: Some(|memo, name, _| memo["spec"]["secretRef"] = json!({"name": name})),

    near: Effects::Listed(
        "/depotRef/name
    ConfigMap note-memo.data.depot
/secretRef/name
    ConfigMap note-memo.data.secret
/serverRef/name
    ConfigMap note-memo.data.server
/text
    ConfigMap note-memo.data.text
",
    ),
    far: "MCPServer note /spec/image
    ConfigMap note-memo.data.image
    status.image
MCPServer note /spec/proxyMode
    nothing: a memo does not tell
MCPServer note /spec/proxyPort
    nothing: a memo does not tell
MCPServer note /spec/sessionAffinity
    nothing: a memo does not tell
MCPServer note /spec/transport
    nothing: a memo does not tell
MCPServer note /spec/trustProxyHeaders
    nothing: a memo does not tell
",
    references: &[Reference {
        owner: "note",
        place: "/spec/serverRef/name",
        kind: "MCPServer",
        name: "note",
    }],
    another: edits::another,
    far_another: |pointer, value| edits::another(pointer.trim_start_matches("/spec"), value),
    refused: &[],

    left: &["depotRef"],
    theirs: || json!({"depotRef": {"name": "theirs"}}),
    edit: || json!({"spec": {"text": "remember another server"}}),
    change: || json!({"spec": {"text": "remember another server", "depotRef": null}}),
    stays: &[],
};

/// A memo about a server knows it as soon as the operator does, which hears of both in no particular order.
fn has_seen_its_server(memo: &DynamicObject) -> bool {
    memo.data["spec"]["serverRef"]["name"] == NOBODY || wait::has_condition(memo, "Ready", "True")
}

#[tokio::test]
async fn another_kind_has_exactly_the_effects_of_every_leaf_changed_alone() {
    in_namespace(async |space| single_edit::rule(&space, &[&MEMO]).await).await;
}

#[tokio::test]
async fn another_kind_is_at_a_fixed_point_over_pokes_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &[&MEMO]).await).await;
}

#[tokio::test]
async fn of_another_kind_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &[&MEMO]).await).await;
}

#[tokio::test]
async fn of_another_kind_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| withdrawal::rule(&space, &[&MEMO]).await).await;
}

#[tokio::test]
async fn another_kind_ends_in_the_same_state_after_a_crash_at_any_creating_write() {
    crash::rule(&MEMO, Workload::Create).await;
}

#[tokio::test]
async fn another_kind_ends_in_the_same_state_after_a_crash_at_any_updating_write() {
    crash::rule(&MEMO, Workload::Update).await;
}
