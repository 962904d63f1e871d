//! Everything that has to be read for a virtual server, hence watched.

use std::collections::BTreeSet;

use thv_api::Kind;
use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::kinds::{
    Aggregation, BackendAuth, EmbeddingServerSpec, IncomingAuth, MCPAuthzConfigSpec,
    MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec, MCPToolConfigSpec,
    OutgoingAuth, OutgoingAuthSource, VirtualMCPCompositeToolDefinitionSpec, VirtualMCPServer,
    VirtualMCPServerSpec, VmcpConfig,
};
use thv_api::shared::EmbeddingServerRef;

use crate::backends::{self, Member};
use crate::planned::Refers;
use crate::reference::{Reference, References};
use crate::resolve::{
    Need, auth_server, authz, ca_bundle, gateway_auth, group, headers, oidc, session_redis, telemetry, tools,
};
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

    /// Everything that a virtual server refers to, directly or through others. Every field is here, so that a new one
    /// cannot be forgotten.
    fn refs(server: &VirtualMCPServer, known: &References, settings: &Settings) -> BTreeSet<Reference> {
        let Self {
            group_ref,
            incoming_auth,
            outgoing_auth,
            passthrough_headers: _,
            service_type: _,
            session_affinity: _,
            // The pod fails to start without it, and says so better than we could.
            service_account: _,
            pod_template_spec: _,
            config,
            telemetry_config_ref,
            embedding_server_ref,
            auth_server_config,
            replicas: _,
            session_storage,
            // Pull secrets may be missing where images need none.
            image_pull_secrets: _,
        } = &server.spec;
        let mut all: Vec<Reference> = group::references(group_ref);
        all.extend(backends::references(&group_ref.name));
        all.extend(of_members(&group_ref.name, source(outgoing_auth.as_ref()), known));
        all.extend(incoming(incoming_auth, known));
        all.extend(outgoing_auth.iter().flat_map(|auth| outgoing(auth, known)));
        all.extend(config.iter().flat_map(configured));
        all.extend(telemetry_config_ref.iter().flat_map(|it| telemetry::references(it, known)));
        all.extend(embedding_server_ref.iter().flat_map(embedding));
        all.extend(auth_server_config.iter().flat_map(embedded));
        all.extend(session_storage.iter().flat_map(session_redis::needs).map(|need| need.reference()));
        all.extend(session_redis::default_references(session_storage.as_ref(), settings));
        // Nothing has an empty name, so there is nothing to read.
        all.into_iter().filter(|reference| !reference.name().is_empty()).collect()
    }
}

/// Where the backends and their credentials come from.
pub(super) fn source(auth: Option<&OutgoingAuth>) -> OutgoingAuthSource {
    auth.map_or(OutgoingAuthSource::Discovered, |auth| auth.source)
}

/// What the members of the group refer to, as far as the pods need it.
///
/// A gateway that discovers its backends signs in with what it reads itself, and so does without the Secrets here. Files
/// it has from its pod in any case.
fn of_members(group: &str, source: OutgoingAuthSource, known: &References) -> Vec<Reference> {
    let mut all = Vec::new();
    for (_, member) in backends::members(group, known) {
        let auth = member.auth().map(|it| it.name.as_str());
        match source {
            OutgoingAuthSource::Discovered => {
                all.extend(auth.map(Reference::object::<MCPExternalAuthConfigSpec>));
            }
            OutgoingAuthSource::Inline => {
                all.extend(auth.iter().flat_map(|name| gateway_auth::references(name, known)));
            }
        }
        let Member::Entry(entry) = member else { continue };
        let bundle = entry.ca_bundle_ref.iter().filter_map(|it| ca_bundle::need("caBundleRef", it));
        all.extend(bundle.map(|need| need.reference()));
        if source == OutgoingAuthSource::Inline {
            let secrets = entry.header_forward.iter().flat_map(headers::needs);
            all.extend(secrets.map(|need| need.reference()));
        }
    }
    all
}

fn incoming(auth: &IncomingAuth, known: &References) -> Vec<Reference> {
    let IncomingAuth { type_: _, oidc_config_ref, authz_config, authz_config_ref } = auth;
    let provider = oidc_config_ref.iter().flat_map(|it| oidc::references(it, known));
    let rules = authz_config.iter().flat_map(authz::needs).map(|need| need.reference());
    provider.chain(rules).chain(authz_config_ref.iter().flat_map(authz::shared_references)).collect()
}

fn outgoing(auth: &OutgoingAuth, known: &References) -> Vec<Reference> {
    let OutgoingAuth { source: _, default, backends } = auth;
    let all = default.iter().chain(backends.iter().flat_map(|backends| backends.values()));
    let named = all
        .filter_map(|BackendAuth { type_: _, external_auth_config_ref }| external_auth_config_ref.as_ref());
    named.flat_map(|it| gateway_auth::references(&it.name, known)).collect()
}

fn configured(config: &VmcpConfig) -> Vec<Reference> {
    let workloads = config.aggregation.iter().flat_map(|Aggregation { tools, .. }| tools.iter().flatten());
    let tools = workloads.filter_map(|tools| tools.tool_config_ref.as_ref()).flat_map(tools::references);
    let composite = config.composite_tool_refs.iter().flatten();
    let composite = composite.map(|it| Reference::object::<VirtualMCPCompositeToolDefinitionSpec>(&it.name));
    tools.chain(composite).collect()
}

fn embedding(EmbeddingServerRef { name }: &EmbeddingServerRef) -> [Reference; 2] {
    [Reference::object::<EmbeddingServerSpec>(name), Reference::status::<EmbeddingServerSpec>(name)]
}

fn embedded(server: &EmbeddedAuthServer) -> Vec<Reference> {
    auth_server::needs(server).iter().map(Need::reference).collect()
}
