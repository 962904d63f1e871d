//! Clients and issuers that an authorization server trusts.

use std::collections::BTreeSet;

use thv_api::auth_server::{DelegateClient, EmbeddedAuthServer, JwtBearerGrant, TrustedIssuer};

use crate::invalid::InvalidList;
use crate::resolve::url::web_url_error;

/// Claims that cannot name who acts.
const RESERVED_CLAIMS: [&str; 12] =
    ["sub", "iss", "aud", "exp", "iat", "nbf", "jti", "name", "email", "scope", "scp", "may_act"];

/// What is wrong with the issuers that an authorization server trusts.
pub(super) fn validate_delegation(server: &EmbeddedAuthServer) -> Result<(), InvalidList> {
    let mut invalid = InvalidList::default();
    let mut seen = BTreeSet::new();
    for (index, issuer) in server.trusted_issuers.iter().flatten().enumerate() {
        let path = format!("[{index}]");
        invalid.below(&path, validate_issuer(issuer));
        let new = seen.insert(&issuer.issuer_url);
        invalid.unless(new, format!("{path}.issuerUrl"), "is there twice: merge the two");
        let own = issuer.issuer_url == server.issuer;
        invalid.unless(
            !own,
            format!("{path}.issuerUrl"),
            "is the issuer itself: its tokens are accepted anyway",
        );
    }
    invalid.finish()
}

fn validate_issuer(issuer: &TrustedIssuer) -> Result<(), InvalidList> {
    let TrustedIssuer {
        issuer_url,
        jwks_url,
        expected_audience,
        insecure_allow_http,
        allow_private_ips,
        actor_claim,
        actor_matcher,
        allowed_actors,
        allowed_delegate_clients,
        allow_may_act,
        jwt_bearer_grant,
    } = issuer;
    let mut invalid = InvalidList::default();
    let filled = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let lax = *insecure_allow_http == Some(true);
    for (path, url) in
        [("issuerUrl", Some(issuer_url)), ("jwksUrl", jwks_url.as_ref().filter(|url| !url.is_empty()))]
    {
        if let Some(error) = url.and_then(|url| web_url_error(url, lax)) {
            invalid.add(path, error);
        }
    }
    invalid.unless(
        *allow_private_ips != Some(true) || filled(jwks_url),
        "allowPrivateIPs",
        "needs a jwksUrl",
    );
    let reserved = actor_claim.as_ref().is_some_and(|claim| RESERVED_CLAIMS.contains(&claim.as_str()));
    invalid.unless(!reserved, "actorClaim", "is a reserved claim: name one that identifies the client");

    let clients = allowed_delegate_clients.as_deref().unwrap_or_default();
    let anyone = clients.iter().any(|client| client == "*");
    invalid.unless(
        !anyone || clients.len() == 1,
        "allowedDelegateClients",
        "has * and others: keep one or the other",
    );
    invalid.unless(!(anyone && *allow_may_act), "allowMayAct", "needs the clients named one by one");
    let acts = filled(actor_claim) || filled(actor_matcher) || *allow_may_act;
    let named_actors = allowed_actors.as_ref().is_some_and(|actors| !actors.is_empty());
    let only_grant = jwt_bearer_grant.is_some() && !acts && !named_actors;
    invalid.unless(only_grant || filled(expected_audience), "expectedAudience", "is missing: set it");
    let delegates = filled(expected_audience) || acts;
    invalid.unless(!delegates || !clients.is_empty(), "allowedDelegateClients", "is empty: name the clients");
    if let Some(JwtBearerGrant { subject_bindings, accepted_audiences: _, max_assertion_age }) =
        jwt_bearer_grant
    {
        invalid.unless(
            max_assertion_age.as_nanos() > 0,
            "jwtBearerGrant.maxAssertionAge",
            "is not longer than nothing",
        );
        let subjects: BTreeSet<_> = subject_bindings.iter().map(|binding| &binding.subject).collect();
        let unique = subjects.len() == subject_bindings.len();
        invalid.unless(unique, "jwtBearerGrant.subjectBindings", "has a subject twice: merge the two");
    }
    invalid.finish()
}

/// What keeps the clients and issuers of an authorization server from fitting an object with these scopes and this
/// audience.
pub(super) fn validate_fit(
    server: &EmbeddedAuthServer,
    scopes: &[String],
    audience: &str,
) -> Result<(), InvalidList> {
    let mut invalid = InvalidList::default();
    let mut seen = BTreeSet::new();
    for (index, client) in server.delegate_clients.iter().flatten().enumerate() {
        let DelegateClient { client_id, client_secret_ref: _, scopes: wanted, audiences } = client;
        let path = format!("embeddedAuthServer.delegateClients[{index}]");
        invalid.required(client_id, format!("{path}.clientId"));
        invalid.unless(
            seen.insert(client_id),
            format!("{path}.clientId"),
            "is there twice: give each its own",
        );
        for scope in wanted.iter().filter(|scope| !scopes.contains(scope)) {
            invalid.add(format!("{path}.scopes"), format!("has {scope:?}, which the server does not offer"));
        }
        for other in audiences.iter().filter(|other| *other != audience) {
            invalid.add(
                format!("{path}.audiences"),
                format!("has {other:?}, and the server has {audience:?} only"),
            );
        }
    }
    for (index, issuer) in server.trusted_issuers.iter().flatten().enumerate() {
        let accepted = issuer.jwt_bearer_grant.iter().flat_map(|grant| &grant.accepted_audiences).flatten();
        if accepted.into_iter().any(|accepted| accepted == audience) {
            let path = format!("embeddedAuthServer.trustedIssuers[{index}].jwtBearerGrant.acceptedAudiences");
            invalid.add(
                path,
                format!("has {audience:?}, the audience of the tokens that are issued: remove it"),
            );
        }
    }
    invalid.finish()
}
