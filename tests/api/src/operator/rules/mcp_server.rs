//! `MCPServer`.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt as _;
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_api::names::annotations;
use thv_testbed::{Pattern, Verb, in_namespace};

use super::case::references::REFERENCES;
use super::case::{Case, Effects, edits, is_observed};
use super::crash::Workload;
use super::{crash, fixed_point, foreign, single_edit, withdrawal};
use crate::fixture::stateful_set;
use crate::operator::Program;

pub(super) const MCP_SERVER: Case = Case {
    program: Program::Shipped,
    kind: "MCPServer",
    example: include_str!("../../../../../crates/thv-plan/tests/examples/full.yaml"),
    name: "web",
    more: include_str!("../../../../../crates/thv-plan/tests/examples/more.yaml"),
    shared: "",
    minimal: super::super::minimal,
    companions,
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
    workloads: 1,
    strangers: &[
        "embeddingservers",
        "mcpregistries",
        "mcpremoteproxies",
        "mcpserverentries",
        "virtualmcpcompositetooldefinitions",
        "virtualmcpservers",
    ],
    is_converged: is_observed,
    pulse: Some(|| Pattern::verb(Verb::Get).of("secrets").named("redis-auth")),
    refer_to_secret: Some(|server, name, key| {
        let secrets = server["spec"]["secrets"].as_array_mut();
        secrets.expect("every example has secrets").push(json!({"name": name, "key": key}));
    }),

    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/single-edit.txt")),
    far: include_str!("../../../../../crates/thv-plan/tests/golden/far-edit.txt"),
    references: REFERENCES,
    another: edits::another,
    far_another: edits::far_another,
    refused: &[
        ("/authzConfig/type", FIELD_OF_TYPE),
        ("/sessionStorage/provider", "the schema wants Redis where there are rate limits"),
        ("MCPOIDCConfig corp-oidc /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig exchange /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig sign-in /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig registering /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig registered /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig discovering /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig sign-in /spec/embeddedAuthServer/upstreamProviders/0/type", FIELD_OF_TYPE),
        (
            "MCPExternalAuthConfig registering /spec/embeddedAuthServer/upstreamProviders/0/type",
            FIELD_OF_TYPE,
        ),
        ("MCPExternalAuthConfig registered /spec/embeddedAuthServer/upstreamProviders/0/type", FIELD_OF_TYPE),
        (
            "MCPExternalAuthConfig discovering /spec/embeddedAuthServer/upstreamProviders/0/type",
            FIELD_OF_TYPE,
        ),
        (
            "MCPExternalAuthConfig sign-in /spec/embeddedAuthServer/allowConfidentialClientRegistration",
            "the schema wants it where redirect URIs are forced to be confidential",
        ),
        (
            "MCPExternalAuthConfig sign-in /spec/embeddedAuthServer/insecureAllowHTTP",
            "the schema wants it off where clients are confidential",
        ),
    ],

    left: &["replicas", "authzConfig"],
    theirs: || {
        let policies = json!(["permit(principal, action, resource);"]);
        json!({"authzConfig": {"type": "inline", "inline": {"policies": policies}}})
    },
    edit: || json!({"spec": {"image": "localhost/server:2"}}),
    change: || {
        json!({"spec": {
            "image": "localhost/server:2", "replicas": null, "authzConfig": null, "serviceAccount": "theirs",
        }})
    },
    stays: &[("Deployment web.spec.replicas", "a count that is taken back is handed over as it is")],
};

/// Why a type cannot be changed alone.
const FIELD_OF_TYPE: &str = "the schema wants the field that belongs to the type";

/// The backend as a proxy makes it, and an autoscaler of the proxy.
fn companions(server: &DynamicObject) -> Vec<Value> {
    let (name, uid) = (server.name_any(), server.uid().unwrap_or_default());
    let mut backend = stateful_set(&name, "localhost/server:1");
    backend["metadata"] = json!({
        "name": name,
        "labels": {"toolhive": "true"},
        "annotations": {annotations::APPLIED_REVISION: format!("{uid}/1")},
        "ownerReferences": [{
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "name": name, "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
    });
    let autoscaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1, "maxReplicas": 5,
        },
    });
    vec![backend, autoscaler]
}

#[tokio::test]
async fn g2_g4_every_leaf_changed_alone_on_the_api_server_has_exactly_its_effects() {
    in_namespace(async |space| single_edit::rule(&space, &[&MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g1_fixed_point_over_pokes_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &[&MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g3_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &[&MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g4_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| withdrawal::rule(&space, &[&MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_the_nth_creating_write_ends_in_the_same_state() {
    crash::rule(&MCP_SERVER, Workload::Create).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_the_nth_updating_write_ends_in_the_same_state() {
    crash::rule(&MCP_SERVER, Workload::Update).await;
}

#[tokio::test]
async fn g1_g4_a_crash_after_the_nth_deleting_write_ends_in_the_same_state() {
    crash::rule(&MCP_SERVER, Workload::Delete).await;
}
