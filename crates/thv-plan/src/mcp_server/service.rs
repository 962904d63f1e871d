//! The Service in front of the proxy.

use serde_json::json;
use thv_api::kinds::MCPServer;
use thv_api::names::HTTP_PORT_NAME;
use thv_api::names::children::mcp_server;
use thv_api::names::labels::{self, Workload};
use thv_api::shared::SessionAffinity;
use thv_api::value::Port;

use super::name_of;
use crate::child::{Child, ChildKind};
use crate::metadata::{Metadata, OnService, Pairs, Wishes, controller};
use crate::overrides::Refusals;

/// How long a client stays with one pod, in seconds: what the API server would choose.
const AFFINITY_SECONDS: i32 = 10_800;

/// The Service of the proxy.
///
/// How long affinity lasts is set although it is the default, so that it is ours and goes when affinity is switched
/// off.
pub(super) fn service(
    owner: &MCPServer,
    port: Port,
    affinity: SessionAffinity,
    wishes: &Wishes<'_, OnService>,
    refusals: &mut Refusals,
) -> Child {
    let selector = labels::workload(Workload::McpServer, name_of(owner));
    let mut metadata =
        Metadata::<OnService>::new(selector.clone(), Pairs::new()).with(wishes, refusals).render();
    metadata.insert("ownerReferences".to_owned(), controller(owner));
    let mut spec = json!({
        "selector": &selector,
        "sessionAffinity": affinity,
        "ports": [{
            "name": HTTP_PORT_NAME,
            "port": port,
            "targetPort": port,
            "protocol": "TCP",
        }],
    });
    if let (SessionAffinity::ClientIP, Some(spec)) = (affinity, spec.as_object_mut()) {
        let config = json!({ "clientIP": { "timeoutSeconds": AFFINITY_SECONDS } });
        spec.insert("sessionAffinityConfig".to_owned(), config);
    }
    let body = json!({ "metadata": metadata, "spec": spec });
    Child::new(ChildKind::Service, &mcp_server::proxy_service(name_of(owner)), body).identified_by(selector)
}
