//! The identity providers of an authorization server.

use std::collections::{BTreeMap, BTreeSet};

use thv_api::auth_server::{
    DynamicRegistration, OAuth2Upstream, OidcUpstream, UpstreamProvider, UpstreamType,
};
use thv_api::names::env;

use crate::resolve::flaw::{Flaws, Invalid};
use crate::resolve::url::web_url_flaw;

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

/// What is wrong with identity providers.
pub(super) fn validate_upstreams(upstreams: &[UpstreamProvider]) -> Result<(), Invalid> {
    let mut flaws = Flaws::default();
    let (mut names, mut variables) = (BTreeSet::new(), BTreeMap::new());
    for (index, upstream) in upstreams.iter().enumerate() {
        let UpstreamProvider { name, type_, oidc_config, oauth2_config } = upstream;
        let path = format!("[{index}]");
        flaws.required(name, format!("{path}.name"));
        if !names.insert(name) {
            flaws.add(format!("{path}.name"), "is there twice: give each its own");
        } else if let Some(other) = variables.insert(env::upstream_client_secret(name), name) {
            flaws.add(format!("{path}.name"), format!("is too much like {other:?}: choose another"));
        }
        match (type_, oidc_config, oauth2_config) {
            (UpstreamType::Oidc, Some(oidc), None) => {
                flaws.extend(&format!("{path}.oidcConfig"), validate_oidc(oidc));
            }
            (UpstreamType::OAuth2, None, Some(oauth2)) => {
                flaws.extend(&format!("{path}.oauth2Config"), validate_oauth2(oauth2));
            }
            _ => flaws.add(path, "has settings that do not fit its type: set the ones of its type only"),
        }
    }
    flaws.finish()
}

fn validate_oidc(oidc: &OidcUpstream) -> Result<(), Invalid> {
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
    let mut flaws = Flaws::default();
    if let Some(flaw) = web_url_flaw(issuer_url, false) {
        flaws.add("issuerUrl", flaw);
    }
    flaws.required(client_id, "clientId");
    check_params(&mut flaws, additional_authorization_params.as_ref());
    flaws.finish()
}

fn validate_oauth2(oauth2: &OAuth2Upstream) -> Result<(), Invalid> {
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
    let mut flaws = Flaws::default();
    for (path, url) in [("authorizationEndpoint", authorization_endpoint), ("tokenEndpoint", token_endpoint)]
    {
        if let Some(flaw) = web_url_flaw(url, true) {
            flaws.add(path, flaw);
        }
    }
    let has_client = client_id.as_ref().is_some_and(|id| !id.is_empty());
    flaws.unless(has_client != dcr_config.is_some(), "clientId", "or dcrConfig: set one of them");
    let both = dcr_config.is_some() && client_secret_ref.is_some();
    flaws.unless(!both, "clientSecretRef", "is of no use with dcrConfig: remove it");
    if let Some(registration) = dcr_config {
        flaws.extend("dcrConfig", validate_registration(registration));
    }
    if let Some(identity) = identity_from_token {
        flaws.required(&identity.subject_path, "identityFromToken.subjectPath");
    }
    check_params(&mut flaws, additional_authorization_params.as_ref());
    flaws.finish()
}

fn validate_registration(registration: &DynamicRegistration) -> Result<(), Invalid> {
    let DynamicRegistration {
        discovery_url,
        registration_endpoint,
        initial_access_token_ref: _,
        software_id: _,
        software_statement,
    } = registration;
    let mut flaws = Flaws::default();
    let one = discovery_url.is_some() != registration_endpoint.is_some();
    flaws.unless(one, "discoveryUrl", "or registrationEndpoint: set one of them");
    for (path, url) in [("discoveryUrl", discovery_url), ("registrationEndpoint", registration_endpoint)] {
        let Some(url) = url else { continue };
        if let Some(flaw) = web_url_flaw(url, false) {
            flaws.add(path, flaw);
        }
        flaws.unless(url.len() <= 2_048, path, "is longer than 2048 characters");
    }
    let long = software_statement.as_ref().is_some_and(|statement| statement.len() > 16_384);
    flaws.unless(!long, "softwareStatement", "is longer than 16384 characters");
    flaws.finish()
}

fn check_params(flaws: &mut Flaws, params: Option<&BTreeMap<String, String>>) {
    for name in params.into_iter().flat_map(BTreeMap::keys) {
        let reserved = RESERVED_PARAMS.contains(&name.as_str());
        let path = format!("additionalAuthorizationParams[{name:?}]");
        flaws.unless(!reserved, path, "is set by OAuth itself: remove it");
    }
}
