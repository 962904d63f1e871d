//! `VirtualMCPServer`: what it refers to.

use std::collections::BTreeSet;

use thv_api::Kind;
use thv_api::kinds::{
    Aggregation, BackendAuth, EmbeddingServerSpec, IncomingAuth, MCPAuthzConfigSpec,
    MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec, MCPToolConfigSpec,
    OutgoingAuth, VirtualMCPCompositeToolDefinitionSpec, VirtualMCPServer, VirtualMCPServerSpec, VmcpConfig,
};

use crate::planned::Refers;
use crate::reference::{Reference, References};
use crate::resolve::{authz, external_auth, group, oidc, telemetry, tools};
use crate::settings::Settings;

impl Refers for VirtualMCPServerSpec {
    const REFERS_TO: &'static [&'static str] = &[
        MCPAuthzConfigSpec::KIND,
        MCPExternalAuthConfigSpec::KIND,
        MCPGroupSpec::KIND,
        MCPOIDCConfigSpec::KIND,
        MCPTelemetryConfigSpec::KIND,
        MCPToolConfigSpec::KIND,
        EmbeddingServerSpec::KIND,
        VirtualMCPCompositeToolDefinitionSpec::KIND,
    ];

    /// The objects of the API that a virtual server refers to. Every field is here, so that a new one cannot be forgotten.
    fn refs(server: &VirtualMCPServer, known: &References, _: &Settings) -> BTreeSet<Reference> {
        let Self {
            group_ref,
            incoming_auth,
            outgoing_auth,
            passthrough_headers: _,
            service_type: _,
            session_affinity: _,
            service_account: _,
            pod_template_spec: _,
            config,
            telemetry_config_ref,
            embedding_server_ref,
            auth_server_config: _,
            replicas: _,
            session_storage: _,
            image_pull_secrets: _,
        } = &server.spec;
        let mut all = group::references(group_ref);
        all.extend(incoming(incoming_auth, known));
        all.extend(outgoing_auth.iter().flat_map(|auth| outgoing(auth, known)));
        all.extend(config.iter().flat_map(configured));
        all.extend(telemetry_config_ref.iter().flat_map(|it| telemetry::references(it, known)));
        all.extend(embedding_server_ref.iter().map(|it| Reference::object::<EmbeddingServerSpec>(&it.name)));
        all.into_iter().collect()
    }
}

fn incoming(auth: &IncomingAuth, known: &References) -> Vec<Reference> {
    let IncomingAuth { type_: _, oidc_config_ref, authz_config: _, authz_config_ref } = auth;
    let provider = oidc_config_ref.iter().flat_map(|it| oidc::references(it, known));
    provider.chain(authz_config_ref.iter().flat_map(authz::shared_references)).collect()
}

fn outgoing(auth: &OutgoingAuth, known: &References) -> Vec<Reference> {
    let OutgoingAuth { source: _, default, backends } = auth;
    let all = default.iter().chain(backends.iter().flat_map(|backends| backends.values()));
    let named = all
        .filter_map(|BackendAuth { type_: _, external_auth_config_ref }| external_auth_config_ref.as_ref());
    named.flat_map(|it| external_auth::references(&it.name, known)).collect()
}

fn configured(config: &VmcpConfig) -> Vec<Reference> {
    let workloads = config.aggregation.iter().flat_map(|Aggregation { tools, .. }| tools.iter().flatten());
    let tools = workloads.filter_map(|tools| tools.tool_config_ref.as_ref()).flat_map(tools::references);
    let composite = config.composite_tool_refs.iter().flatten();
    let composite = composite.map(|it| Reference::object::<VirtualMCPCompositeToolDefinitionSpec>(&it.name));
    tools.chain(composite).collect()
}
