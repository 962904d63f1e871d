//! How the proxy proves to a backend who calls.

use thv_api::kinds::TokenExchange;
use thv_config::Credential;
use thv_config::outgoing::{HeaderStrategy, TokenExchangeConfig};
use thv_config::remote::RemoteAuthConfig;

use crate::resolve::{ExternalAuthMethod, Resolved};

const TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:";

/// An exchange of the caller's token.
pub(super) fn token_exchange(resolved: &Resolved) -> Option<TokenExchangeConfig> {
    let ExternalAuthMethod::TokenExchange(exchange) = &resolved.external_auth.usable()?.method else {
        return None;
    };
    let TokenExchange {
        token_url,
        client_id,
        // The pod has it in its environment.
        client_secret_ref: _,
        audience,
        scopes,
        subject_token_type,
        external_token_header_name,
        // Only a gateway heeds it.
        subject_provider_name: _,
    } = exchange;
    let header = external_token_header_name.clone().unwrap_or_default();
    Some(TokenExchangeConfig {
        token_url: token_url.clone(),
        client_id: client_id.clone().unwrap_or_default(),
        audience: audience.clone(),
        scopes: scopes.clone().unwrap_or_default(),
        subject_token_type: subject_token_type.as_deref().map(token_type).unwrap_or_default(),
        header_strategy: Some(if header.is_empty() {
            HeaderStrategy::Replace
        } else {
            HeaderStrategy::Custom
        }),
        external_token_header_name: header,
        ..TokenExchangeConfig::default()
    })
}

/// The whole name of a token type.
fn token_type(name: &str) -> String {
    match name {
        "access_token" | "id_token" | "jwt" => format!("{TOKEN_TYPE}{name}"),
        whole => whole.to_owned(),
    }
}

/// A fixed token, by the name under which the pod's environment has it.
pub(super) fn bearer_token(resolved: &Resolved) -> Option<RemoteAuthConfig> {
    let ExternalAuthMethod::BearerToken(token) = &resolved.external_auth.usable()?.method else {
        return None;
    };
    let bearer_token = Credential::new(format!("{},target=bearer_token", token.token_secret_ref.name));
    Some(RemoteAuthConfig { bearer_token, ..RemoteAuthConfig::default() })
}
