//! `VirtualMCPServer`, among a group with a member of each kind.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt as _;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::{Value, json};
use thv_api::names::labels;
use thv_testbed::{Pattern, Space, Verb, in_namespace, wait};

use super::case::virtual_edits::special;
use super::case::virtual_references::REFERENCES;
use super::case::{Case, Effects, edits, is_observed};
use super::crash::Workload;
use super::{crash, fixed_point, foreign, single_edit, withdrawal};
use crate::operator::{Program, pods};

/// Both manifests, since servers of the second refer to objects of the first.
const EXAMPLES: &str = concat!(
    include_str!("../../../../../crates/thv-plan/tests/examples/virtual.yaml"),
    "---\n",
    include_str!("../../../../../crates/thv-plan/tests/examples/more-virtual.yaml"),
);

pub(super) const VIRTUAL_MCP_SERVER: Case = Case {
    program: Program::Shipped,
    kind: "VirtualMCPServer",
    example: EXAMPLES,
    name: "hub",
    more: "",
    shared: "",
    minimal: || json!({"groupRef": {"name": "probe-crew"}, "incomingAuth": {"type": "anonymous"}}),
    companions: |server| vec![autoscaler(server)],
    // The Secret that sessions are bound with is made and never applied.
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
    // Pods are those of members and of the embedding server as well.
    strangers: &["mcpregistries", "mcpwebhookconfigs", "pods", "statefulsets"],
    is_converged: |server| {
        is_observed(server) && !wait::has_condition(server, "EmbeddingServerReady", "False")
    },
    pulse: Some(|| Pattern::verb(Verb::Get).of("secrets").named("crew-redis")),
    refer_to_secret: Some(|server, name, key| {
        server["spec"]["sessionStorage"]["passwordRef"] = json!({"name": name, "key": key});
    }),

    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/virtual-hub.txt")),
    far: include_str!("../../../../../crates/thv-plan/tests/golden/virtual-far.txt"),
    references: REFERENCES,
    another,
    far_another: another,
    refused: &[
        ("/incomingAuth/type", "the schema wants to know callers who have limits of their own"),
        ("/incomingAuth/authzConfig/type", FIELD_OF_TYPE),
        ("/config/operational/logLevel", "the schema knows one value"),
        ("/config/optimizer/embeddingProvider", "the schema wants no embedding server beside that provider"),
        ("/sessionStorage/provider", "the schema wants Redis where there are rate limits"),
        ("MCPOIDCConfig crew-oidc /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig crew-exchange /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig crew-key /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig crew-inject /spec/type", FIELD_OF_TYPE),
        ("MCPExternalAuthConfig crew-cross /spec/type", FIELD_OF_TYPE),
    ],

    left: &["replicas", "passthroughHeaders"],
    theirs: || json!({"passthroughHeaders": ["X-Theirs"]}),
    edit: || json!({"spec": {"config": {"metadata": {"team": "other"}}}}),
    change: || {
        json!({"spec": {
            "config": {"metadata": {"team": "other"}}, "replicas": null, "serviceAccount": "default",
        }})
    },
    stays: &[("Deployment hub.spec.replicas", "a count that is taken back is handed over as it is")],
};

/// Why a type cannot be changed alone.
const FIELD_OF_TYPE: &str = "the schema wants the field that belongs to the type";

/// One that discovers its backends.
const DISCOVERING: Case = Case {
    name: "rooms",
    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/virtual-rooms.txt")),
    far: "",
    references: &[],
    refused: &[(
        "/config/optimizer/embeddingProvider",
        "the schema wants that provider where headers are sent to it",
    )],
    ..VIRTUAL_MCP_SERVER
};

/// One with an authorization server of its own.
const SIGNING_IN: Case = Case {
    name: "gate",
    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/virtual-gate.txt")),
    far: "",
    references: &[],
    refused: &[
        ("/incomingAuth/authzConfig/type", FIELD_OF_TYPE),
        ("/authServerConfig/upstreamProviders/0/type", FIELD_OF_TYPE),
        ("/authServerConfig/upstreamProviders/1/type", FIELD_OF_TYPE),
        ("/authServerConfig/upstreamProviders/2/type", FIELD_OF_TYPE),
        (
            "/authServerConfig/allowConfidentialClientRegistration",
            "the schema wants it where redirect URIs are forced to be confidential",
        ),
        ("/authServerConfig/insecureAllowHTTP", "the schema wants it off where clients are confidential"),
    ],
    ..VIRTUAL_MCP_SERVER
};

/// One with settings that the operator fills in from elsewhere.
const FILLED_IN: Case = Case {
    name: "ward",
    near: Effects::Listed(include_str!("../../../../../crates/thv-plan/tests/golden/virtual-ward.txt")),
    far: "",
    references: &[],
    refused: &[
        ("/incomingAuth/type", FIELD_OF_TYPE),
        ("/incomingAuth/authzConfig/type", FIELD_OF_TYPE),
        ("/config/optimizer/embeddingProvider", "the schema wants no embedding server beside that provider"),
    ],
    ..VIRTUAL_MCP_SERVER
};

/// One that has children of every kind, and needs little.
const SMALL: Case = Case {
    example: "
apiVersion: v1
kind: Secret
metadata: {name: crew-redis}
stringData: {password: x}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPGroup
metadata: {name: crew}
spec: {}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: VirtualMCPServer
metadata: {name: hub}
spec:
  groupRef: {name: crew}
  incomingAuth: {type: anonymous}
  replicas: 2
  sessionStorage: {provider: redis, address: 'redis.fleet:6379', passwordRef: {name: crew-redis, key: password}}
",
    companions: |_| Vec::new(),
    ..VIRTUAL_MCP_SERVER
};

/// Another value for a leaf.
fn another(pointer: &str, value: &Value) -> Value {
    special(pointer, value).unwrap_or_else(|| edits::far_another(pointer, value))
}

fn autoscaler(server: &DynamicObject) -> Value {
    let name = server.name_any();
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1, "maxReplicas": 5,
        },
    })
}

/// Has the pods of embedding servers ready as soon as they are there, as long as the test lasts: here no node runs them, and
/// the first pods of a virtual server wait for them. Those of other tests stay as they are.
pub(super) fn serve_embeddings(space: &Space) {
    let space = space.clone();
    tokio::spawn(async move {
        // A pod that cannot be reported goes, or is tried again.
        while report_ready(&space).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
}

async fn report_ready(space: &Space) -> Result<()> {
    let selector =
        ListParams::default().labels(&format!("{}={}", labels::APP_COMPONENT, labels::EMBEDDING_SERVER));
    for pod in space.api::<Pod>().list(&selector).await? {
        let is_ours = pod.name_any().starts_with("crew-") || pod.name_any().contains("far-");
        if is_ours && !wait::has_condition(&pod, "Ready", "True") {
            pods::report(space, &pod.name_any(), pods::ready("embedding")).await.ok();
        }
    }
    Ok(())
}

#[tokio::test]
async fn g2_g4_every_leaf_of_virtual_servers_changed_alone_on_the_api_server_has_exactly_its_effects() {
    let all = [&VIRTUAL_MCP_SERVER, &DISCOVERING, &SIGNING_IN, &FILLED_IN];
    in_namespace(async |space| single_edit::rule(&space, &all).await).await;
}

#[tokio::test]
async fn g1_virtual_servers_are_at_a_fixed_point_over_touches_restarts_and_changes_of_leader() {
    in_namespace(async |space| fixed_point::rule(&space, &[&VIRTUAL_MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g3_of_a_virtual_server_what_others_write_survives_and_nothing_loops() {
    in_namespace(async |space| foreign::rule(&space, &[&VIRTUAL_MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g4_of_a_virtual_server_what_an_input_caused_goes_with_it() {
    in_namespace(async |space| withdrawal::rule(&space, &[&VIRTUAL_MCP_SERVER]).await).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_any_write_on_a_virtual_server_ends_in_the_same_state() {
    // Nothing is written when one goes: its children go with it.
    crash::rule(&SMALL, Workload::Create).await;
    crash::rule(&SMALL, Workload::Update).await;
}
