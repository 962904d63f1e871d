//! `MCPRemoteProxy`: what it refers to.

use std::collections::BTreeSet;

use thv_api::Kind;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPRemoteProxy,
    MCPRemoteProxySpec, MCPTelemetryConfigSpec, MCPToolConfigSpec,
};

use crate::planned::Refers;
use crate::reference::{Reference, References};
use crate::resolve::{auth_server, authz, external_auth, group, oidc, telemetry, tools};
use crate::settings::Settings;

impl Refers for MCPRemoteProxySpec {
    const REFERS_TO: &'static [&'static str] = &[
        MCPAuthzConfigSpec::KIND,
        MCPExternalAuthConfigSpec::KIND,
        MCPGroupSpec::KIND,
        MCPOIDCConfigSpec::KIND,
        MCPTelemetryConfigSpec::KIND,
        MCPToolConfigSpec::KIND,
    ];

    /// The objects of the API that a proxy refers to. Every field is here, so that a new one cannot be forgotten.
    fn refs(proxy: &MCPRemoteProxy, known: &References, _: &Settings) -> BTreeSet<Reference> {
        let Self {
            remote_url: _,
            allow_private_endpoint: _,
            transport: _,
            proxy_port: _,
            oidc_config_ref,
            external_auth_config_ref,
            auth_server_ref,
            header_forward: _,
            authz_config: _,
            authz_config_ref,
            audit: _,
            tool_config_ref,
            telemetry_config_ref,
            resources: _,
            service_account: _,
            pod_template_spec: _,
            trust_proxy_headers: _,
            endpoint_prefix: _,
            resource_overrides: _,
            group_ref,
            session_affinity: _,
            replicas: _,
            session_storage: _,
        } = &proxy.spec;
        let all = [
            oidc_config_ref.as_ref().map(|it| oidc::references(it, known)),
            authz_config_ref.as_ref().map(authz::shared_references),
            tool_config_ref.as_ref().map(tools::references),
            external_auth_config_ref.as_ref().map(|it| external_auth::references(&it.name, known)),
            auth_server_ref.as_ref().map(|it| auth_server::references(it, known)),
            telemetry_config_ref.as_ref().map(|it| telemetry::references(it, known)),
            group_ref.as_ref().map(group::references),
        ];
        all.into_iter().flatten().flatten().collect()
    }
}

/// The address of a proxy within the cluster.
pub(crate) fn url(namespace: &str, name: &str, spec: &MCPRemoteProxySpec) -> String {
    let host = thv_api::names::children::service_host(&thv_api::names::children::mcp_remote_proxy::service(name), namespace);
    format!("http://{host}:{}/mcp", spec.proxy_port)
}
