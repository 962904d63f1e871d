//! `MCPRemoteProxy`.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use kube::ResourceExt as _;
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};
use thv_testbed::{Pattern, Verb, in_namespace};

use super::case::remote_edits::{remote_another, remote_far_another};
use super::case::remote_references::REMOTE_REFERENCES;
use super::case::{Case, Effects, is_observed};
use super::crash::Workload;
use super::{crash, fixed_point, foreign, single_edit, withdrawal};
use crate::operator::Program;

pub(super) const MCP_REMOTE_PROXY: Case = Case {
    program: Program::Shipped,
    kind: "MCPRemoteProxy",
    example: include_str!("../../../../../crates/thv-plan/tests/examples/remote.yaml"),
    name: "saas",
    more: include_str!("../../../../../crates/thv-plan/tests/examples/more-remote.yaml"),
    shared: "",
    minimal: || json!({"remoteUrl": "https://mcp.example.com/mcp"}),
    companions: |proxy| vec![autoscaler(proxy)],
    children: || {
        vec![
            ApiResource::erase::<ConfigMap>(&()),
            ApiResource::erase::<Deployment>(&()),
            ApiResource::erase::<Service>(&()),
            ApiResource::erase::<ServiceAccount>(&()),
        ]
    },
    workloads: 1,
    strangers: &[
        "embeddingservers",
        "mcpregistries",
        "mcpserverentries",
        "mcpservers",
        "mcpwebhookconfigs",
        "rolebindings",
        "roles",
        "statefulsets",
        "virtualmcpcompositetooldefinitions",
        "virtualmcpservers",
    ],
    is_converged: is_observed,
    pulse: Some(|| Pattern::verb(Verb::Get).of("secrets").named("far-redis-auth")),
    refer_to_secret: Some(add_header),

    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/remote-single-edit.txt")),
    far: include_str!("../../../../../crates/thv-plan/tests/golden/remote-far-edit.txt"),
    references: REMOTE_REFERENCES,
    another: remote_another,
    far_another: remote_far_another,
    refused: &[
        ("/authzConfig/type", FIELD_OF_TYPE),
        ("MCPOIDCConfig far-oidc /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig far-sts /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig far-exchange /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig far-sign-in /spec/type", FIELD_OF_TYPE),
        (
            "MCPExternalAuthConfig far-sign-in /spec/embeddedAuthServer/upstreamProviders/0/type",
            FIELD_OF_TYPE,
        ),
    ],

    left: &["replicas", "authzConfig"],
    theirs: || {
        let policies = json!(["permit(principal, action, resource);"]);
        json!({"authzConfig": {"type": "inline", "inline": {"policies": policies}}})
    },
    edit: || json!({"spec": {"remoteUrl": "https://mcp.example.com/other"}}),
    change: || {
        json!({"spec": {
            "remoteUrl": "https://mcp.example.com/other", "replicas": null, "authzConfig": null,
            "serviceAccount": "theirs",
        }})
    },
    stays: &[("Deployment saas.spec.replicas", "a count that is taken back is handed over as it is")],
};

/// Why a type cannot be changed alone.
const FIELD_OF_TYPE: &str = "the schema wants the field that belongs to the type";

fn autoscaler(proxy: &DynamicObject) -> Value {
    let name = proxy.name_any();
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1, "maxReplicas": 5,
        },
    })
}

/// Has an object add a header with its value in a Secret.
pub(super) fn add_header(object: &mut Value, name: &str, key: &str) {
    let header = json!({"headerName": format!("X-{name}"), "valueSecretRef": {"name": name, "key": key}});
    match &mut object["spec"]["headerForward"]["addHeadersFromSecret"] {
        Value::Array(all) => all.push(header),
        none => *none = json!([header]),
    }
}

#[tokio::test]
async fn g2_g4_every_leaf_of_a_remote_proxy_changed_alone_on_the_api_server_has_exactly_its_effects() {
    in_namespace(async |space| single_edit::rule(&space, &[&MCP_REMOTE_PROXY]).await).await;
}

#[tokio::test]
async fn g1_a_remote_proxy_is_at_a_fixed_point_over_touches_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &[&MCP_REMOTE_PROXY]).await).await;
}

#[tokio::test]
async fn g3_of_a_remote_proxy_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &[&MCP_REMOTE_PROXY]).await).await;
}

#[tokio::test]
async fn g4_of_a_remote_proxy_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| withdrawal::rule(&space, &[&MCP_REMOTE_PROXY]).await).await;
}

#[tokio::test]
#[ignore = "soak: it takes minutes, and the way of a write is that of an MCPServer"]
async fn soak_a_crash_after_any_write_for_a_remote_proxy_ends_in_the_same_state() {
    crash::rule(&MCP_REMOTE_PROXY, Workload::Create).await;
    crash::rule(&MCP_REMOTE_PROXY, Workload::Update).await;
}
