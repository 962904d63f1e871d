//! The identity providers of an authorization server.

use std::collections::{BTreeMap, BTreeSet};

use thv_api::auth_server::{
    DynamicRegistration, EmbeddedAuthServer, OAuth2Upstream, OidcUpstream, UpstreamProvider, UpstreamType,
};
use thv_api::names::env;

use crate::invalid::InvalidList;
use crate::resolve::url::web_url_error;

/// Parameters of the authorization request that OAuth itself sets.
const RESERVED_PARAMS: [&str; 8] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "nonce",
];

/// The names of OAuth 2 providers that do not say who the user is: nobody asks them, and nothing in their tokens tells.
pub(crate) fn without_identity(server: &EmbeddedAuthServer) -> Vec<&str> {
    let is_silent = |upstream: &&UpstreamProvider| {
        let oauth2 = upstream.oauth2_config.as_ref();
        oauth2.is_some_and(|oauth2| oauth2.user_info.is_none() && oauth2.identity_from_token.is_none())
    };
    let silent = server.upstream_providers.iter().filter(is_silent);
    let mut names: Vec<&str> = silent.map(|upstream| upstream.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// What is wrong with identity providers.
pub(super) fn validate_upstreams(upstreams: &[UpstreamProvider]) -> Result<(), InvalidList> {
    let mut invalid = InvalidList::default();
    let (mut names, mut variables) = (BTreeSet::new(), BTreeMap::new());
    for (index, upstream) in upstreams.iter().enumerate() {
        let UpstreamProvider { name, type_, oidc_config, oauth2_config } = upstream;
        let path = format!("[{index}]");
        invalid.required(name, format!("{path}.name"));
        if !names.insert(name) {
            invalid.add(format!("{path}.name"), "is there twice: give each its own");
        } else if let Some(other) = variables.insert(env::upstream_client_secret(name), name) {
            invalid.add(format!("{path}.name"), format!("is too much like {other:?}: choose another"));
        }
        match (type_, oidc_config, oauth2_config) {
            (UpstreamType::Oidc, Some(oidc), None) => {
                invalid.below(&format!("{path}.oidcConfig"), validate_oidc(oidc));
            }
            (UpstreamType::OAuth2, None, Some(oauth2)) => {
                invalid.below(&format!("{path}.oauth2Config"), validate_oauth2(oauth2));
            }
            _ => invalid.add(path, "has settings that do not fit its type: set the ones of its type only"),
        }
    }
    invalid.finish()
}

fn validate_oidc(oidc: &OidcUpstream) -> Result<(), InvalidList> {
    let OidcUpstream {
        issuer_url,
        client_id,
        client_secret_ref: _,
        redirect_uri: _,
        scopes: _,
        subject_claim: _,
        user_info_override: _,
        additional_authorization_params,
    } = oidc;
    let mut invalid = InvalidList::default();
    if let Some(error) = web_url_error(issuer_url, false) {
        invalid.add("issuerUrl", error);
    }
    invalid.required(client_id, "clientId");
    check_params(&mut invalid, additional_authorization_params.as_ref());
    invalid.finish()
}

fn validate_oauth2(oauth2: &OAuth2Upstream) -> Result<(), InvalidList> {
    let OAuth2Upstream {
        authorization_endpoint,
        token_endpoint,
        client_id,
        client_secret_ref,
        dcr_config,
        redirect_uri: _,
        scopes: _,
        user_info: _,
        identity_from_token,
        token_response_mapping: _,
        additional_authorization_params,
        insecure_allow_http: _,
        allow_private_ips: _,
    } = oauth2;
    let mut invalid = InvalidList::default();
    for (path, url) in [("authorizationEndpoint", authorization_endpoint), ("tokenEndpoint", token_endpoint)]
    {
        if let Some(error) = web_url_error(url, true) {
            invalid.add(path, error);
        }
    }
    let has_client = client_id.as_ref().is_some_and(|id| !id.is_empty());
    invalid.unless(has_client != dcr_config.is_some(), "clientId", "or dcrConfig: set one of them");
    let both = dcr_config.is_some() && client_secret_ref.is_some();
    invalid.unless(!both, "clientSecretRef", "is of no use with dcrConfig: remove it");
    if let Some(registration) = dcr_config {
        invalid.below("dcrConfig", validate_registration(registration));
    }
    if let Some(identity) = identity_from_token {
        invalid.required(&identity.subject_path, "identityFromToken.subjectPath");
    }
    check_params(&mut invalid, additional_authorization_params.as_ref());
    invalid.finish()
}

fn validate_registration(registration: &DynamicRegistration) -> Result<(), InvalidList> {
    let DynamicRegistration {
        discovery_url,
        registration_endpoint,
        initial_access_token_ref: _,
        software_id: _,
        software_statement,
    } = registration;
    let mut invalid = InvalidList::default();
    let one = discovery_url.is_some() != registration_endpoint.is_some();
    invalid.unless(one, "discoveryUrl", "or registrationEndpoint: set one of them");
    for (path, url) in [("discoveryUrl", discovery_url), ("registrationEndpoint", registration_endpoint)] {
        let Some(url) = url else { continue };
        if let Some(error) = web_url_error(url, false) {
            invalid.add(path, error);
        }
        invalid.unless(url.len() <= 2_048, path, "is longer than 2048 characters");
    }
    let long = software_statement.as_ref().is_some_and(|statement| statement.len() > 16_384);
    invalid.unless(!long, "softwareStatement", "is longer than 16384 characters");
    invalid.finish()
}

fn check_params(invalid: &mut InvalidList, params: Option<&BTreeMap<String, String>>) {
    for name in params.into_iter().flat_map(BTreeMap::keys) {
        let reserved = RESERVED_PARAMS.contains(&name.as_str());
        let path = format!("additionalAuthorizationParams[{name:?}]");
        invalid.unless(!reserved, path, "is set by OAuth itself: remove it");
    }
}
