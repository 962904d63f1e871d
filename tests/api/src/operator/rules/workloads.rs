//! `EmbeddingServer` and `MCPRegistry`: pods of other people's programs, and nothing that they refer to is read.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::ApiResource;
use serde_json::json;
use thv_testbed::in_namespace;

use super::case::{Case, Effects, edits, is_observed, workload_edits};
use super::crash::Workload;
use super::{STRANGERS, crash, fixed_point, foreign, single_edit, withdrawal};
use crate::operator::Program;

pub(super) const EMBEDDING_SERVER: Case = Case {
    program: Program::Shipped,
    kind: "EmbeddingServer",
    example: include_str!("../../../../../crates/thv-plan/tests/examples/embedding-server.yaml"),
    name: "embed",
    more: "",
    shared: "",
    minimal: || json!({}),
    companions: |_| Vec::new(),
    children: || vec![ApiResource::erase::<Service>(&()), ApiResource::erase::<StatefulSet>(&())],
    workloads: 1,
    strangers: STRANGERS,
    // Nobody runs its pods, so they download for ever.
    is_converged: |server| is_observed(server) && server.data["status"]["phase"] != "Pending",
    pulse: None,
    refer_to_secret: None,

    near: Effects::Listed(include_str!(
        "../../../../../crates/thv-plan/tests/golden/embedding-server-single-edit.txt"
    )),
    far: "",
    references: &[],
    another: workload_edits::another,
    far_another: edits::far_another,
    refused: &[],

    left: &["env"],
    theirs: || json!({"env": [{"name": "THEIRS", "value": "1"}]}),
    edit: || json!({"spec": {"image": "localhost/embeddings:2"}}),
    change: || {
        json!({"spec": {
            "image": "localhost/embeddings:2", "replicas": 1, "env": null, "resourceOverrides": null,
        }})
    },
    stays: &[],
};

pub(super) const MCP_REGISTRY: Case = Case {
    kind: "MCPRegistry",
    example: include_str!("../../../../../crates/thv-plan/tests/examples/registry.yaml"),
    name: "shelf",
    minimal: || json!({"configYAML": "sources: []\n"}),
    children: || {
        vec![
            ApiResource::erase::<ConfigMap>(&()),
            ApiResource::erase::<Deployment>(&()),
            ApiResource::erase::<Role>(&()),
            ApiResource::erase::<RoleBinding>(&()),
            ApiResource::erase::<Service>(&()),
            ApiResource::erase::<ServiceAccount>(&()),
        ]
    },
    is_converged: is_observed,

    near: Effects::Listed(include_str!(
        "../../../../../crates/thv-plan/tests/golden/registry-single-edit.txt"
    )),

    left: &["displayName"],
    theirs: || json!({"displayName": "theirs"}),
    edit: || json!({"spec": {"configYAML": "sources: [other]\n"}}),
    change: || {
        json!({"spec": {
            "configYAML": "sources: [other]\n", "pgpassSecretRef": null, "imagePullSecrets": null,
            "podTemplateSpec": null,
        }})
    },
    ..EMBEDDING_SERVER
};

/// They have nothing to do with each other, and so share a namespace and an operator.
const BOTH: [&Case; 2] = [&EMBEDDING_SERVER, &MCP_REGISTRY];

#[tokio::test]
async fn s4_11_g2_g4_every_leaf_of_embedding_servers_and_registries_changed_alone_has_exactly_its_effects() {
    in_namespace(async |space| single_edit::rule(&space, &BOTH).await).await;
}

#[tokio::test]
async fn g1_embedding_servers_and_registries_are_at_a_fixed_point_over_touches_restarts_and_changes_of_leader()
 {
    in_namespace(async |space| fixed_point::rule(&space, &BOTH).await).await;
}

#[tokio::test]
async fn g3_of_embedding_servers_and_registries_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &BOTH).await).await;
}

#[tokio::test]
async fn g4_of_embedding_servers_and_registries_what_an_input_caused_goes_with_it() {
    // A cache cannot come later, so there is none.
    const CACHELESS: Case = Case {
        example: include_str!("embedding-server-without-cache.yaml"),
        // What is applied and then has nothing left in it is taken for absent.
        minimal: || json!({"model": "sentence-transformers/all-MiniLM-L6-v2"}),
        ..EMBEDDING_SERVER
    };
    in_namespace(async |space| withdrawal::rule(&space, &[&CACHELESS, &MCP_REGISTRY]).await).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_an_embedding_server_ends_in_the_same_state() {
    crash::rule(&EMBEDDING_SERVER, Workload::Create).await;
    crash::rule(&EMBEDDING_SERVER, Workload::Update).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_a_registry_ends_in_the_same_state() {
    crash::rule(&MCP_REGISTRY, Workload::Create).await;
    crash::rule(&MCP_REGISTRY, Workload::Update).await;
}
