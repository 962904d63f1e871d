//! How callers prove who they are.

use thv_api::kinds::{InlineOIDC, KubernetesServiceAccountOIDC, MCPOIDCConfigSpec};
use thv_config::oidc::OidcConfig;

use super::{Referenced, paths};
use crate::resolve::{Oidc, auth_server};

/// How callers prove who they are.
pub(crate) fn oidc(oidc: &Oidc, referenced: &Referenced<'_>) -> OidcConfig {
    let Oidc { config, audience, scopes, resource_url } = oidc;
    let offered = || referenced.auth_server.map(|_| auth_server::scopes(None));
    let common = OidcConfig {
        audience: audience.clone(),
        resource_url: resource_url.clone(),
        scopes: scopes.clone().or_else(offered),
        ..OidcConfig::default()
    };
    let MCPOIDCConfigSpec { type_: _, kubernetes_service_account, inline } = &config.spec;
    match (kubernetes_service_account, inline) {
        (_, Some(inline)) => from_inline(inline, referenced, common),
        (Some(cluster), None) => from_cluster(cluster, common),
        (None, None) => common,
    }
}

fn from_cluster(cluster: &KubernetesServiceAccountOIDC, common: OidcConfig) -> OidcConfig {
    let KubernetesServiceAccountOIDC {
        // A note in the condition tells that these two have no effect.
        service_account: _,
        namespace: _,
        issuer,
        jwks_url,
        introspection_url,
        use_cluster_auth,
    } = cluster;
    let cluster_auth = use_cluster_auth.unwrap_or(true);
    let file = |path: &str| if cluster_auth { path.to_owned() } else { String::new() };
    OidcConfig {
        issuer: if issuer.is_empty() { "https://kubernetes.default.svc".to_owned() } else { issuer.clone() },
        jwks_url: jwks_url.clone().unwrap_or_default(),
        introspection_url: introspection_url.clone().unwrap_or_default(),
        ca_cert_path: file(paths::CLUSTER_CA),
        auth_token_file: file(paths::CLUSTER_TOKEN),
        allow_private_ip: cluster_auth,
        ..common
    }
}

fn from_inline(inline: &InlineOIDC, referenced: &Referenced<'_>, common: OidcConfig) -> OidcConfig {
    let InlineOIDC {
        issuer,
        jwks_url,
        introspection_url,
        client_id,
        // The pod has it in its environment.
        client_secret_ref: _,
        // Resolved by itself.
        ca_bundle_ref: _,
        jwks_auth_token_path,
        jwks_allow_private_ip,
        // A note in the condition tells that it has no effect.
        protected_resource_allow_private_ip: _,
        insecure_allow_http,
    } = inline;
    OidcConfig {
        issuer: issuer.clone(),
        jwks_url: jwks_url.clone().unwrap_or_default(),
        introspection_url: introspection_url.clone().unwrap_or_default(),
        client_id: client_id.clone().unwrap_or_default(),
        ca_cert_path: referenced
            .oidc_ca_bundle
            .map(|bundle| paths::oidc_ca(bundle).path())
            .unwrap_or_default(),
        auth_token_file: jwks_auth_token_path.clone().unwrap_or_default(),
        allow_private_ip: *jwks_allow_private_ip,
        insecure_allow_http: *insecure_allow_http,
        ..common
    }
}
