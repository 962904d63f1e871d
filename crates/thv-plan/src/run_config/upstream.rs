//! The identity providers of the authorization server.

use thv_api::auth_server as api;
use thv_api::names::env;
use thv_config::auth_server::{
    ClientRegistration, IdentityFromToken, Oauth2Upstream, OidcUpstream, TokenResponseMapping, Upstream,
    UpstreamType, UserInfo, UserInfoFields,
};

/// An identity provider, for a server that clients know by this URL.
pub(super) fn upstream(provider: &api::UpstreamProvider, resource_url: &str) -> Upstream {
    let api::UpstreamProvider { name, type_, oidc_config, oauth2_config } = provider;
    let redirect = format!("{}/oauth/callback", resource_url.trim_end_matches('/'));
    Upstream {
        name: name.clone(),
        type_: match type_ {
            api::UpstreamType::Oidc => UpstreamType::Oidc,
            api::UpstreamType::OAuth2 => UpstreamType::Oauth2,
        },
        oidc_config: oidc_config.as_ref().map(|it| oidc(it, name, &redirect)),
        oauth2_config: oauth2_config.as_ref().map(|it| oauth2(it, name, &redirect)),
    }
}

fn oidc(provider: &api::OidcUpstream, name: &str, redirect: &str) -> OidcUpstream {
    let api::OidcUpstream {
        issuer_url,
        client_id,
        client_secret_ref,
        redirect_uri,
        scopes,
        subject_claim,
        user_info_override,
        additional_authorization_params,
    } = provider;
    OidcUpstream {
        issuer_url: issuer_url.clone(),
        client_id: client_id.clone(),
        client_secret_env_var: client_secret_ref
            .as_ref()
            .map(|_| env::upstream_client_secret(name))
            .unwrap_or_default(),
        redirect_uri: or_default(redirect_uri.as_ref(), redirect),
        scopes: scopes.clone().unwrap_or_default(),
        userinfo_override: user_info_override.as_ref().map(user_info),
        additional_authorization_params: additional_authorization_params.clone().unwrap_or_default().into(),
        subject_claim: subject_claim.clone().unwrap_or_default(),
        ..OidcUpstream::default()
    }
}

fn oauth2(provider: &api::OAuth2Upstream, name: &str, redirect: &str) -> Oauth2Upstream {
    let api::OAuth2Upstream {
        authorization_endpoint,
        token_endpoint,
        client_id,
        client_secret_ref,
        dcr_config,
        redirect_uri,
        scopes,
        user_info: info,
        identity_from_token,
        token_response_mapping,
        additional_authorization_params,
        insecure_allow_http,
        allow_private_ips,
    } = provider;
    Oauth2Upstream {
        authorization_endpoint: authorization_endpoint.clone(),
        token_endpoint: token_endpoint.clone(),
        client_id: client_id.clone().unwrap_or_default(),
        client_secret_env_var: client_secret_ref
            .as_ref()
            .map(|_| env::upstream_client_secret(name))
            .unwrap_or_default(),
        redirect_uri: or_default(redirect_uri.as_ref(), redirect),
        scopes: scopes.clone().unwrap_or_default(),
        userinfo: info.as_ref().map(user_info),
        token_response_mapping: token_response_mapping.as_ref().map(mapping),
        identity_from_token: identity_from_token.as_ref().map(identity),
        additional_authorization_params: additional_authorization_params.clone().unwrap_or_default().into(),
        dcr_config: dcr_config.as_ref().map(|it| registration(it, name)),
        allow_private_ips: allow_private_ips.unwrap_or_default(),
        insecure_allow_http: insecure_allow_http.unwrap_or_default(),
        ..Oauth2Upstream::default()
    }
}

fn or_default(value: Option<&String>, default: &str) -> String {
    value.filter(|value| !value.is_empty()).map_or_else(|| default.to_owned(), Clone::clone)
}

fn registration(registration: &api::DynamicRegistration, name: &str) -> ClientRegistration {
    let api::DynamicRegistration {
        discovery_url,
        registration_endpoint,
        initial_access_token_ref,
        software_id,
        software_statement,
    } = registration;
    let variable = initial_access_token_ref.as_ref().map(|_| env::upstream_initial_access_token(name));
    ClientRegistration {
        discovery_url: discovery_url.clone().unwrap_or_default(),
        registration_endpoint: registration_endpoint.clone().unwrap_or_default(),
        initial_access_token_env_var: variable.unwrap_or_default(),
        software_id: software_id.clone().unwrap_or_default(),
        software_statement: software_statement.clone().unwrap_or_default().into(),
        ..ClientRegistration::default()
    }
}

fn user_info(info: &api::UserInfo) -> UserInfo {
    let api::UserInfo { endpoint_url, http_method, additional_headers, field_mapping } = info;
    UserInfo {
        endpoint_url: endpoint_url.clone(),
        http_method: http_method.map(|method| method.to_string()).unwrap_or_default(),
        additional_headers: additional_headers.clone().unwrap_or_default().into(),
        field_mapping: field_mapping.as_ref().map(|fields| {
            let api::UserInfoFields { subject_fields, name_fields, email_fields } = fields.clone();
            UserInfoFields {
                subject_fields: subject_fields.unwrap_or_default(),
                name_fields: name_fields.unwrap_or_default(),
                email_fields: email_fields.unwrap_or_default(),
            }
        }),
    }
}

fn mapping(mapping: &api::TokenResponseMapping) -> TokenResponseMapping {
    let api::TokenResponseMapping { access_token_path, refresh_token_path, expires_in_path, scope_path } =
        mapping.clone();
    TokenResponseMapping {
        access_token_path,
        scope_path: scope_path.unwrap_or_default(),
        refresh_token_path: refresh_token_path.unwrap_or_default(),
        expires_in_path: expires_in_path.unwrap_or_default(),
    }
}

fn identity(identity: &api::IdentityFromToken) -> IdentityFromToken {
    let api::IdentityFromToken { subject_path, name_path, email_path } = identity.clone();
    IdentityFromToken {
        subject_path,
        name_path: name_path.unwrap_or_default(),
        email_path: email_path.unwrap_or_default(),
    }
}
