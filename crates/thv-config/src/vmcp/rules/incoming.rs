//! Who may call.

use super::super::incoming::{Authz, AuthzType, Callers, IncomingAuth, IncomingOidc};
use super::super::problem::Report;
use super::path_error;
use crate::url::{Url, web_url_error};

pub(super) fn check(incoming: &IncomingAuth, report: &mut Report) {
    let IncomingAuth { callers, authz } = incoming;
    match callers {
        Callers::Anonymous | Callers::Local => {}
        Callers::Oidc(oidc) => check_oidc(oidc, report),
    }
    if let Some(authz) = authz {
        check_authz(authz, report);
    }
}

fn check_oidc(oidc: &IncomingOidc, report: &mut Report) {
    let IncomingOidc {
        issuer,
        client_id: _,
        client_secret_env: _,
        audience,
        resource: _,
        jwks_url,
        introspection_url,
        scopes: _,
        protected_resource_allow_private_ip: _,
        jwks_allow_private_ip: _,
        insecure_allow_http,
        ca_bundle_path,
        jwks_auth_token_path,
    } = oidc;
    let path = |key: &str| format!("incomingAuth.oidc.{key}");
    report.required(issuer, path("issuer"));
    report.required(audience, path("audience"));
    for (key, url) in [("issuer", issuer), ("jwksUrl", jwks_url), ("introspectionUrl", introspection_url)] {
        // On the machine itself nobody listens on the way.
        let may_be_http = *insecure_allow_http || Url::parse(url).is_some_and(|url| url.is_loopback());
        if let Some(error) = web_url_error(url, may_be_http).filter(|_| !url.is_empty()) {
            report.add(path(key), error);
        }
    }
    for (key, file) in [("caBundlePath", ca_bundle_path), ("jwksAuthTokenPath", jwks_auth_token_path)] {
        if let Some(error) = path_error(file).filter(|_| !file.is_empty()) {
            report.add(path(key), error);
        }
    }
}

fn check_authz(authz: &Authz, report: &mut Report) {
    let Authz {
        type_,
        policies,
        entities_json: _,
        primary_upstream_provider: _,
        group_claim_name: _,
        role_claim_name: _,
        group_entity_type: _,
        multi_valued_claims: _,
    } = authz;
    let path = "incomingAuth.authz.policies";
    match type_ {
        AuthzType::Cedar => {
            report.unless(
                !policies.is_empty(),
                path,
                "is empty: without a policy everything is denied; add one, or remove authz",
            );
        }
        // Whoever wrote the policies believes that they protect something.
        AuthzType::None => {
            report.unless(
                policies.is_empty(),
                path,
                "is there, and the type is none: write type: cedar, or remove the policies",
            );
        }
    }
}
