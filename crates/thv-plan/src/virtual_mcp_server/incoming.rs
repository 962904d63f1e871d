//! Who may call a virtual server.

use thv_api::conditions::virtual_mcp_server::AuthServerConfigValidated;
use thv_api::kinds::{IncomingAuth, IncomingAuthType, VirtualMCPServerSpec};
use thv_api::names::env;
use thv_config::authz::CedarConfig;
use thv_config::oidc::OidcConfig;
use thv_config::vmcp::{self, AuthzType, Callers, IncomingOidc};

use super::outgoing::{provider_name, providers};
use super::resolved::Resolved;
use crate::invalid::Invalid;
use crate::run_config::{Referenced, oidc_config};

/// The upstream provider whose claims authorization rules see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Provider {
    /// Its name, if there is one.
    pub(super) name: Option<String>,
    /// Whether it was chosen because nobody said which of several it is to be.
    pub(super) is_guess: bool,
    /// What became of the name in the place that is deprecated, if there is one.
    pub(super) deprecated: Option<Deprecated>,
}

/// What becomes of a name in a place that is deprecated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deprecated {
    /// It counts.
    Used,
    /// Another name counts.
    Overruled,
}

/// A choice of a provider that makes no sense, and why.
pub(super) type Incoherent = (AuthServerConfigValidated, String);

/// The upstream provider whose claims the rules see, or why that cannot be told.
pub(super) fn provider(spec: &VirtualMCPServerSpec) -> Result<Provider, Incoherent> {
    use AuthServerConfigValidated as Reason;
    let VirtualMCPServerSpec { incoming_auth, auth_server_config, .. } = spec;
    let IncomingAuth { type_: _, oidc_config_ref: _, authz_config, authz_config_ref } = incoming_auth;
    if authz_config.is_none() && authz_config_ref.is_none() {
        return Ok(Provider::default());
    }
    let filled = |name: &&String| !name.is_empty();
    let server = auth_server_config.as_ref();
    let named = server.and_then(|server| server.primary_upstream_provider.as_ref()).filter(filled);
    let inline = authz_config.as_ref().and_then(|rules| rules.inline.as_ref());
    let deprecated = inline.and_then(|rules| rules.primary_upstream_provider.as_ref()).filter(filled);
    let overruled = if named.is_some() { Deprecated::Overruled } else { Deprecated::Used };
    let explicit = named.or(deprecated).map(|name| provider_name(name));
    let all = providers(server);
    let message = match (server, explicit) {
        (None, Some(name)) => {
            let text = format!(
                "the rules see the claims of the upstream provider {name:?}, and there is no authorization server: set \
                 authServerConfig, or remove primaryUpstreamProvider"
            );
            return Err((Reason::PrimaryProviderRequiresAuthServer, text));
        }
        (Some(_), _) if all.is_empty() => {
            let text =
                "the rules see the claims of an upstream provider, and there is none: add one".to_owned();
            return Err((Reason::RequiresUpstream, text));
        }
        (Some(_), Some(name)) if !all.contains(&name) => {
            format!("there is no upstream provider {name:?}: use one of {}", all.join(", "))
        }
        (server, explicit) => {
            let first = server.and_then(|_| all.first().copied());
            return Ok(Provider {
                name: explicit.or(first).map(str::to_owned),
                is_guess: explicit.is_none() && all.len() > 1,
                deprecated: deprecated.map(|_| overruled),
            });
        }
    };
    Err((Reason::UpstreamUnknown, message))
}

/// The part of the configuration. Where tokens are asked for, nobody comes in without one.
pub(super) fn document(
    spec: &VirtualMCPServerSpec,
    resolved: &Resolved<'_>,
    provider: &Provider,
) -> Result<vmcp::IncomingAuth, Invalid> {
    let referenced = resolved.referenced();
    let callers = match (spec.incoming_auth.type_, referenced.oidc) {
        (IncomingAuthType::Oidc, Some(oidc)) => {
            let has_secret =
                oidc.config.spec.inline.as_ref().is_some_and(|it| it.client_secret_ref.is_some());
            Callers::Oidc(Box::new(identity_provider(oidc_config(oidc, &referenced), has_secret)))
        }
        (IncomingAuthType::Oidc, None) => {
            let message = "type oidc needs an oidcConfigRef: name an MCPOIDCConfig";
            return Err(Invalid::new("spec.incomingAuth", message));
        }
        (IncomingAuthType::Anonymous, _) => Callers::Anonymous,
    };
    Ok(vmcp::IncomingAuth { callers, authz: rules(&referenced, provider) })
}

fn identity_provider(config: OidcConfig, has_secret: bool) -> IncomingOidc {
    let OidcConfig {
        issuer,
        audience,
        jwks_url,
        client_id,
        // The pod has it in its environment.
        client_secret: _,
        ca_cert_path,
        auth_token_file,
        allow_private_ip,
        insecure_allow_http,
        introspection_url,
        resource_url,
        scopes,
    } = config;
    IncomingOidc {
        issuer,
        client_id,
        client_secret_env: if has_secret { env::VMCP_OIDC_CLIENT_SECRET.to_owned() } else { String::new() },
        audience,
        resource: resource_url,
        jwks_url,
        introspection_url,
        scopes: scopes.unwrap_or_default(),
        // A note in the condition tells that it has no effect.
        protected_resource_allow_private_ip: false,
        jwks_allow_private_ip: allow_private_ip,
        insecure_allow_http,
        ca_bundle_path: ca_cert_path,
        jwks_auth_token_path: auth_token_file,
    }
}

fn rules(referenced: &Referenced<'_>, provider: &Provider) -> Option<vmcp::Authz> {
    let CedarConfig {
        policies,
        entities_json,
        // Whoever writes rules does not decide whose claims they see.
        primary_upstream_provider: _,
        group_claim_name,
        role_claim_name,
        group_entity_type,
        multi_valued_claims,
    } = referenced.authz?.cedar.clone()?;
    Some(vmcp::Authz {
        type_: AuthzType::Cedar,
        policies,
        entities_json,
        primary_upstream_provider: provider.name.clone().unwrap_or_default(),
        group_claim_name,
        role_claim_name,
        group_entity_type,
        multi_valued_claims,
    })
}
